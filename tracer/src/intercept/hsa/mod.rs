//! Records calls of the HSA runtime (docs/guide/hsa-api.md).
//!
//! Selected functions are replaced in the tables that `OnLoad` receives, by one [thunk](thunks) for each; the others stay. A
//! thunk reports that a call begins, calls the function that was in the table before, and reports the end: from there on it is a
//! call like those of HIP ([`crate::events::calls`]). The tracer's own calls pass no table.

pub mod arguments;
pub mod call_events;
pub mod filter;
pub mod init_refcount;
pub mod thunks;

use std::sync::atomic::AtomicBool;

use crate::base::call_interface::Source;
use hsa_sys::table::FUNCTIONS;

use crate::base::api::Tables;
use crate::base::log;
use crate::base::settings::Settings;
use crate::events::calls::{sources, thread_calls};

/// Puts the thunks of the selected functions into the tables, in front of the functions that are there. Calls get numbers above
/// `last`, and `begin_recording` begins a recording where there is none yet.
pub fn install(tables: &Tables, settings: &Settings, last: u64, begin_recording: fn()) {
    let filter = &settings.hsa_filter;
    if !filter.is_set() {
        return;
    }
    if let Some(complaint) = filter::complaint(filter) {
        static SAID: AtomicBool = AtomicBool::new(false);
        log::warn_once(&SAID, format_args!("{complaint}"));
    }
    let names = FUNCTIONS.iter().map(|function| function.name.to_owned()).collect();
    let functions = FUNCTIONS.iter().map(|function| filter::takes(filter, function)).collect();
    thread_calls::number_from(last);
    call_events::set_begin_recording(begin_recording);
    let joined = sources::join(Source::Hsa, names, functions, settings.hsa_arguments);
    call_events::record_arguments(joined.arguments);
    for (number, is_wanted) in joined.functions.iter().enumerate() {
        if *is_wanted && !init_refcount::is_hooked(number) {
            thunks::put(tables, number);
        }
    }
}

pub use thunks::are_in;
