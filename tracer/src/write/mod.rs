//! The recorder's thread: rows and metadata of a file, or records for callbacks. The only folder that accesses files.

pub mod identity;
pub mod output;
pub mod record;
