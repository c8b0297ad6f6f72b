//! Counts rows by table as they are read.

use rtl_schema::Tables;

/// The tables, in the order of [`Rows::counts`].
pub(crate) const TABLES: [&str; 19] = [
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
    "operators",
    "memory events",
    "Python frames",
    "collectives",
    "profiler spans",
];

/// The number of rows of each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rows {
    /// By [`TABLES`].
    pub(crate) counts: [u64; TABLES.len()],
}

impl Rows {
    /// Adds the rows of a chunk, except for threads, which every chunk repeats.
    pub(crate) fn add(&mut self, chunk: &Tables) {
        let opaque: usize = chunk.opaque_tables.iter().map(|table| table.rows.len()).sum();
        let counts = [
            chunk.dispatches.len(),
            chunk.copies.len(),
            chunk.barriers.len(),
            chunk.ranges.len(),
            chunk.api_calls.len(),
            chunk.api_calls.arguments.len(),
            chunk.api_calls.launches.len(),
            chunk.extra_links.len(),
            chunk.allocations.len(),
            chunk.counters.len(),
            chunk.monitors.len(),
            chunk.stack_frames.len(),
            0,
            opaque,
            chunk.operators.len(),
            chunk.memory_events.len(),
            chunk.python_frames.len(),
            chunk.dispatches.collective.iter().flatten().count(),
            chunk.spans.len(),
        ];
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count as u64;
        }
    }

    /// Adds the rows that remain after the last chunk.
    pub(crate) fn add_last(&mut self, last: &Tables) {
        self.counts[12] += last.threads.len() as u64;
    }

    /// Adds the counts of another trace.
    pub(crate) fn append(&mut self, other: &Self) {
        for (sum, count) in self.counts.iter_mut().zip(other.counts) {
            *sum += count;
        }
    }

    /// Each table with rows here or in `other`: its name and both counts.
    pub(crate) fn beside(&self, other: &Self) -> impl Iterator<Item = (&'static str, u64, u64)> {
        let pairs = TABLES.into_iter().zip(self.counts).zip(other.counts);
        pairs.map(|((name, one), two)| (name, one, two)).filter(|&(_, one, two)| one + two > 0)
    }

    /// The links of ops to further calls.
    pub(crate) fn links(&self) -> u64 {
        self.counts[7]
    }

    /// All rows.
    pub(crate) fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Kernels, copies and barriers.
    pub(crate) fn executed(&self) -> u64 {
        self.counts[..3].iter().sum()
    }

    /// Ops, ranges and calls.
    pub(crate) fn ops(&self) -> u64 {
        self.counts[..5].iter().sum()
    }
}
