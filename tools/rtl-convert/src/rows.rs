//! RowCounts in, rows out, rows left out and why.

use std::path::Path;

use cli::units;
use rtl_schema::Tables;

/// What became of the rows of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCounts {
    /// All ops, calls, ranges and markers.
    pub all: u64,
    /// Left out because they have no end.
    pub without_end: u64,
    /// Left out because they end before they start.
    pub negative: u64,
    /// Left out because the format has no place for them.
    pub unsupported: u64,
}

impl RowCounts {
    /// How many ops, calls, ranges and markers a piece has.
    pub fn of(piece: &Tables) -> u64 {
        let ops = piece.dispatches.len() + piece.copies.len() + piece.barriers.len();
        (ops + piece.api_calls.len() + piece.ranges.len()) as u64
    }

    /// RowCounts that were written.
    pub fn written(&self) -> u64 {
        self.all - self.without_end - self.negative - self.unsupported
    }

    /// The line that a conversion closes with.
    pub fn summary_line(&self, output: &Path) -> String {
        let (all, kept) = (units::count(self.all), units::count(self.written()));
        let mut line = format!("Written {}: {all} rows in, {kept} out", output.display());
        for (count, why) in [
            (self.without_end, "without an end"),
            (self.negative, "that end before they start"),
            (self.unsupported, "that the format has no place for"),
        ] {
            if count > 0 {
                line.push_str(&format!("; left out {} {why}", units::count(count)));
            }
        }
        line
    }
}
