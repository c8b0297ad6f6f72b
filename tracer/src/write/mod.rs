//! The recorder's thread, which writes rows and metadata of a file, or records for callbacks. Only this folder accesses files.

pub mod callback;
pub mod callback_counters;
pub mod identity;
pub mod output;
pub mod record;
pub mod requests;
