//! The runs of one kernel on both sides.

use crate::slower::run::Run;

/// One kernel that both sides ran.
#[derive(Debug, Clone, Copy)]
pub struct KernelPair<'a> {
    /// Its name in the baseline, the key of calibrations.
    pub name: &'a str,
    /// Its runs in the baseline; one position is the same run for every kernel.
    pub baseline: &'a [Run],
    /// Its runs in the candidate.
    pub candidate: &'a [Run],
    /// Its part (0 to 1) of the GPU time, on the side where that is larger.
    pub share: f64,
    /// Whether gates judge it: kernels that wait for other ranks are only shown.
    pub gated: bool,
    /// A threshold of its own in place of [`Rules::threshold`](super::Rules::threshold).
    pub threshold: Option<f64>,
}
