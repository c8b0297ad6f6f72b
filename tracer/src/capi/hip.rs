//! The interface that librtl_hip.so looks up in this library.

#![expect(unsafe_code, reason = "called by another library")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use crate::base::call_interface::{EndedCall, Function, Interface, Selection, Source, StartedCall, Text};

use crate::base::filter;
use crate::base::log;
use crate::base::output_sink;
use crate::base::settings::Mode;
use crate::events::calls::{hooks, sources, thread_calls};
use crate::lifecycle::{load, recording};

/// Returns the interface for a library that intercepts calls. The function is found by its name, `call_interface::SYMBOL`.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_calls_1() -> &'static Interface {
    &Interface { join, begin, end }
}

/// # Safety
/// The requirements are those of `Interface::join`.
unsafe extern "C" fn join(source: Source, names: *const Text, count: usize) -> Selection {
    let join = || {
        let settings = load::read_settings();
        if settings.mode != Mode::Hip {
            return Selection::default();
        }
        // SAFETY: the caller promised `count` names.
        let names = unsafe { std::slice::from_raw_parts(names, count) };
        let name = |name: &Text| {
            // SAFETY: the caller promised that each name has its length in bytes.
            let bytes = unsafe { std::slice::from_raw_parts(name.bytes, name.length) };
            String::from_utf8_lossy(bytes).into_owned()
        };
        let names: Vec<String> = names.iter().map(name).collect();
        let is_known = |word: &str| names.iter().any(|name| filter::is_meant(word, name));
        if let Some(complaint) = settings.hip_filter.complaint("HIP", is_known) {
            static SAID: AtomicBool = AtomicBool::new(false);
            log::warn_once(&SAID, format_args!("{complaint}"));
        }
        let functions = names.iter().map(|name| filter::takes(&settings.hip_filter, name)).collect();
        thread_calls::number_from(recording::known().counters.snapshot().seen);
        let joined = sources::join(source, names, functions, settings.hip_arguments);
        Selection {
            functions: joined.functions.as_ptr(),
            arguments: joined.arguments,
            launches: joined.arguments || output_sink::takes_calls(),
        }
    };
    catch_unwind(AssertUnwindSafe(join)).unwrap_or_default()
}

extern "C" fn begin(function: Function) -> StartedCall {
    catch_unwind(|| hooks::begin(function, load::begin_with_ranges)).unwrap_or_default()
}

/// # Safety
/// The requirements are those of `Interface::end`.
unsafe extern "C" fn end(started: &StartedCall, ended: &EndedCall) {
    let end = || {
        // SAFETY: the pointer is null, or to details as the caller promised.
        let details = unsafe { ended.details.as_ref() };
        let arguments: &[u8] = if ended.arguments.is_null() {
            &[]
        } else {
            // SAFETY: the caller promised that the arguments have their length in bytes.
            unsafe { std::slice::from_raw_parts(ended.arguments, ended.length) }
        };
        hooks::end(started, ended.function, ended.status, ended.stream, details, arguments);
    };
    let _ = catch_unwind(AssertUnwindSafe(end));
}
