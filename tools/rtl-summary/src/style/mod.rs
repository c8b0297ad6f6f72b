//! The reports of other tools, in their layouts.

pub mod rocprofv3;
pub mod rpt;
