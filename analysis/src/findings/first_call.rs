//! Work that is done once, within the measured time: code is compiled, loaded or tuned, or memory is set up.

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::place::Part;
use crate::idle::{Cause, LossKind};

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
    let again = when.contains("every") || when.contains("steps");
    let what = match again {
        true => "the GPU waits while code is loaded, compiled or tuned, again and again",
        false => {
            "the GPU waits while something is done for the first time or once (compiled, loaded, tuned, allocated)"
        }
    };
    let help = match again {
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

/// Returns whether memory is allocated in a few gaps only.
pub(super) fn sets_up(inputs: &Inputs<'_>) -> bool {
    let allocations = Lost::new(inputs, |part| part.loss.kind == LossKind::Blocking(Cause::Allocation));
    let gaps: u64 = allocations.parts().iter().map(|part| part.loss.gaps).sum();
    gaps <= FEW * inputs.gpus().len() as u64
}

/// Returns whether most of this time is the first call of its function, which sets up the device.
pub(super) fn is_first_allocation(inputs: &Inputs<'_>, part: &Part<'_>) -> bool {
    let longest = part.loss.longest;
    longest.ns * MOST >= part.ns
        && inputs.first_call_end(part.loss.site.call).is_some_and(|end| longest.start <= end)
}
