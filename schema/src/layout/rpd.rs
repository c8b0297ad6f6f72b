//! Names in RPD files that readers and writers share.

use crate::Strings;

/// The name of the call that stands in for an unrecorded one, in RPD files that rtl wrote.
pub const UNRECORDED: &str = "(not recorded)";

/// The meaning of rows that refer to calls of a function, by the function's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Function {
    /// A launch whose grid counts work-groups.
    LaunchOfGroups,
    /// A launch whose grid counts work-items.
    LaunchOfItems,
    /// A copy between two devices given as arguments.
    PeerCopy,
    /// A range or marker of the user, not a function.
    Marker,
    /// Stands in for a call that was not recorded: [`UNRECORDED`].
    Unrecorded,
    /// Any other function, whose rows have no meaning of their own.
    #[default]
    Other,
}

impl Function {
    /// HIP's launch functions take a grid of blocks, except the two that have HSA's meaning.
    pub fn of(name: &str) -> Self {
        match name {
            "hipLaunchKernel"
            | "hipLaunchKernel_spt"
            | "hipLaunchKernelExC"
            | "hipExtLaunchKernel"
            | "hipModuleLaunchKernel"
            | "hipLaunchCooperativeKernel"
            | "hipLaunchCooperativeKernel_spt"
            | "hipModuleLaunchCooperativeKernel" => Self::LaunchOfGroups,
            "hipExtModuleLaunchKernel" | "hipHccModuleLaunchKernel" => Self::LaunchOfItems,
            "hipMemcpyPeer" | "hipMemcpyPeerAsync" => Self::PeerCopy,
            "UserMarker" => Self::Marker,
            UNRECORDED => Self::Unrecorded,
            _ => Self::Other,
        }
    }
}

/// True if RPD recorded through rocprofiler-sdk rather than roctracer: then it logs its own overhead under this name
/// and names copies by the SDK's operations.
pub fn from_rocprofiler_sdk(strings: &Strings) -> bool {
    strings.lookup("RocprofDataSource::buffer_callback").is_some()
        || strings.iter().any(|(_, text)| text.starts_with("MEMORY_COPY_"))
}
