//! The host does something else than to launch work.

use rustc_hash::FxHashMap;

use super::activity::Activity;
use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::{LossKind, SpanKind};

/// From this part of the time on it is all of it.
const ALL: f64 = 0.9;

/// How many things that the host does are findings of their own.
const MOST: usize = 3;

/// How many of them may be at one place.
const LOOKED_AT: usize = 8;

/// The activity that keeps the host from launching, else its place: operators of one function or range are one thing.
fn occupation(part: &Part<'_>, shared: usize) -> (Option<Activity>, Option<String>) {
    match part.activity {
        Some(activity) => (Some(activity), None),
        None => (None, part.places.caller(part.loss.site, shared)),
    }
}

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let stalls = Lost::new(inputs, |part| match part.activity {
        Some(Activity::Recording) => false,
        Some(_) => matches!(part.loss.kind, LossKind::Stall | LossKind::Pace),
        None => part.loss.kind == LossKind::Stall,
    });
    let shared = shared(&stalls);
    let groups = stalls.by_key(|part| occupation(part, shared)).into_iter().take(LOOKED_AT);
    // What several ranges do at one place is one thing.
    let mut things: Vec<(Option<Activity>, String, Lost<'_>)> = Vec::new();
    for ((activity, _), lost) in groups {
        let at = lost.at();
        match things.iter_mut().find(|(of, place, _)| (*of, place) == (activity, &at) && !at.is_empty()) {
            Some((.., thing)) => thing.add(lost),
            None => things.push((activity, at, lost)),
        }
    }
    things.into_iter().take(MOST).filter_map(|(activity, _, lost)| finding(activity, &lost)).collect()
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

fn finding(activity: Option<Activity>, lost: &Lost<'_>) -> Option<Finding> {
    let id = match activity {
        Some(Activity::WaitingForWork) => "idle-waiting",
        Some(Activity::Communicating) => "exposed-comm",
        _ => "idle-host",
    };
    let finding = lost.finding(id)?;
    let work = Work::of(lost);
    let sentence = activity.map_or(work.sentence(), Activity::sentence);
    let at = if activity.is_none() && work == Work::Unrecorded { String::new() } else { lost.at() };
    let help = activity.map_or(work.help(), Activity::help);
    Some(Finding {
        sentence: format!(
            "{sentence}: {}{at}{}{}{}",
            lost.idle(&finding),
            lost.when(),
            lost.between(),
            lost.thread()
        ),
        look: "rtl-summary --section idle,gaps TRACE".to_owned(),
        help: help.to_owned(),
        ..finding
    })
}

/// Work of the host where no name states an activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Nothing of it is recorded.
    Unrecorded,
    /// Operators and Python of torch, which launch nothing for long.
    Framework,
    /// Anything else.
    Other,
}

impl Work {
    fn of(lost: &Lost<'_>) -> Self {
        let (mut unrecorded, mut framework) = (0, 0);
        for part in lost.parts() {
            match part.places.spans(part.loss.site.path).next() {
                None if !part.loss.site.call.is_some() => unrecorded += part.ns,
                Some((_, SpanKind::Operator)) => framework += part.ns,
                Some((name, SpanKind::Python)) if name.contains("torch/") || name.contains("torch._C") => {
                    framework += part.ns;
                }
                _ => {}
            }
        }
        let is_most = |ns: u64| ns > lost.total_ns() / 2;
        match () {
            () if is_most(unrecorded) => Self::Unrecorded,
            () if is_most(framework) => Self::Framework,
            () => Self::Other,
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Unrecorded => "the GPU waits for the host, which records nothing there",
            Self::Framework => {
                "the GPU waits for the host, which launches nothing for long in code of the framework"
            }
            Self::Other => "the GPU waits for the host, which is busy with something else",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Unrecorded => {
                "record Python functions (`with_stack`) or ranges to see what the host does there, then move it out of the loop or \
                 into another thread"
            }
            Self::Framework => {
                "let the framework do less between launches (fused or foreach optimizers, torch.compile), or launch the whole step as \
                 one graph"
            }
            Self::Other => {
                "move what the host does there out of the loop, into another thread or process, or ahead of time"
            }
        }
    }
}
