//! The functions of libroctx64 and librocprofiler-sdk-roctx, in whose place this library answers.

pub mod callback;
pub mod dlopen;
pub mod entry;
