//! One dialect per file: how each tool lays out its traces, and how to recognise it by content.

pub(crate) mod lite;
pub(crate) mod native;
mod rocpd;
pub(crate) mod rocprofiler;
pub(crate) mod rocprofiler_json;
pub(crate) mod rpd;
pub(crate) mod rtg;

pub(crate) use rocpd::{Function, Prepared, copy_type};
pub(crate) use rpd::from_rocprofiler_sdk;

/// Whose layout a trace has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Dialect {
    /// Ours: rocm-trace-lite's names with typed columns for everything else.
    #[default]
    Native,
    /// rocm-trace-lite's SQLite file.
    Lite,
    /// rocmProfileData, schema 2.
    Rpd2,
    /// rocmProfileData, schema 3.
    Rpd3,
    /// rocprofv3's rocpd database, 3.0.x.
    Rocprofiler,
    /// rocprofv3's JSON.
    RocprofilerJson,
    /// RTG's HCC_PROFILE text.
    Rtg,
}

impl Dialect {
    /// The name of reports and of JSON: stable.
    pub fn label(self) -> &'static str {
        match self {
            Self::Native => "rtl",
            Self::Lite => "rocm-trace-lite",
            Self::Rpd2 => "rpd-2",
            Self::Rpd3 => "rpd-3",
            Self::Rocprofiler => "rocprofv3-rocpd",
            Self::RocprofilerJson => "rocprofv3-json",
            Self::Rtg => "rtg-text",
        }
    }
}
