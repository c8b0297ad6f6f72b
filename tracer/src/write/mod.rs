//! The recorder's thread: rows and metadata of a file, or records for callbacks. The only folder that accesses files.

pub mod callback;
pub mod callback_counters;
pub mod identity;
pub mod output;
pub mod record;
pub mod requests;
