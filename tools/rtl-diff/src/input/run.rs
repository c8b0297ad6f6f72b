//! One run of one side, whatever it was read from.

use std::path::PathBuf;

use rtl_analysis::compare;
use rtl_analysis::complete_steps::LeftOut;
use rtl_analysis::facts::Fact;
use rtl_analysis::profile::Profile;
use rtl_analysis::trust::Trust;
use rtl_analysis::work::Work;
use serde::Serialize;

/// The run is that of a trace, of a saved report, or of all rank files of one job.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Run {
    /// The files are in the order of their ranks.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) profile: Profile,
    /// The work that is compared in place of kernels. `profile` is about it where there is one.
    pub(crate) work: Option<Work>,
    /// All work, step by step.
    pub(crate) whole: Option<compare::Run>,
    /// The figures are about these steps.
    pub(crate) steps: Option<Steps>,
    pub(crate) facts: Vec<Fact>,
    /// The reasons why the figures cannot be believed, each with the file in front.
    pub(crate) distrust: Vec<(Trust, String)>,
    /// True for a saved report, which has no single calls.
    pub(crate) is_report: bool,
}

/// The complete steps of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Steps {
    /// The name of the ranges.
    pub(crate) name: String,
    /// The number of complete steps.
    pub(crate) count: usize,
    pub(crate) left_out: LeftOut,
}

impl Run {
    /// The sum over GPUs.
    pub(crate) fn wall_ns(&self) -> i64 {
        self.profile.gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.wall_ns))
    }
}

/// The name of a kernel, with the launch shape if that distinguishes kernels.
pub(crate) fn label(name: &str, launch: Option<&str>) -> String {
    launch.map_or_else(|| name.to_owned(), |launch| format!("{name} [{launch}]"))
}
