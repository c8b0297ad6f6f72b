//! The names of its columns give the kind of a file.

use crate::csv::{Csv, Record};

/// The kinds of files, in the order of reading: the first ones know the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Agents,
    Calls,
    Counters,
    Dispatches,
    Copies,
    Allocations,
    Scratch,
}

/// The names of columns, in lower case.
#[derive(Debug, Clone)]
pub(super) struct Header(Vec<String>);

impl Header {
    pub(super) fn new(record: Record<'_>) -> Self {
        let name = |at| record.text(Some(at)).unwrap_or_default().trim().to_ascii_lowercase();
        Self((0..record.len()).map(name).collect())
    }

    /// The header of a text with this beginning.
    pub(super) fn of_text(head: &[u8]) -> Option<Self> {
        let line = head.split(|&byte| byte == b'\n').next()?;
        Csv::new(line).ok()?.record().ok()?.map(Self::new)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The position of the first of `names` that is a column.
    pub(super) fn at(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.0.iter().position(|column| column == name))
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        let has = |name| self.at(&[name]).is_some();
        let is_timed = has("start_timestamp") && has("end_timestamp");
        if has("node_id") && has("agent_type") {
            Some(Kind::Agents)
        } else if has("counter_name") && has("counter_value") && has("dispatch_id") {
            Some(Kind::Counters)
        } else if !is_timed {
            None
        } else if has("kernel_name") {
            Some(Kind::Dispatches)
        } else if has("alloc_flags") {
            Some(Kind::Scratch)
        } else if has("allocation_size") && has("operation") {
            Some(Kind::Allocations)
        } else if has("direction") || has("source_agent_id") {
            Some(Kind::Copies)
        } else {
            (has("function") && has("domain")).then_some(Kind::Calls)
        }
    }
}
