//! One run of one side.

use std::path::PathBuf;

use rtl_analysis::facts::Fact;
use rtl_analysis::profile::Profile;

/// A trace, a saved report, or all rank files of one job.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Run {
    /// In the order of their ranks.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) profile: Profile,
    /// Hardware, versions and modes.
    pub(crate) facts: Vec<Fact>,
    /// Whether it is a saved report, which has no single calls.
    pub(crate) is_report: bool,
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
