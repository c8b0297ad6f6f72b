//! The functions of libroctx64 and librocprofiler-sdk-roctx, which this library stands in for.

pub mod callback;
pub mod dlopen;
pub mod entry;
