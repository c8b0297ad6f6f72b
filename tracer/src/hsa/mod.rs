//! Calls of the HSA runtime (docs/guide/hsa-api.md).
//!
//! Functions that are asked for are replaced in the tables that `OnLoad` receives, by one [thunk](thunks) for each; the others
//! stay as they are. A thunk says that a call begins, calls what was in the table before, and says that it ended: from there
//! on it is a call like those of HIP ([`crate::calls`]). What the tracer itself asks of the runtime passes no table.

pub mod arguments;
pub mod filter;
pub mod lives;
pub mod telling;
pub mod thunks;

use std::sync::atomic::AtomicBool;

use calls::Source;
use hsa_sys::table::{FUNCTIONS, Kind};

use crate::api::Tables;
use crate::calls::{filter::Filter, here, sources};
use crate::settings::Settings;
use crate::{recording, story};

/// What is asked for.
#[derive(Debug)]
pub struct Asked {
    filter: Filter,
    arguments: bool,
}

impl Asked {
    /// What these settings ask for; `None` where that is nothing.
    #[must_use]
    pub fn of(settings: &Settings) -> Option<Self> {
        let filter = settings.hsa_filter.clone();
        filter.is_set().then_some(Self { filter, arguments: settings.hsa_arguments })
    }
}

/// Puts the thunks of what is asked for into the tables, on top of whatever is there.
pub fn install(tables: &Tables, asked: &Asked) {
    if let Some(complaint) = filter::complaint(&asked.filter) {
        static SAID: AtomicBool = AtomicBool::new(false);
        story::once(&SAID, format_args!("{complaint}"));
    }
    let names = FUNCTIONS.iter().map(|function| function.name.to_owned()).collect();
    let functions = FUNCTIONS.iter().map(|function| filter::takes(&asked.filter, function)).collect();
    here::number_from(recording::known().counters.snapshot().seen);
    let joined = sources::join(Source::Hsa, names, functions, asked.arguments);
    telling::tell_arguments(joined.arguments);
    for (number, is_wanted) in joined.functions.iter().enumerate() {
        if *is_wanted && !lives::are_told(number) {
            thunks::put(tables, number);
        }
    }
}

pub use thunks::are_in;

/// The table that a function is in, as the file and RTL_HSA_API_FILTER call it.
#[must_use]
pub fn table(number: usize) -> Option<&'static str> {
    FUNCTIONS.get(number).map(|function| name(function.table))
}

const fn name(table: Kind) -> &'static str {
    match table {
        Kind::Core => "core",
        _ => "ext",
    }
}
