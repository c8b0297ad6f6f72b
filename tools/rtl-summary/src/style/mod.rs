//! The reports of other tools in their layouts, for scripts that read them.

pub mod rocprofv3;
pub mod rpt;
