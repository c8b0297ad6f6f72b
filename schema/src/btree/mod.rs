//! SQLite's file format, written by ourselves: tables that only grow at their end, ten times as fast as inserts.
//!
//! - `encode`: a row as a record.
//! - `pattern`: records that differ in a few numbers.
//! - `page`: the two kinds of pages of a table's tree.
//! - `tree`: a table that grows at its end.
//! - `store`: which page of the file is whose, and when it may be written.
//! - `catalog`: the table of tables.
//! - `builder`: a whole file, complete when it is finished. One that is whole at every moment is [`crate::append`].

mod builder;
mod catalog;
mod encode;
mod page;
mod pattern;
mod store;
mod tree;

pub(crate) use builder::{Builder, TableId};
pub(crate) use catalog::{Entry, PAGES, publish};
pub(crate) use encode::{Datum, Record};
pub(crate) use page::SIZE;
pub(crate) use pattern::Pattern;
pub(crate) use store::Store;
pub use store::Target;
pub(crate) use tree::{Keep, Tree, put, take};
