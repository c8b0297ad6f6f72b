//! The host does something else than to launch work.

use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::advice::{Around, Framework, loading};
use super::finding::{Finding, LEAST, WORTH};
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::gpu_time::operators::Callers;
use crate::idle::{LossKind, SpanKind};

/// From this part of the time on it is all of it.
const ALL: f64 = 0.9;

/// How many things that no name tells apart are findings of their own.
const MOST: usize = 3;

/// How many of them may be at one place.
const LOOKED_AT: usize = 8;

/// The prefix of operators that compute.
const ATEN: &str = "aten::";

/// Code at no place of the program that takes less in ns in most gaps tells nothing but that the host is slow.
const LONG: u64 = 2_000_000;

/// The activity that keeps the host from launching, else its place: operators of one function or range are one thing.
fn occupation(part: &Part<'_>, shared: usize) -> (Option<Activity>, Option<String>) {
    match part.activity {
        Some(activity) => (Some(activity), None),
        None => (None, part.places.caller(part.loss.site, shared)),
    }
}

/// The things that the host does instead of launching, most time first, and the rest of its time: small stalls, and the pace.
pub(super) fn findings<'a>(inputs: &'a Inputs<'a>) -> (Vec<Finding>, Lost<'a>) {
    let is_of_host = |part: &Part<'_>| {
        matches!(part.loss.kind, LossKind::Stall | LossKind::Pace)
            && part.activity != Some(Activity::Recording)
    };
    let is_stall = |part: &Part<'_>| part.loss.kind == LossKind::Stall || part.activity.is_some();
    let stalls = Lost::new(inputs, |part| is_of_host(part) && is_stall(part));
    let shared = shared(&stalls);
    let mut groups = stalls.by_key(|part| occupation(part, shared)).into_iter();
    // What several ranges do at one place is one thing.
    let mut things: Vec<(Option<Activity>, String, Lost<'_>)> = Vec::new();
    for ((activity, _), lost) in groups.by_ref().take(LOOKED_AT) {
        let at = lost.at();
        match things.iter_mut().find(|(of, place, _)| (*of, place) == (activity, &at) && !at.is_empty()) {
            Some((.., thing)) => thing.add(lost),
            None => things.push((activity, at, lost)),
        }
    }
    let is_left = |part: &Part<'_>| is_of_host(part) && !is_stall(part);
    let mut left: Vec<Part<'a>> = inputs.losses().iter().filter(|part| is_left(part)).copied().collect();
    let pace = left.iter().map(|part| part.ns).sum();
    // Before the first op there is no pace.
    let mut leave = |lost: &Lost<'a>| left.extend(lost.parts().iter().filter(|part| !part.is_before));
    groups.for_each(|(_, lost)| leave(&lost));
    let mut causes = Vec::new();
    let mut unnamed = 0;
    for (activity, at, lost) in things {
        let share = lost.finding("idle-host").map_or(0.0, |finding| finding.share);
        let stands_alone = match activity {
            Some(_) => share >= LEAST,
            None => share >= WORTH && unnamed < MOST && is_cause(inputs, &lost, pace),
        };
        if stands_alone {
            unnamed += usize::from(activity.is_none());
            causes.extend(finding(inputs, activity, at, &lost));
        } else {
            leave(&lost);
        }
    }
    (causes, Lost::of_parts(inputs, left))
}

/// Short stalls at no place of the program are part of the pace where the host is slow anyway.
fn is_cause(inputs: &Inputs<'_>, lost: &Lost<'_>, pace: u64) -> bool {
    let long: u64 = lost.long_gaps(lost.parts().iter()).into_values().filter(|&ns| ns >= LONG).sum();
    matches!(Work::of(inputs, lost), Work::Operator | Work::Other)
        || long * 2 >= lost.total_ns()
        || lost.total_ns() > pace
}

/// How many of the outermost ranges hold nearly all of the time: these tell nothing apart.
fn shared(stalls: &Lost<'_>) -> usize {
    let others = || stalls.parts().iter().filter(|part| part.activity.is_none());
    let total: u64 = others().map(|part| part.ns).sum();
    let chains: Vec<(Vec<(&str, SpanKind)>, u64)> =
        others().map(|part| (part.places.outermost(part.loss.site.path), part.ns)).collect();
    let holds_all = |depth: usize| {
        let mut times: FxHashMap<&str, u64> = FxHashMap::default();
        for (chain, ns) in &chains {
            if let Some((name, SpanKind::Range)) = chain.get(depth) {
                *times.entry(name).or_default() += ns;
            }
        }
        times.values().any(|&ns| ns as f64 >= ALL * total as f64)
    };
    (0..).take_while(|&depth| holds_all(depth)).count()
}

