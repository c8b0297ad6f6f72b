//! Who tells of calls, and what of.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::call_interface::{Function, Source};
use hsa_sys::table::{FUNCTIONS, Kind};

/// A source that tells of its calls.
#[derive(Debug)]
pub struct Joined {
    /// The names of its functions, by number.
    pub names: Vec<String>,
    /// A flag by number: the calls are recorded.
    pub functions: Vec<bool>,
    /// Arguments are recorded, too.
    pub arguments: bool,
}

static SOURCES: [OnceLock<Joined>; Source::ALL.len()] = [const { OnceLock::new() }; Source::ALL.len()];

static ARE_TOLD: AtomicBool = AtomicBool::new(false);

/// True where any source has calls that are recorded, so that ops carry the correlation id of their call.
#[inline]
#[must_use]
pub fn are_told() -> bool {
    ARE_TOLD.load(Ordering::Relaxed)
}

/// Takes a source in, the first time, with what is to be told of its calls; what that is.
pub fn join(source: Source, names: Vec<String>, functions: Vec<bool>, arguments: bool) -> &'static Joined {
    let joined = SOURCES[source as usize].get_or_init(|| Joined { names, functions, arguments });
    if joined.functions.contains(&true) {
        ARE_TOLD.store(true, Ordering::Relaxed);
    }
    joined
}

/// True where calls of the function are recorded.
#[must_use]
pub fn tells(function: Function) -> bool {
    let joined = function.source().and_then(|source| SOURCES[source as usize].get());
    joined.and_then(|joined| joined.functions.get(function.number())).is_some_and(|&is_told| is_told)
}

#[must_use]
pub fn name(function: Function) -> Option<&'static str> {
    let joined = SOURCES[function.source()? as usize].get()?;
    joined.names.get(function.number()).map(String::as_str)
}

/// The category of the calls in the file.
#[must_use]
pub fn category(function: Function) -> Option<&'static str> {
    match function.source()? {
        Source::Hip => None,
        Source::Hsa => FUNCTIONS.get(function.number()).map(|function| table(function.table)),
    }
}

/// A table of HSA, as the file and RTL_HSA_API_FILTER call it.
#[must_use]
pub const fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Core => "core",
        _ => "ext",
    }
}

/// The type of what its functions return.
#[must_use]
pub const fn status(source: Source) -> &'static str {
    match source {
        Source::Hip => "hipError_t",
        Source::Hsa => "hsa_status_t",
    }
}

/// The domain of the calls in the file.
#[must_use]
pub const fn domain(source: Source) -> &'static str {
    match source {
        Source::Hip => "HIP",
        Source::Hsa => "HSA",
    }
}
