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

const LINKS: usize = 7;
const THREADS: usize = 12;

/// The number of rows of each table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rows {
    /// By [`TABLES`].
    pub(crate) counts: [u64; TABLES.len()],
}

impl Rows {
    /// Adds the rows of a chunk, except for threads, which every chunk repeats.
    pub(crate) fn add(&mut self, chunk: &Tables) {
        let Tables {
            info: _,
            strings: _,
            processes: _,
            threads: _,
            agents: _,
            tracks: _,
            shapes: _,
            collectives: _,
            symbols: _,
            dispatches,
            copies,
            barriers,
            api_calls,
            ranges,
            operators,
            python_frames,
            memory_events,
            spans,
            allocations,
            counters,
            monitors,
            stack_frames,
            extra_links,
            opaque_tables,
            problems: _,
        } = chunk;
        let counts = [
            dispatches.len(),
            copies.len(),
            barriers.len(),
            ranges.len(),
            api_calls.len(),
            api_calls.arguments.len(),
            api_calls.launches.len(),
            extra_links.len(),
            allocations.len(),
            counters.len(),
            monitors.len(),
            stack_frames.len(),
            0,
            opaque_tables.iter().map(|table| table.rows.len()).sum(),
            operators.len(),
            memory_events.len(),
            python_frames.len(),
            dispatches.collective.iter().flatten().count(),
            spans.len(),
        ];
        for (sum, count) in self.counts.iter_mut().zip(counts) {
            *sum += count as u64;
        }
    }

    /// Adds the rows that remain after the last chunk.
    pub(crate) fn add_last(&mut self, last: &Tables) {
        self.counts[THREADS] += last.threads.len() as u64;
    }

    pub(crate) fn sum(all: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        all.for_each(|rows| sum.append(&rows));
        sum
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
        self.counts[LINKS]
    }

    pub(crate) fn all(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The rows that a GPU executed: kernels, copies and barriers.
    pub(crate) fn executed(&self) -> u64 {
        self.counts[..3].iter().sum()
    }

    /// Ops, ranges and calls.
    pub(crate) fn ops(&self) -> u64 {
        self.counts[..5].iter().sum()
    }
}
