//! How long anything ran on a GPU.

use rtl_schema::Tables;

use crate::order::AgentOps;

/// The union of the ops of one GPU. Times inside are relative to its first start, so that no sum can overflow.
pub(super) struct Busy<'a> {
    tables: &'a Tables,
    /// KernelKey start.
    copies: &'a [u32],
    /// The start of the next copy, `i64::MAX` behind the last.
    next_copy: i64,
    base: i64,
    end: u64,
    length: u64,
}

impl<'a> Busy<'a> {
    pub(super) fn of(tables: &'a Tables, ops: &'a AgentOps) -> Self {
        let dispatch = ops.dispatches.first().map(|&row| tables.dispatches.start[row as usize]);
        let next_copy = next_start(tables, &ops.copies);
        let base = dispatch.map_or(next_copy, |dispatch| dispatch.min(next_copy));
        Self { tables, copies: &ops.copies, next_copy, base, end: 0, length: 0 }
    }

    /// Adds a dispatch. Starts must not decrease.
    #[inline]
    pub(super) fn add(&mut self, start: i64, duration: i64) {
        while self.next_copy <= start && !self.copies.is_empty() {
            self.add_copy();
        }
        self.unite(start, duration);
    }

    #[cold]
    fn add_copy(&mut self) {
        let Some((&row, rest)) = self.copies.split_first() else { return };
        let copy = &self.tables.copies[row as usize];
        self.unite(copy.start, copy.duration.unwrap_or(0));
        self.copies = rest;
        self.next_copy = next_start(self.tables, rest);
    }

    #[inline]
    fn unite(&mut self, start: i64, duration: i64) {
        let start = start.wrapping_sub(self.base) as u64;
        let end = start.saturating_add(duration.max(0) as u64);
        if end > self.end {
            self.length += end - start.max(self.end);
            self.end = end;
        }
    }

    /// First start to last end, and the part of it in which anything ran, in ns.
    pub(super) fn finish(mut self) -> [i64; 2] {
        while !self.copies.is_empty() {
            self.add_copy();
        }
        [self.end, self.length].map(|length| i64::try_from(length).unwrap_or(i64::MAX))
    }
}

fn next_start(tables: &Tables, copies: &[u32]) -> i64 {
    copies.first().map_or(i64::MAX, |&row| tables.copies[row as usize].start)
}
