//! The host needs longer to launch ops than these run.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::advice::{Around, Framework, is_between_graphs};
use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Places;
use super::words::time;
use crate::idle::{LossKind, Losses, PathId, SpanKind};

/// From this part of the time on it is most of it.
const MOST: f64 = 0.5;

/// From this part on it is nearly all, and from this on all of the time.
const NEARLY: f64 = 0.9;
const ALL: f64 = 0.995;

/// A place with less of the time is not named, nor a fourth one.
const SOME: f64 = 0.1;
const PLACES: usize = 3;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Pace && part.activity.is_none());
    // Ranks whose hosts are just as slow wait for each other, too.
    let waits = inputs.job.as_ref().map_or(&[][..], |job| &job.for_hosts);
    let by_gpu = lost.by_gpu();
    let both = by_gpu.iter().enumerate().map(|(gpu, idle)| idle + waits.get(gpu).copied().unwrap_or(0));
    let finding = Finding::of_gpus("launch-bound", inputs, both.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let finding = Finding { evidence: lost.evidence(), ..finding };
    vec![described(inputs, &lost, finding)]
}

fn described(inputs: &Inputs<'_>, lost: &Lost<'_>, finding: Finding) -> Finding {
    let around = Around::new(inputs, lost);
    let work = Work::of(inputs, lost, &around);
    let places = Chains::new(inputs).places();
    let waits = finding.cost_ns.saturating_sub(lost.idle_ns(&finding));
    let (hosts, waits) = match waits > 0 {
        true => (
            "the hosts of all ranks launch ops more slowly than their GPUs run them",
            format!(" and waiting for each other in collectives for {}", time(waits)),
        ),
        false => ("the host launches ops more slowly than the GPU runs them", String::new()),
    };
    let profiler = inputs.profiler_cost().map_or_else(String::new, |cost| format!("; {cost}"));
    Finding {
        sentence: format!(
            "{hosts}: {}{}{places}{profiler}",
            lost.idle_and(&finding, &waits),
            lost.when_slow(),
        ),
        look: "rtl-summary --section idle,launches,queues TRACE".to_owned(),
        help: work.help(inputs, &around),
        ..finding
    }
}

/// The work that takes the host most of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// It launches graphs.
    Graphs,
    /// It runs what torch.compile has made.
    Compiled,
    /// It is in calls that launch.
    Calls,
    /// It is in operators of a framework.
    Operators,
    /// It runs other code.
    Other,
}

impl Work {
    fn of(inputs: &Inputs<'_>, lost: &Lost<'_>, around: &Around) -> Self {
        let (mut calls, mut operators) = (0, 0);
        for part in lost.parts() {
            let innermost = part.places.spans(part.loss.site.path).next();
            if part.loss.site.call.is_some() {
                calls += part.ns;
            } else if innermost.is_some_and(|(_, kind)| kind == SpanKind::Operator) {
                operators += part.ns;
            }
        }
        let is_most = |ns: u64| ns as f64 >= MOST * lost.total_ns() as f64;
        match () {
            () if is_between_graphs(inputs) => Self::Graphs,
            () if around.is_compiled() => Self::Compiled,
            () if is_most(calls) => Self::Calls,
            () if is_most(operators + calls) => Self::Operators,
            () => Self::Other,
        }
    }

    fn help(self, inputs: &Inputs<'_>, around: &Around) -> String {
        let tables = inputs.analysis.tables;
        let fusion = Framework::of(tables).fusion();
        let graph = match inputs.launches_graphs() && self != Self::Graphs {
            true => "capture what is launched one by one here, too",
            false => "launch the ops as one graph",
        };
        let help = match self {
            Self::Graphs => {
                "graphs are in use already: do less between two graphs, or have one graph for what several launch now".to_owned()
            }
            Self::Compiled if tables.strings.iter().any(|(_, text)| text.starts_with("triton_")) => {
                "the code is compiled already: launch it as one graph (torch.compile's mode `reduce-overhead`), and compile larger \
                 regions where it has breaks"
                    .to_owned()
            }
            Self::Compiled => {
                "the compiled code launches its ops one by one: use a backend that fuses them (inductor), then launch it as one graph"
                    .to_owned()
            }
            Self::Calls => format!("{graph}, fuse small kernels, or give each launch more work"),
            Self::Operators => format!("{graph}, fuse small kernels{fusion}, or give each launch more work"),
            Self::Other => {
                format!("take what the host does between launches out of the loop; then {graph}, or fuse small kernels{fusion}")
            }
        };
        help + &around.remedies()
    }
}

/// Where ops are launched: the operators, ranges and functions of the program around each launch, outermost first.
struct Chains<'a> {
    chains: Vec<(Vec<&'a str>, u64)>,
    total: u64,
}