pub(super) fn finding(
    inputs: &Inputs<'_>,
    activity: Option<Activity>,
    at: String,
    lost: &Lost<'_>,
) -> Option<Finding> {
    let id = match activity {
        Some(Activity::WaitingForWork) => "idle-waiting",
        Some(Activity::Communicating) => "exposed-comm",
        _ => "idle-host",
    };
    let finding = lost.finding(id)?;
    let work = Work::of(inputs, lost);
    let sentence = activity.map_or(work.sentence(), Activity::sentence);
    let at = if activity.is_none() && work == Work::Unrecorded { String::new() } else { at };
    let help = match activity {
        Some(Activity::LoadingData) => loading(lost).to_owned(),
        Some(activity) => activity.help().to_owned(),
        None => work.help(inputs, lost),
    };
    Some(Finding {
        sentence: format!(
            "{sentence}: {}{at}{}{}{}",
            lost.idle(&finding),
            lost.when(),
            lost.between(),
            lost.thread()
        ),
        look: "rtl-summary --section idle,gaps TRACE".to_owned(),
        help,
        ..finding
    })
}

/// Returns whether the op after the longest gap was launched in this operator.
fn launches(inputs: &Inputs<'_>, lost: &Lost<'_>, operator: &str) -> bool {
    let tables = inputs.analysis.tables;
    let Some(part) = lost.parts().iter().max_by_key(|part| part.loss.longest.ns) else { return false };
    let callers = Callers::of(tables);
    let after = part.loss.longest.after;
    let innermost = callers.of_op(tables, after.track(tables), after.correlation(tables));
    let chain = std::iter::successors(Some(innermost), |&row| Some(callers.parent(row)));
    let mut names = chain.map_while(|row| tables.operators.name.get(row as usize));
    names.any(|&name| tables.strings.get(name) == operator)
}

/// Work of the host where no name states an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Nothing of it is recorded.
    Unrecorded,
    /// One operator, which launches nothing.
    Operator,
    /// Operators and Python of torch, which launch nothing for long.
    Framework,
    /// Anything else.
    Other,
}

impl Work {
    fn of(inputs: &Inputs<'_>, lost: &Lost<'_>) -> Self {
        let (mut unrecorded, mut framework) = (0, 0);
        let mut operators: FxHashMap<&str, u64> = FxHashMap::default();
        for part in lost.parts() {
            match part.places.spans(part.loss.site.path).next() {
                None if !part.loss.site.call.is_some() => unrecorded += part.ns,
                Some((name, SpanKind::Operator)) => {
                    framework += part.ns;
                    *operators.entry(name).or_default() += if name.starts_with(ATEN) { part.ns } else { 0 };
                }
                Some((name, SpanKind::Python)) if name.contains("torch/") || name.contains("torch._C") => {
                    framework += part.ns;
                }
                _ => {}
            }
        }
        let is_most = |ns: u64| ns > lost.total_ns() / 2;
        match () {
            () if is_most(unrecorded) => Self::Unrecorded,
            () if operators.iter().any(|(name, &ns)| is_most(ns) && !launches(inputs, lost, name)) => {
                Self::Operator
            }
            () if is_most(framework) => Self::Framework,
            () => Self::Other,
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Unrecorded => "the GPU waits for the host, of which the trace shows nothing meanwhile",
            Self::Operator => "the GPU waits for the host, which is in an operator that launches nothing",
            Self::Framework => {
                "the GPU waits for the host, which launches nothing for long while it is in code of the framework"
            }
            Self::Other => "the GPU waits for the host, which is busy with something else",
        }
    }

    fn help(self, inputs: &Inputs<'_>, lost: &Lost<'_>) -> String {
        let tables = inputs.analysis.tables;
        let framework = Framework::of(tables);
        match self {
            Self::Unrecorded => {
                let record = match framework {
                    Framework::Torch if tables.python_frames.is_empty() => "Python functions (`with_stack`) or ranges",
                    _ => "ranges",
                };
                format!(
                    "record {record} to see what the host does there, then move it out of the loop or into another thread"
                )
            }
            Self::Operator => {
                "that operator seems to compute on the CPU: let the GPU do it (`device=`), or do it once before the loop".to_owned()
            }
            Self::Framework => {
                let around = Around::new(inputs, lost);
                let less = if around.is_compiled() { "" } else { framework.fusion() };
                format!(
                    "let the framework do less between launches{less}, or launch the whole step as one graph{}",
                    around.remedies()
                )
            }
            Self::Other => {
                "move what the host does there out of the loop, into another thread or process, or ahead of time".to_owned()
            }
        }
    }
}
