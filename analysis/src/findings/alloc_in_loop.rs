//! Memory is allocated and released while the GPU has work to do.

use super::finding::Finding;
use super::first_call::{is_first_allocation, sets_up};
use super::inputs::Inputs;
use super::lost::Lost;
use crate::idle::{Cause, LossKind};

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    if sets_up(inputs) {
        return Vec::new();
    }
    let lost = Lost::new(inputs, |part| {
        part.loss.kind == LossKind::Blocking(Cause::Allocation) && !is_first_allocation(inputs, part)
    });
    let described = |finding: Finding| {
        Finding {
        sentence: format!(
            "memory is allocated and released between launches: {}{}{}",
            lost.idle(&finding),
            lost.at(),
            lost.when()
        ),
        look: "rtl-summary --section idle,api,memory TRACE".to_owned(),
        help: "keep memory in a pool (leave out `empty_cache()`, expand the allocator's segments), allocate before the loop"
            .to_owned(),
        ..finding
    }
    };
    lost.finding("alloc-in-loop").map(described).into_iter().collect()
}
