//! Work that is done once, within the measured time: code is compiled, loaded or tuned, or memory is set up.

use rtl_schema::NameId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::{Cause, LossKind, cause_of_function};

/// Memory that is allocated in no more gaps than these is set up once.
const FEW: u64 = 2;

/// From this part of the time on one call makes it.
const MOST: u64 = 2;

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
        false => {
            "warm up before measuring (`--time steady`, the profiler's schedule), keep compiled code in a cache, avoid shapes that \
             change"
        }
    };
    vec![Finding {
        sentence: format!("{what}: {}{}{when}{}", lost.idle(&finding), lost.at(), lost.between()),
        look: "rtl-summary --section gaps,idle TRACE; rtl-summary --by step TRACE".to_owned(),
        help: help.to_owned(),
        ..finding
    }]
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
