use crate::names::NameStyle;
use crate::tracks::GroupBy;

/// How rows appear in the output. A format ignores the options that its files cannot express.
#[derive(Debug, Clone, Copy, Default)]
pub struct RenderOptions {
    /// Omit the arguments of events: launch shapes, sizes, ids.
    pub no_args: bool,
    /// Tracks of GPU ops.
    pub group_by: GroupBy,
    /// Style of kernel names.
    pub names: NameStyle,
    /// Name launching calls after the kernels that they launched.
    pub kernel_names: bool,
    /// Write GPU ops as Perfetto's render stages.
    pub gpu_events: bool,
    /// Show a progress bar on a terminal.
    pub progress: bool,
}
