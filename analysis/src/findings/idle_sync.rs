//! The host waits for the GPU, which then has nothing to do.

use super::advice::waiting_for_the_gpu;
use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use crate::idle::{Cause, LossKind};

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Blocking(Cause::Synchronise));
    let described = |finding: Finding| Finding {
        sentence: format!(
            "the host waits for the GPU, which then has nothing queued: {}{}{}",
            lost.idle(&finding),
            lost.at(),
            lost.when()
        ),
        look: "rtl-summary --section idle TRACE".to_owned(),
        help: waiting_for_the_gpu(inputs, &lost).to_owned(),
        ..finding
    };
    lost.finding("idle-sync").map(described).into_iter().collect()
}
