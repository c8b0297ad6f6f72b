//! The rows of the last moments.

use std::collections::VecDeque;

/// Rows of a kind that ended in the last moments, in any order.
#[derive(Debug, Clone)]
pub(super) struct Window<T> {
    rows: VecDeque<(i64, i64, T)>,
    length: i64,
    end: i64,
    /// How many rows there were behind the last removal.
    left: usize,
}

impl<T: Copy> Window<T> {
    /// Keeps the intervals of the last `length` ns.
    pub(super) fn new(length: i64) -> Self {
        Self { rows: VecDeque::new(), length, end: i64::MIN, left: 0 }
    }

    pub(super) fn add(&mut self, start: i64, end: i64, row: T) {
        self.end = self.end.max(end);
        if end <= self.end.saturating_sub(self.length) {
            return;
        }
        self.rows.push_back((start, end, row));
        if self.rows.len() > 2 * self.left + 1024 {
            self.remove();
        }
    }

    fn remove(&mut self) {
        let from = self.end.saturating_sub(self.length);
        self.rows.retain(|&(_, end, _)| end > from);
        self.left = self.rows.len();
    }

    /// The rows that ended after `until - length`, each with its time within that window.
    pub(super) fn rows(&self, until: i64) -> impl Iterator<Item = (i64, T)> {
        let from = until.saturating_sub(self.length);
        let rows = self.rows.iter().filter(move |row| row.1 > from && row.0 < until);
        rows.map(move |&(start, end, row)| (end.min(until).saturating_sub(start.max(from)), row))
    }

    /// How many rows ended after `until - length` and not after `until`.
    pub(super) fn ended(&self, until: i64) -> impl Iterator<Item = T> {
        let from = until.saturating_sub(self.length);
        self.rows.iter().filter(move |row| row.1 > from && row.1 <= until).map(|row| row.2)
    }
}
