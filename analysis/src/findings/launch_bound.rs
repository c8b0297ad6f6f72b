//! The host needs longer to launch ops than these run.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::advice::{Around, Framework, is_between_graphs};
use super::finding::Finding;
use super::idle_host;
use super::idle_sync;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Places;
use super::words::time;
use crate::idle::{PathId, Site, SpanKind, is_of_model};
use crate::names::span_names::span_name;
use crate::trust::recording_cost;

/// From this part of the time on it is most of it.
const MOST: f64 = 0.5;

/// From this part on it is nearly all, and from this on all of the time.
const NEARLY: f64 = 0.9;
const ALL: f64 = 0.995;

/// For the order of findings, at most a third of what a slow host costs is the recorder's: the estimate is rough.
const RECORDED: i64 = 3;

/// As many gaps of equal length show that the host is slow; fewer are stalls.
const MANY: f64 = 4.0;

/// A place with less of the time is not named, nor a fourth one.
const SOME: f64 = 0.1;
const PLACES: usize = 3;

pub(super) fn finding(inputs: &Inputs<'_>, lost: &Lost<'_>) -> Option<Finding> {
    // Ranks whose hosts are just as slow wait for each other, too.
    let waits = inputs.job.as_ref().map_or(&[][..], |job| &job.for_hosts);
    let by_gpu = lost.by_gpu();
    let both = by_gpu.iter().enumerate().map(|(gpu, idle)| idle + waits.get(gpu).copied().unwrap_or(0));
    let finding = Finding::of_gpus("launch-bound", inputs, both.collect());
    if finding.cost_ns == 0 {
        return None;
    }
    if !is_slow(inputs, lost) {
        return idle_host::finding(inputs, None, lost.at(), lost);
    }
    let finding = Finding { evidence: lost.evidence(), ..finding };
    let described = described(inputs, lost, finding);
    // What the recorder takes is not won without it: causes that cost about as much come first then.
    let recorder =
        recording_cost(inputs.analysis).map_or(0, |cost| (cost.share() * inputs.wall_ns() as f64) as i64);
    let without = described.total_ns - recorder.min(described.total_ns / RECORDED);
    Some(Finding { total_ns: without, ..described })
}

/// Returns whether the host is slow in many gaps: their number is that of equal gaps whose squares have the same sum.
fn is_slow(inputs: &Inputs<'_>, lost: &Lost<'_>) -> bool {
    let most = inputs.idle().iter().zip(lost.by_gpu()).max_by_key(|(_, ns)| *ns);
    most.is_some_and(|(gpu, ns)| (ns as f64).powi(2) >= MANY * gpu.losses.pace_squares())
}

