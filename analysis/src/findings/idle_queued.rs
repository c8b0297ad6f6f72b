//! The GPU is idle although an op is enqueued.

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use crate::idle::LossKind;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Waiting && !inputs.is_hole(part));
    let described = |finding: Finding| Finding {
        sentence: format!(
            "the GPU is idle although the next op is enqueued: {}{}{}; it waits for another queue, a barrier or another device, or \
             is long on its way",
            lost.idle(&finding),
            lost.when(),
            lost.between(),
        ),
        look: "rtl-summary --section queues,gaps,idle TRACE".to_owned(),
        help:
            "look at events and dependencies between streams; launch independent work on streams of its own"
                .to_owned(),
        ..finding
    };
    lost.finding("idle-queued").map(described).into_iter().collect()
}
