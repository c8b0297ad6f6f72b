#![doc = "analysis"]

pub mod rocprofv3;
pub mod rpt;
