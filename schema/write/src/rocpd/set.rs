//! The tables of one process.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::records::ProcessIdentity;
use crate::btree::TableId;

pub(super) const RECORDS: &str = include_str!("../../../../sql/rocprofv3/records.sql");
pub(super) const INFO: &str = include_str!("../../../../sql/rocprofv3/info.sql");
pub(super) const VIEWS: &str = include_str!("../../../../sql/rocprofv3/views.sql");

/// The set of a process; sets are in the order of their addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableSetId(pub(super) usize);

/// The tables of one process, with the objects that the records have named so far.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) origin: ProcessIdentity,
    pub(super) uuid: String,
    pub(super) tables: Vec<TableId>,
    pub(super) texts: FxHashMap<Box<str>, i64>,
    pub(super) threads: FxHashSet<i64>,
    pub(super) queues: BTreeSet<i64>,
    pub(super) streams: BTreeSet<i64>,
    pub(super) tracks: FxHashMap<(i64, i64), i64>,
    /// The place that was last noted, which the next record most often has too.
    pub(super) recent: Option<(i64, i64, i64)>,
}

pub(super) fn filled(sql: &str, uuid: &str, guid: &str) -> String {
    sql.replace("{uuid}", uuid).replace("{guid}", guid)
}