fn described(inputs: &Inputs<'_>, lost: &Lost<'_>, finding: Finding) -> Finding {
    let around = Around::new(inputs, lost);
    let work = Work::of(inputs, lost, &around);
    let places = Chains::new(inputs, lost).places(|name| is_everything(inputs, name));
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
            "{hosts}: {}{}{places}{}{profiler}",
            lost.idle_and(&finding, &waits),
            lost.when_slow(),
            idle_sync::beside(inputs, &finding),
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

/// Where the launching threads were: the ranges and operators around each part of the time, outermost first.
struct Chains<'a> {
    chains: Vec<(Vec<Node<'a>>, u64)>,
    total: u64,
    /// The time in ns outside of operators, by the function of a model.
    functions: FxHashMap<&'a str, u64>,
}

/// A place of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Node<'a> {
    /// An operator that autograd runs, or the function that starts it.
    Backward,
    Range(&'a str),
    Operator(&'a str),
    /// A call outside of operators, or the launch of a graph.
    Call(&'a str),
    /// Neither a call nor an operator.
    Between,
}

impl Node<'_> {
    /// Returns whether others within it may be named beside it.
    fn holds_others(self) -> bool {
        matches!(self, Self::Backward | Self::Range(_))
    }
}

impl<'a> Chains<'a> {
    fn new(inputs: &Inputs<'a>, lost: &Lost<'a>) -> Self {
        let has_operators = !inputs.analysis.tables.operators.is_empty();
        let mut functions: FxHashMap<&str, u64> = FxHashMap::default();
        let mut chains = Vec::new();
        for part in lost.parts() {
            let chain = chain(part.places, part.loss.site, has_operators);
            if chain.last() == Some(&Node::Between)
                && let Some(function) = function_of_model(part.places, part.loss.site.path)
            {
                *functions.entry(function).or_default() += part.ns;
            }
            chains.push((chain, part.ns));
        }
        Self { total: lost.total_ns(), chains, functions }
    }

    fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.total.max(1) as f64
    }

    /// The places right within `outer` with their times in ns, most first.
    fn within(&self, outer: &[Node<'a>]) -> Vec<(Node<'a>, u64)> {
        let mut times: FxHashMap<Node<'_>, u64> = FxHashMap::default();
        for (nodes, ns) in &self.chains {
            if let Some(node) = nodes.strip_prefix(outer).and_then(<[_]>::first) {
                *times.entry(*node).or_default() += ns;
            }
        }
        let mut places: Vec<(Node<'_>, u64)> = times.into_iter().collect();
        places.sort_by_key(|&(node, ns)| (Reverse(ns), node));
        places
    }

    /// `; 52 % of it in the backward pass (30 % in AddmmBackward0), 20 % in Optimizer.step`: the places of most time. Those within one
    /// that holds nearly all are named after it, unless `is_everything` says that it is around the whole trace.
    fn places(&self, is_everything: impl Fn(&str) -> bool) -> String {
        let (mut outer, mut holder) = (Vec::new(), None);
        let mut places = self.within(&[]);
        while let Some(&(most, ns)) = places.first().filter(|(_, ns)| self.share(*ns) >= NEARLY) {
            let within = self.within(&[&outer[..], &[most]].concat());
            let goes_on = within.first().is_some_and(|(_, inner)| {
                self.share(*inner) >= if most.holds_others() { SOME } else { NEARLY }
            });
            if !goes_on {
                break;
            }
            outer.push(most);
            places = within;
            holder = match most {
                Node::Range(name) if is_everything(name) => None,
                Node::Backward | Node::Range(_) => Some((most, ns)),
                _ => holder,
            };
        }
        let named = places.into_iter().filter(|(_, ns)| self.share(*ns) >= SOME).take(PLACES);
        let named: Vec<(Node<'_>, u64)> = named.collect();
        let text = |at: usize, &(node, ns): &(Node<'a>, u64)| {
            let of_it = if at == 0 && holder.is_none() { " of it" } else { "" };
            format!("{}{of_it} {}", part(self.share(ns)), self.described(&outer, node, ns))
        };
        let list: Vec<String> = named.iter().enumerate().map(|(at, place)| text(at, place)).collect();
        match holder {
            _ if list.is_empty() => String::new(),
            Some((holder, ns)) => {
                format!("; {} of it {}: {}", part(self.share(ns)), self.label(holder), list.join(", "))
            }
            None => format!("; {}", list.join(", ")),
        }
    }

    /// A place within `outer`, or the range within that has nearly all of its time; with those in a large one that are large, too.
    fn described(&self, outer: &[Node<'a>], mut node: Node<'a>, mut ns: u64) -> String {
        let mut path = outer.to_vec();
        let mut within;
        loop {
            path.push(node);
            within = self.within(&path);
            match within.first() {
                Some(&(inner @ Node::Range(_), most))
                    if matches!(node, Node::Range(_)) && most as f64 >= NEARLY * ns as f64 =>
                {
                    (node, ns) = (inner, most);
                }
                _ => break,
            }
        }
        within.retain(|(inner, ns)| *inner != Node::Between && self.share(*ns) >= SOME);
        if !node.holds_others() || within.is_empty() {
            return self.label(node);
        }
        let text = |(node, ns): &(Node<'a>, u64)| format!("{} {}", part(self.share(*ns)), self.label(*node));
        let within: Vec<String> = within.iter().take(PLACES).map(text).collect();
        format!("{} ({})", self.label(node), within.join(", "))
    }

    /// `in aten::mm`, `between operators`.
    fn label(&self, node: Node<'_>) -> String {
        match node {
            Node::Backward => "in the backward pass".to_owned(),
            Node::Range(name) | Node::Operator(name) | Node::Call(name) => format!("in {}", span_name(name)),
            Node::Between => {
                let known: u64 = self.functions.values().sum();
                let most = self.functions.iter().max_by_key(|&(name, ns)| (ns, Reverse(name)));
                match most.filter(|(_, ns)| **ns as f64 >= MOST * known as f64 && self.share(**ns) >= SOME) {
                    Some((name, _)) => format!("between operators (most in {})", span_name(name)),
                    None => "between operators".to_owned(),
                }
            }
        }
    }
}

/// `52 %`, `all`.
fn part(share: f64) -> String {
    if share >= ALL { "all".to_owned() } else { format!("{:.0} %", share * 100.0) }
}

/// The prefix of operators that autograd's threads run.
const AUTOGRAD: &str = "autograd::engine::evaluate_function: ";

/// The function that runs autograd's operators, or waits for the thread that does.
const RUN_BACKWARD: &str = "run_backward";

/// The places of a thread, outermost first. A function of the program is one only where nothing records operators: these say more.
fn chain<'a>(places: Places<'a>, site: Site, has_operators: bool) -> Vec<Node<'a>> {
    let call = site.call.is_some().then(|| places.tables.strings.get(site.call));
    if let Some(graph) = call.filter(|call| call.contains("GraphLaunch")) {
        return vec![Node::Call(graph)];
    }
    let mut spans: Vec<(&str, SpanKind)> = places.spans(site.path).collect();
    spans.reverse();
    let outermost = spans.iter().copied().find(|(_, kind)| *kind == SpanKind::Operator);
    let is_backward = match outermost {
        Some((name, _)) => is_of_autograd(name),
        None => spans.iter().any(|(name, kind)| *kind == SpanKind::Python && name.contains(RUN_BACKWARD)),
    };
    let mut chain = if is_backward { vec![Node::Backward] } else { Vec::new() };
    for (name, kind) in spans {
        let node = match kind {
            SpanKind::Operator => Node::Operator(name.strip_prefix(AUTOGRAD).unwrap_or(name)),
            SpanKind::Range => Node::Range(name),
            SpanKind::OwnPython if !has_operators => Node::Range(name),
            _ => continue,
        };
        if chain.last() != Some(&node) {
            chain.push(node);
        }
    }
    if outermost.is_none() && has_operators {
        chain.push(call.map_or(Node::Between, Node::Call));
    }
    chain
}

/// The innermost Python function of the program or of a package around it.
fn function_of_model<'a>(places: Places<'a>, path: PathId) -> Option<&'a str> {
    let is_python = |kind: SpanKind| matches!(kind, SpanKind::Python | SpanKind::OwnPython);
    places.spans(path).find(|&(name, kind)| is_python(kind) && is_of_model(name)).map(|(name, _)| name)
}

/// Returns whether ranges of this name are around nearly all of the time of the GPUs.
fn is_everything(inputs: &Inputs<'_>, name: &str) -> bool {
    let tables = inputs.analysis.tables;
    let ranges = tables.ranges.iter().filter(|range| tables.strings.get(range.name) == name);
    let time = ranges.fold(0_i64, |sum, range| sum.saturating_add(range.duration.unwrap_or(0)));
    time as f64 >= NEARLY * inputs.wall_ns() as f64
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
    use Node::{Backward, Between, Call, Operator, Range};

    use super::*;

    fn places(chains: &[(&[Node<'static>], u64)]) -> String {
        let chains: Vec<_> = chains.iter().map(|&(nodes, ns)| (nodes.to_vec(), ns)).collect();
        let total = chains.iter().map(|(_, ns)| ns).sum();
        let functions = FxHashMap::from_iter([("vit.py(7): forward", 30), ("vit.py(9): attention", 8)]);
        Chains { chains, total, functions }.places(|name| name == "train")
    }

    #[test]
    fn the_places_of_most_time_are_named_with_large_ones_within_ranges() {
        let chains: &[(&[Node<'_>], u64)] = &[
            (&[Backward, Operator("AddmmBackward0"), Operator("aten::mm")], 30),
            (&[Backward, Operator("GeluBackward0")], 16),
            (&[Backward, Operator("AddBackward0")], 6),
            (&[Operator("aten::linear"), Operator("aten::addmm")], 9),
            (&[Operator("aten::gelu")], 19),
            (&[Operator("Optimizer.step")], 20),
        ];
        assert_eq!(
            places(chains),
            "; 52 % of it in the backward pass (30 % in AddmmBackward0, 16 % in GeluBackward0), 20 % in Optimizer.step, 19 % in \
             aten::gelu"
        );
        let products: &[(&[Node<'_>], u64)] =
            &[(&[Operator("aten::matmul"), Operator("aten::mm")], 99), (&[], 1)];
        assert_eq!(places(products), "; 99 % of it in aten::mm");
        assert_eq!(places(&[(&[], 5)]), "");
    }

    #[test]
    fn time_between_operators_is_a_place_of_its_own() {
        let streams: &[(&[Node<'_>], u64)] =
            &[(&[Operator("aten::mm")], 50), (&[Between], 40), (&[Call("cudaEventQuery")], 10)];
        assert_eq!(
            places(streams),
            "; 50 % of it in aten::mm, 40 % between operators (most in vit.py(7): forward), 10 % in cudaEventQuery"
        );
        let linear = [Range("request"), Operator("aten::linear")];
        let within: &[(&[Node<'_>], u64)] =
            &[(&linear, 40), (&[Range("request"), Operator("aten::gelu")], 35), (&[Range("request")], 25)];
        assert_eq!(places(within), "; all of it in request: 40 % in aten::linear, 35 % in aten::gelu");
    }

    #[test]
    fn a_range_around_the_whole_trace_is_no_place() {
        let chains: &[(&[Node<'_>], u64)] = &[
            (&[Range("train"), Range("attention"), Operator("aten::mm")], 60),
            (&[Range("train"), Range("attention"), Operator("aten::softmax")], 8),
            (&[Range("train"), Operator("aten::fill_")], 32),
        ];
        assert_eq!(places(chains), "; 68 % of it in attention (60 % in aten::mm), 32 % in aten::fill_");
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
