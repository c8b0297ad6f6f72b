//! The sources of calls, and the parts of them that are recorded.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::call_interface::{Function, Source};
use hsa_sys::table::{FUNCTIONS, Kind};

/// A source that has joined.
#[derive(Debug)]
pub struct CallSource {
    /// Names of the functions, by number.
    pub names: Vec<String>,
    /// True for recorded functions, by number.
    pub functions: Vec<bool>,
    /// True if arguments are recorded.
    pub arguments: bool,
}

static SOURCES: [OnceLock<CallSource>; Source::ALL.len()] = [const { OnceLock::new() }; Source::ALL.len()];

static ANY_RECORDED: AtomicBool = AtomicBool::new(false);

/// True if calls of any source are recorded, so that ops carry the correlation id of their call.
#[inline]
#[must_use]
pub fn is_any_recorded() -> bool {
    ANY_RECORDED.load(Ordering::Relaxed)
}

/// Adds a source the first time, and returns the selection that was made then.
pub fn join(
    source: Source,
    names: Vec<String>,
    functions: Vec<bool>,
    arguments: bool,
) -> &'static CallSource {
    let joined = SOURCES[source as usize].get_or_init(|| CallSource { names, functions, arguments });
    if joined.functions.contains(&true) {
        ANY_RECORDED.store(true, Ordering::Relaxed);
    }
    joined
}

#[must_use]
pub fn is_recorded(function: Function) -> bool {
    let joined = function.source().and_then(|source| SOURCES[source as usize].get());
    joined.and_then(|joined| joined.functions.get(function.number())).is_some_and(|&is_recorded| is_recorded)
}

#[must_use]
pub fn name(function: Function) -> Option<&'static str> {
    let joined = SOURCES[function.source()? as usize].get()?;
    joined.names.get(function.number()).map(String::as_str)
}

/// The category of the function's calls in the file.
#[must_use]
pub fn category(function: Function) -> Option<&'static str> {
    match function.source()? {
        Source::Hip => None,
        Source::Hsa => FUNCTIONS.get(function.number()).map(|function| table(function.table)),
    }
}

/// A table of HSA, as it is called in the file and in RTL_HSA_API_FILTER.
#[must_use]
pub const fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Core => "core",
        _ => "ext",
    }
}

/// The type that functions of the source return.
#[must_use]
pub const fn status(source: Source) -> &'static str {
    match source {
        Source::Hip => "hipError_t",
        Source::Hsa => "hsa_status_t",
    }
}

/// The domain of the source's calls in the file.
#[must_use]
pub const fn domain(source: Source) -> &'static str {
    match source {
        Source::Hip => "HIP",
        Source::Hsa => "HSA",
    }
}
