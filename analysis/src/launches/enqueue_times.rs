//! When ops were enqueued.

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use crate::base::lookup::Lookup;
use crate::base::ops::{Op, Order};

/// How it is known when ops were enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sources {
    /// Ops with a recorded moment.
    pub enqueued: u64,
    /// Ops without one, tied to the call that launched them.
    pub called: u64,
    /// The number of ops with neither.
    pub unknown: u64,
}

impl Sources {
    /// How many ops are tied to the host.
    pub fn known(&self) -> u64 {
        self.enqueued + self.called
    }

    pub(super) fn add(&mut self, other: Self) {
        self.enqueued += other.enqueued;
        self.called += other.called;
        self.unknown += other.unknown;
    }
}

/// How an op is tied to the host. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnqueueTime {
    /// It was enqueued then.
    Enqueued(i64),
    /// It was enqueued during this call.
    Called {
        start: i64,
        end: i64,
        /// True if no op of the call starts earlier.
        first: bool,
    },
    /// No time of enqueueing is known.
    Unknown,
}

impl EnqueueTime {
    #[inline]
    pub(super) fn queued_since(self, start: i64) -> i64 {
        match self {
            Self::Enqueued(moment) => queued_since(start, Some(moment), None).unwrap_or(start),
            Self::Called { end, .. } => queued_since(start, None, Some(end)).unwrap_or(start),
            Self::Unknown => start,
        }
    }
}

/// From when on an op that starts at `start` was surely waiting: when it was enqueued, else at the latest when its call
/// `returned`. Not after its start. `None` where neither is known: it counts while it runs. All in ns.
#[inline]
#[must_use]
pub fn queued_since(start: i64, enqueued: Option<i64>, returned: Option<i64>) -> Option<i64> {
    enqueued.or(returned).map(|moment| moment.min(start))
}

/// Ties ops to the host by stored times and by the correlation ids of calls.
#[derive(Debug)]
pub(crate) struct EnqueueTimes<'a> {
    tables: &'a Tables,
    /// The rows of calls by correlation id, for each space of ids.
    calls: Vec<Lookup>,
    space_of_track: Vec<usize>,
    /// Indexed by call: the earliest start of its ops in ns.
    first: Vec<i64>,
}

impl<'a> EnqueueTimes<'a> {
    pub(crate) fn new(tables: &'a Tables, order: &Order) -> Self {
        let mut spaces: Vec<u32> = tables.processes.iter().map(|process| process.space).collect();
        spaces.sort_unstable();
        spaces.dedup();
        let space_of = |process: rtl_schema::ProcessId| {
            let space = tables.processes.get(process.index()).map_or(0, |process| process.space);
            spaces.binary_search(&space).unwrap_or(0)
        };
        let calls = &tables.api_calls;
        let mut pairs = vec![Vec::new(); spaces.len().max(1)];
        for at in 0..calls.len() {
            pairs[space_of(calls.process.get(at))].push((calls.correlation.get(at), at as u32));
        }
        // Of several calls with one id the earliest counts, in whatever order they stand.
        let time = |row: u32| (calls.start[row as usize], calls.duration.get(row as usize));
        let is_earlier = |one: u32, other: u32| time(one) < time(other);
        let calls = pairs.into_iter().map(|pairs| Lookup::choosing(pairs, is_earlier)).collect();
        let mut times = Self {
            tables,
            calls,
            space_of_track: tables.tracks.rows().iter().map(|track| space_of(track.process)).collect(),
            first: vec![i64::MAX; tables.api_calls.len()],
        };
        // Without calls nothing is tied: most traces of ops alone are large.
        let tied = if tables.api_calls.is_empty() { &[] } else { order.agents.as_slice() };
        for ops in tied {
            for op in ops.ops().filter(|op| op.enqueued(tables).is_none()) {
                if let Some(call) = times.call(op) {
                    times.first[call] = times.first[call].min(op.start(tables));
                }
            }
        }
        times
    }

    #[inline]
    pub(crate) fn call(&self, op: Op) -> Option<usize> {
        if self.first.is_empty() {
            return None;
        }
        let space = self.space_of_track[op.track(self.tables).index()];
        Some(self.calls.get(space)?.get(op.correlation(self.tables))? as usize)
    }

    /// When a call returned in ns: at its start where its end is unknown.
    #[inline]
    pub(crate) fn returned(&self, call: usize) -> i64 {
        let calls = &self.tables.api_calls;
        calls.start[call].saturating_add(calls.duration.valid(call).unwrap_or(0))
    }

    /// How `op` is tied to the host; counts it in `sources`.
    #[inline]
    pub(super) fn get(&self, op: Op, sources: &mut Sources) -> EnqueueTime {
        if let Some(moment) = op.enqueued(self.tables) {
            sources.enqueued += 1;
            return EnqueueTime::Enqueued(moment);
        }
        let Some(call) = self.call(op) else {
            sources.unknown += 1;
            return EnqueueTime::Unknown;
        };
        sources.called += 1;
        let (start, end) = (self.tables.api_calls.start[call], self.returned(call));
        EnqueueTime::Called { start, end, first: op.start(self.tables) == self.first[call] }
    }
}