impl<'a> Chains<'a> {
    fn new(inputs: &Inputs<'a>) -> Self {
        let tables = inputs.analysis.tables;
        let of_gpu = |losses: &'a Losses| {
            let places = Places { tables, losses };
            losses.launched().map(move |(path, ns)| (chain(places, path), ns))
        };
        let chains: Vec<_> = inputs.idle().iter().flat_map(|gpu| of_gpu(&gpu.losses)).collect();
        let total = chains.iter().map(|(_, ns)| ns).sum();
        Self { chains, total }
    }

    fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.total.max(1) as f64
    }

    /// The places at a depth with their times in ns, most first.
    fn at(&self, depth: usize) -> Vec<(&'a str, u64)> {
        let mut times: FxHashMap<&str, u64> = FxHashMap::default();
        for (names, ns) in &self.chains {
            if let Some(name) = names.get(depth) {
                *times.entry(name).or_default() += ns;
            }
        }
        let mut places: Vec<(&str, u64)> = times.into_iter().collect();
        places.sort_by_key(|&(name, ns)| (Reverse(ns), name));
        places
    }

    /// `; 52 % of it in the backward pass, 20 % in Optimizer.step`: the innermost place with most of the time and those beside it, else
    /// the outermost ones. Of a place with nearly all of it those within are named, too.
    fn places(mut self) -> String {
        let mut named = self.at(0);
        let mut within = Vec::new();
        for depth in 0.. {
            let places = self.at(depth);
            let most = places.first().copied().filter(|(_, ns)| self.share(*ns) >= MOST);
            let Some((most, _)) = most else {
                within = places;
                break;
            };
            self.chains.retain(|(names, _)| names.get(depth) == Some(&most));
            named = places;
        }
        let (named, within) = (self.shares(&named), self.shares(&within));
        match &named[..] {
            [] => String::new(),
            [(share, name)] if *share >= NEARLY && !within.is_empty() && within[0].1 != *name => {
                format!("; {} of it in {name}: {}", part(*share), list(&within, ""))
            }
            _ => format!("; {}", list(&named, " of it")),
        }
    }

    /// The places to name with their parts.
    fn shares(&self, places: &[(&'a str, u64)]) -> Vec<(f64, &'a str)> {
        let shares = places.iter().map(|&(name, ns)| (self.share(ns), name));
        shares.filter(|(share, _)| *share >= SOME).take(PLACES).collect()
    }
}

/// `52 % of it in the backward pass, 20 % in Optimizer.step`.
fn list(places: &[(f64, &str)], of_it: &str) -> String {
    let text = |(at, (share, name)): (usize, &(f64, &str))| {
        format!("{}{} in {name}", part(*share), if at == 0 { of_it } else { "" })
    };
    places.iter().enumerate().map(text).collect::<Vec<_>>().join(", ")
}

/// `52 %`, `all`.
fn part(share: f64) -> String {
    if share >= ALL { "all".to_owned() } else { format!("{:.0} %", share * 100.0) }
}

/// The prefix of operators that autograd's threads run.
const AUTOGRAD: &str = "autograd::engine::evaluate_function: ";

/// The names of a chain, outermost first. What autograd runs is one place: an operator of it is as good as another.
fn chain<'a>(places: Places<'a>, path: PathId) -> Vec<&'a str> {
    let spans = places.spans(path).filter(|(_, kind)| *kind != SpanKind::Python);
    let mut spans: Vec<(&str, SpanKind)> = spans.collect();
    spans.reverse();
    let operator = spans.iter().position(|(_, kind)| *kind == SpanKind::Operator);
    let is_backward = operator.is_some_and(|at| is_of_autograd(spans[at].0));
    let backward = is_backward.then_some("the backward pass");
    let name = |(name, _): (&'a str, _)| name.strip_prefix(AUTOGRAD).unwrap_or(name);
    backward.into_iter().chain(spans.into_iter().map(name)).collect()
}

/// Returns whether autograd calls an operator: `autograd::engine::evaluate_function: MmBackward0`, `CompiledFunctionBackward`.
fn is_of_autograd(operator: &str) -> bool {
    let name = operator.trim_end_matches(|c: char| c.is_ascii_digit());
    operator.starts_with("autograd::")
        || operator.starts_with("torch::autograd::")
        || name.ends_with("Backward")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(chains: &[(&[&'static str], u64)]) -> String {
        let chains: Vec<_> = chains.iter().map(|&(names, ns)| (names.to_vec(), ns)).collect();
        let total = chains.iter().map(|(_, ns)| ns).sum();
        Chains { chains, total }.places()
    }

    #[test]
    fn the_innermost_place_with_most_of_the_time_is_named_with_those_beside_it() {
        let chains: &[(&[&str], u64)] = &[
            (&["the backward pass", "AddmmBackward0"], 30),
            (&["the backward pass", "GeluBackward0"], 22),
            (&["aten::linear", "aten::addmm"], 9),
            (&["aten::gelu"], 19),
            (&["Optimizer.step"], 20),
        ];
        assert_eq!(
            places(chains),
            "; 52 % of it in the backward pass, 20 % in Optimizer.step, 19 % in aten::gelu"
        );
        assert_eq!(places(&[(&["aten::matmul", "aten::mm"], 99), (&[], 1)]), "; 99 % of it in aten::mm");
        let elements: &[(&[&str], u64)] =
            &[(&["aten::mul_"], 34), (&["aten::add_"], 33), (&["aten::sub_"], 33)];
        assert_eq!(places(elements), "; 34 % of it in aten::mul_, 33 % in aten::add_, 33 % in aten::sub_");
        let within: &[(&[&str], u64)] =
            &[(&["request", "aten::linear"], 40), (&["request", "aten::gelu"], 35), (&["request"], 25)];
        assert_eq!(places(within), "; all of it in request: 40 % in aten::linear, 35 % in aten::gelu");
        assert_eq!(places(&[(&[], 5)]), "");
    }

    #[test]
    fn operators_of_autograd_are_known_by_their_names() {
        let are = [
            "autograd::engine::evaluate_function: MmBackward0",
            "AddmmBackward0",
            "CompiledFunctionBackward",
        ];
        assert!(are.into_iter().all(is_of_autograd));
        assert!(!["aten::mm", "DistributedDataParallel.forward"].into_iter().any(is_of_autograd));
    }
}
