//! The runs of one kernel on both sides.

use crate::slower::run::Run;

/// One kernel that both sides ran.
#[derive(Debug, Clone, Copy)]
pub struct KernelPair<'a> {
    /// Name in the baseline, the key of calibrations.
    pub name: &'a str,
    /// Runs of the baseline; one position is the same run for every kernel.
    pub baseline: &'a [Run],
    /// Runs of the candidate.
    pub candidate: &'a [Run],
    /// Part of the GPU time, 0 to 1, on the side where that is larger.
    pub share: f64,
    /// True if gates judge it: kernels that wait for other ranks are only shown.
    pub gated: bool,
    /// A threshold of its own in place of [`Rules::threshold`](super::Rules::threshold).
    pub threshold: Option<f64>,
}
