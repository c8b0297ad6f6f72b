//! SQLite's file format: tables that only grow at their ends, written ten times as fast as by inserts.
//!
//! Every page has 4,096 bytes; numbers are big-endian. A leaf, [`page::Leaf`], is filled from both ends:
//!
//! ```text
//! offset  0        1           3         5         7        8
//!        +--------+-----------+---------+---------+--------+-----------+-----------+------+---------+------+------+
//!        | 0x0d   | free      | cells   | content | frag-  | pointer 1 | pointer 2 | ...  | free    | cell | cell |
//!        |        | block     |  n      | start   | ments  |           |           | ->   | space   | n <- |  1   |
//!        | u8     | u16 = 0   | u16     | u16     | u8 = 0 | u16       | u16       |      | 0       |      |      |
//!        +--------+-----------+---------+---------+--------+-----------+-----------+------+---------+------+------+
//!                                             |               |                                     ^      ^      4096
//!                                             +---------------|-------------------------------------+      |
//!                                                             +--------------------------------------------+
//! ```
//!
//! A cell is a row: two varints and a record. What does not fit onto the leaf lies on a chain of overflow pages (offset 0:
//! the next page, u32; offset 4: 4,092 bytes of content):
//!
//! ```text
//!        +---------------+--------+--------------------------------------------------+---------------+
//!        | record length | rowid  | record: header length, serial types ... , values  | first         |
//!        | varint        | varint |         varint         varints       big-endian   | overflow, u32 |
//!        +---------------+--------+--------------------------------------------------+---------------+
//! ```
//!
//! An inner node has the type 0x05, the number of its right child as u32 at offset 8, pointers from offset 12 on, and
//! cells of a child, u32, and the greatest rowid below it, varint. The first page begins with 100 bytes of the database
//! header, after which the root of the schema stands:
//!
//! ```text
//! offset  0                  16         18..24       24       28      32         36         40       44     96
//!        +------------------+----------+------------+--------+-------+----------+----------+--------+- ... -+---------+
//!        | SQLite format 3\0| page     | 1 1 0      | change | pages | first    | unused   | schema |       | SQLite  |
//!        |                  | size u16 | 64 32 32   | count  |       | unused   | pages    | cookie |       | version |
//!        +------------------+----------+------------+--------+-------+----------+----------+--------+- ... -+---------+
//! ```
//!
//! - `encode`: a row as a record.
//! - `pattern`: records that differ in a few numbers.
//! - `page`: leaves and inner nodes.
//! - `block`: rows that are encoded apart from their table.
//! - `tree`: a table that grows at its end.
//! - `store`: the owner of each page of the file, and the time when it may be written.
//! - `catalog`: the table of tables.
//! - `database`: the tables of a file, published together.

mod block;
mod catalog;
mod database;
mod encode;
mod page;
mod pattern;
mod store;
mod tree;

pub(crate) use block::Block;
pub(crate) use database::{Database, SavedDatabase, TableId};
pub(crate) use encode::{Datum, Record};
pub(crate) use pattern::Pattern;
pub use store::Target;
