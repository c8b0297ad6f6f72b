use clap::Args;

use crate::names::NameStyle;
use crate::tracks::GroupBy;

/// How rows appear in the output. A format ignores the options that its files cannot express.
#[derive(Args, Debug, Clone, Copy, Default)]
pub struct RenderOptions {
    /// Omit arguments (launch shapes, sizes, ids): half the size, twice as fast to open
    #[arg(long)]
    pub no_args: bool,

    /// Tracks of GPU ops: by queue or by stream
    #[arg(long, value_enum, default_value_t, value_name = "KEY", hide_possible_values = true)]
    pub group_by: GroupBy,

    /// Kernel names: full, mangled (as stored) or short (without types)
    #[arg(long, value_enum, default_value_t, value_name = "FORM", hide_possible_values = true)]
    pub names: NameStyle,

    /// In Perfetto's formats, name launching calls after the kernels that they launched
    #[arg(long)]
    pub kernel_names: bool,

    /// In pftrace, write GPU ops as GPU render stages instead of slices: smaller, without arguments and arrows
    #[arg(long)]
    pub gpu_events: bool,

    /// Show a progress bar on a terminal
    #[arg(skip)]
    pub progress: bool,
}
