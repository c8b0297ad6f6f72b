//! The ops are so short that what the GPU needs between two of them counts.

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use crate::idle::LossKind;

/// Below this part of the wall time it is what every program with short ops has.
const MUCH: f64 = 0.1;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Turnaround);
    let described = |finding: Finding| Finding {
        sentence: format!(
            "the GPU needs time between two ops although the next one is enqueued, and there are many: {}",
            lost.idle(&finding),
        ),
        look: "rtl-summary --section kernels,operators TRACE".to_owned(),
        help:
            "launch fewer and larger ops: fuse small kernels and copies (torch.compile, foreach optimizers)"
                .to_owned(),
        ..finding
    };
    lost.finding("small-ops").filter(|finding| finding.share >= MUCH).map(described).into_iter().collect()
}
