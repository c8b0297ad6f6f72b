//! Work that is done once, within the measured time: code is compiled, loaded or tuned, or memory is set up.

use rtl_schema::NameId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::{Finding, LEAST};
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::{Cause, LossKind, cause_of_function};
use crate::overview::span;

/// Memory that is allocated in no more gaps than these is set up once.
const FEW: u64 = 2;

/// From this part of the time on one call makes it.
const MOST: u64 = 2;

/// Time is over when this part of it has passed, and the rest is enough where it has one of this number of kernels.
const OVER: f64 = 0.95;
const ENOUGH: usize = 4;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let is_set_up = sets_up(inputs);
    let lost = Lost::new(inputs, |part| match part.loss.kind {
        LossKind::First | LossKind::Blocking(Cause::Loading) => true,
        LossKind::Blocking(Cause::Allocation) => is_set_up || is_first_allocation(inputs, part),
        _ => false,
    });
    let Some(finding) = lost.finding("first-call") else { return Vec::new() };
    let when = lost.when();
    // What comes back is not done for the first time.
    let again = lost.rhythm().is_some_and(|rhythm| rhythm.comes_back());
    let captured =
        lost.parts().iter().filter(|part| is_capture(inputs, part)).map(|part| part.ns).sum::<u64>();
    let is_capture = captured * MOST >= lost.total_ns();
    let what = match again {
        true if is_capture => "the GPU waits while a graph is captured, again and again",
        false if is_capture => "the GPU waits while a graph is captured, which is done once",
        true => "the GPU waits while code is loaded, compiled or tuned, again and again",
        false => {
            "the GPU waits while something is done for the first time or once (compiled, loaded, tuned, allocated)"
        }
    };
    let help = match again {
        true if is_capture => {
            "capture each graph once and launch it again, or update it (cudaGraphExecUpdate)"
        }
        true => {
            "find out what changes from step to step (shapes, types, new functions) and keep it the same; keep compiled code in a cache"
        }
        false => "keep compiled code in a cache, avoid shapes that change",
    };
    let help = match again {
        true => help.to_owned(),
        false => format!(
            "warm up before recording (the profiler's schedule){}; {help}",
            later(inputs, &lost, &finding)
        ),
    };
    vec![Finding {
        sentence: format!("{what}: {}{}{when}{}", lost.idle(&finding), lost.at(), lost.between()),
        look: "rtl-summary --section gaps,idle TRACE".to_owned(),
        help,
        ..finding
    }]
}

/// `, or look at what comes later: --time 402ms..`, where nearly all of this time is over and enough kernels come after it.
fn later(inputs: &Inputs<'_>, lost: &Lost<'_>, finding: &Finding) -> String {
    let mut ends: Vec<(i64, u64)> = lost
        .parts()
        .iter()
        .flat_map(|part| &part.loss.moments)
        .map(|moment| (moment.start.saturating_add_unsigned(moment.ns), moment.ns))
        .collect();
    ends.sort_unstable();
    let mut sum = 0;
    let over = ends.iter().find(|(_, ns)| {
        sum += ns;
        sum as f64 >= OVER * lost.total_ns() as f64
    });
    let tables = inputs.analysis.tables;
    let starts = &tables.dispatches.start;
    let is_enough = |end: i64| starts.iter().filter(|&&start| start >= end).count() >= starts.len() / ENOUGH;
    // A small finding is not printed.
    let Some(&(end, _)) = over.filter(|(end, _)| finding.share >= LEAST && is_enough(*end)) else {
        return String::new();
    };
    let Some((zero, _)) = span(tables) else { return String::new() };
    let moment = match end.saturating_sub(zero) {
        ns if ns < 10_000_000 => format!("{}us", ns / 1_000 + 1),
        ns => format!("{}ms", ns / 1_000_000 + 1),
    };
    format!(", or look at what comes later (`--time {moment}..`)")
}

/// Returns whether memory is allocated in a few gaps only, or mostly at once: a loop that allocates again and again releases between.
pub(super) fn sets_up(inputs: &Inputs<'_>) -> bool {
    let allocations = Lost::new(inputs, |part| part.loss.kind == LossKind::Blocking(Cause::Allocation));
    let gaps: u64 = allocations.parts().iter().map(|part| part.loss.gaps).sum();
    if gaps <= FEW * inputs.gpus().len() as u64 {
        return true;
    }
    let moments = || allocations.parts().iter().flat_map(|part| &part.loss.moments);
    let listed: u64 = moments().map(|moment| moment.ns).sum();
    // Without the moments of most of the time there is no telling.
    if listed * MOST < allocations.total_ns() {
        return false;
    }
    let releases = releases(inputs);
    let mut rounds: FxHashMap<usize, u64> = FxHashMap::default();
    for moment in moments() {
        *rounds.entry(releases.partition_point(|&start| start < moment.start)).or_default() += moment.ns;
    }
    rounds.values().any(|&ns| ns * MOST >= listed)
}

/// The starts in ns of calls that release memory of GPUs, in order.
fn releases(inputs: &Inputs<'_>) -> Vec<i64> {
    let tables = inputs.analysis.tables;
    let is_release = |text: &str| {
        ["Free", "MemUnmap", "MemRelease"].iter().any(|word| text.contains(word))
            && cause_of_function(text) == Some(Cause::Allocation)
    };
    let names: FxHashSet<NameId> =
        tables.strings.iter().filter(|(_, text)| is_release(text)).map(|(name, _)| name).collect();
    let calls = tables.api_calls.name.iter().zip(&tables.api_calls.start);
    let mut starts: Vec<i64> =
        calls.filter(|(name, _)| names.contains(name)).map(|(_, &start)| start).collect();
    starts.sort_unstable();
    starts
}

fn is_capture(inputs: &Inputs<'_>, part: &Part<'_>) -> bool {
    let call = part.loss.site.call;
    let name = if call.is_some() { inputs.analysis.tables.strings.get(call) } else { "" };
    name.contains("StreamBeginCapture") || name.contains("GraphInstantiate")
}

/// Returns whether most of this time is the first call of its function, which sets up the device.
pub(super) fn is_first_allocation(inputs: &Inputs<'_>, part: &Part<'_>) -> bool {
    let longest = part.loss.longest;
    longest.ns * MOST >= part.ns
        && inputs.first_call_end(part.loss.site.call).is_some_and(|end| longest.start <= end)
}
