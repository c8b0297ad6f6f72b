//! How many rows were read, written and omitted.

use std::fmt;

use cli::units;
use rtl_schema::Tables;

/// Rows of a trace: ops, calls, ranges and markers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCounts {
    pub all: u64,
    /// Omitted: rows without an end.
    pub without_end: u64,
    /// Omitted: rows that end before they start.
    pub negative: u64,
    /// Omitted: rows that the format cannot hold.
    pub unsupported: u64,
}

impl RowCounts {
    pub fn count(batch: &Tables) -> u64 {
        let Tables { dispatches, copies, barriers, api_calls, ranges, .. } = batch;
        let ops = dispatches.len() + copies.len() + barriers.len();
        (ops + api_calls.len() + ranges.len()) as u64
    }

    pub fn written(&self) -> u64 {
        self.all - self.without_end - self.negative - self.unsupported
    }

    /// The end of a row that can be written; otherwise counts why it is omitted. An end beyond the range of the clock
    /// counts as one before the start.
    #[inline]
    pub fn end(&mut self, start: i64, duration: Option<i64>) -> Option<i64> {
        self.all += 1;
        let Some(duration) = duration else {
            self.without_end += 1;
            return None;
        };
        let end = start.checked_add(duration).filter(|_| duration >= 0);
        self.negative += u64::from(end.is_none());
        end
    }
}

impl fmt::Display for RowCounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} rows in, {} out", units::count(self.all), units::count(self.written()))?;
        for (count, why) in [
            (self.without_end, "without an end"),
            (self.negative, "that end before they start"),
            (self.unsupported, "that the format has no place for"),
        ] {
            if count > 0 {
                write!(formatter, "; left out {} {why}", units::count(count))?;
            }
        }
        Ok(())
    }
}
