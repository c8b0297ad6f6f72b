//! Calls of the HSA runtime (docs/guide/hsa-api.md).
//!
//! Functions that are asked for are replaced in the tables that `OnLoad` receives, by one [thunk](thunks) for each; the others
//! stay as they are. A thunk says that a call begins, calls what was in the table before, and says that it ended: from there
//! on it is a call like those of HIP ([`crate::events::calls`]). What the tracer itself asks of the runtime passes no table.

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

/// Puts the thunks of what these settings ask for into the tables, on top of whatever is there.
/// Calls get numbers above `last`, and `begin_recording` begins a recording where there is none yet.
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
    call_events::begin_recordings_by(begin_recording);
    let joined = sources::join(Source::Hsa, names, functions, settings.hsa_arguments);
    call_events::record_arguments(joined.arguments);
    for (number, is_wanted) in joined.functions.iter().enumerate() {
        if *is_wanted && !init_refcount::are_told(number) {
            thunks::put(tables, number);
        }
    }
}

pub use thunks::are_in;
