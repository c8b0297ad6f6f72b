//! SQLite files, opened without side effects and scanned fast.
//!
//! A scan reads the leaf pages of its table directly (`leaf`, `pages`, `record`), where `layout` finds its columns; `fast_rows`
//! reads most rows for a quarter of the cost, as `fast_header` says.
//! `image` holds one state of a recording that grows, `tail` reads its new rows. SQLite's library takes over for everything unusual
//! or damaged, within a `budget`. The rows are those of the library.

mod budget;
mod database;
mod fast_header;
mod fast_rows;
mod header;
mod image;
mod layout;
mod leaf;
mod open;
mod pages;
mod pieces;
mod record;
mod row;
mod state;
mod stored_key;
mod tail;
mod varint;

pub use database::{Database, Snapshot};
pub use fast_header::{FastColumns, IntegerColumn};
pub use fast_rows::{AddRows, FastRow, Readers};
pub(crate) use layout::quote;
pub use pieces::{FoundLeaves, Leaves, Pieces};
pub use row::Row;
pub(crate) use row::scanned;
pub(crate) use stored_key::{ByHeader, StoredColumns, StoredKey, StoredText};
pub(crate) use tail::{Followed, Publication, Tail};
