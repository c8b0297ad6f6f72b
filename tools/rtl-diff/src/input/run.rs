//! One run of one side.

use std::path::PathBuf;

use rtl_analysis::compare;
use rtl_analysis::complete_steps::LeftOut;
use rtl_analysis::facts::Fact;
use rtl_analysis::profile::Profile;
use rtl_analysis::trust::Trust;
use rtl_analysis::work::Work;
use serde::Serialize;

/// A trace, a saved report, or all rank files of one job.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Run {
    /// In the order of their ranks.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) profile: Profile,
    /// The work that is compared in place of kernels; then `profile` is about that.
    pub(crate) work: Option<Work>,
    /// All of that work, step by step.
    pub(crate) whole: Option<compare::Run>,
    /// The complete steps that the figures are about.
    pub(crate) steps: Option<Steps>,
    /// Hardware, versions and modes.
    pub(crate) facts: Vec<Fact>,
    /// Why its figures cannot be believed, with the file in front.
    pub(crate) distrust: Vec<(Trust, String)>,
    /// True if it is a saved report, which has no single calls.
    pub(crate) is_report: bool,
}

/// The complete steps of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Steps {
    /// The name of the ranges.
    pub(crate) name: String,
    /// How many are complete.
    pub(crate) count: usize,
    pub(crate) left_out: LeftOut,
}

impl Run {
    /// Wall in ns, summed over GPUs.
    pub(crate) fn wall_ns(&self) -> i64 {
        self.profile.gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.wall_ns))
    }
}

/// The name of a kernel, with the launch shape if that distinguishes kernels.
pub(crate) fn label(name: &str, launch: Option<&str>) -> String {
    launch.map_or_else(|| name.to_owned(), |launch| format!("{name} [{launch}]"))
}
