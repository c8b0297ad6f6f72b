//! Rows by table, counted as they are read.

use rtl_schema::Tables;

/// What is counted, in the order of [`Rows::counts`].
pub const TABLES: [&str; 14] = [
    "kernels",
    "copies",
    "barriers",
    "ranges",
    "API calls",
    "arguments",
    "launches",
    "links",
    "allocations",
    "counters",
    "monitors",
    "stack frames",
    "threads",
    "rows of other tools",
];

/// How many rows each table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rows {
    /// By [`TABLES`].
    pub counts: [u64; TABLES.len()],
}

impl Rows {
    /// Adds the rows of a piece. Threads are not among them: every piece repeats those.
    pub fn add(&mut self, piece: &Tables) {
        let others: usize = piece.opaque_tables.iter().map(|extra| extra.rows.len()).sum();
        let counts = [
            piece.dispatches.len(),
            piece.copies.len(),
            piece.barriers.len(),
            piece.ranges.len(),
            piece.api_calls.len(),
            piece.api_calls.arguments.len(),
            piece.api_calls.launches.len(),
            piece.extra_links.len(),
            piece.allocations.len(),
            piece.counters.len(),
            piece.monitors.len(),
            piece.stack_frames.len(),
            0,
            others,
        ];
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count as u64;
        }
    }

    /// Adds what stays when all pieces were given out.
    pub fn add_last(&mut self, last: &Tables) {
        self.counts[12] += last.threads.len() as u64;
    }

    /// Adds those of another trace.
    pub fn append(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
    }

    /// Each table that has rows here or in `other`: its name and both counts.
    pub fn beside(&self, other: &Self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let pairs = TABLES.into_iter().zip(self.counts).zip(other.counts);
        pairs.map(|((name, one), two)| (name, one, two)).filter(|&(_, one, two)| one + two > 0)
    }

    /// All rows.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Kernels, copies and barriers.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.counts[..3].iter().sum()
    }

    /// Ops, ranges and calls: what a trace has most of.
    #[must_use]
    pub fn ops(&self) -> u64 {
        self.counts[..5].iter().sum()
    }
}
