//! The first op of each queue. The question is rare, so the answer is found when it is first asked.

use std::sync::OnceLock;

use rtl_schema::Tables;
use rtl_schema::table::Track;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::ops::Op;

#[derive(Debug, Default)]
pub(super) struct QueueStarts(OnceLock<Vec<i64>>);

impl QueueStarts {
    /// True of an op that is the first one of its queue, where its process has one GPU: else it may wait for another GPU.
    pub(super) fn is_first(&self, tables: &Tables, op: Op) -> bool {
        let starts = self.0.get_or_init(|| queue_starts(tables));
        starts[op.track(tables).index()] == op.start(tables)
    }
}

/// Indexed by track: the first start of an op of its queue in ns; `i64::MIN` in processes with ops on several GPUs.
fn queue_starts(tables: &Tables) -> Vec<i64> {
    let tracks = tables.tracks.rows();
    let mut starts = vec![i64::MAX; tracks.len()];
    let copies = tables.copies.iter().map(|copy| (copy.track, copy.start));
    let ops =
        tables.dispatches.track.iter().copied().zip(tables.dispatches.start.iter().copied()).chain(copies);
    for (track, start) in ops {
        let first = &mut starts[track.index()];
        *first = start.min(*first);
    }
    let mut queues: FxHashMap<_, i64> = FxHashMap::default();
    let mut gpus: FxHashMap<_, FxHashSet<_>> = FxHashMap::default();
    for (track, &start) in tracks.iter().zip(&starts).filter(|(_, start)| **start < i64::MAX) {
        let first = queues.entry((track.process, track.agent, track.queue)).or_insert(start);
        *first = start.min(*first);
        gpus.entry(track.process).or_default().insert(track.agent);
    }
    let first_of_queue = |track: &Track| {
        let first = queues.get(&(track.process, track.agent, track.queue));
        let is_only = gpus.get(&track.process).is_some_and(|gpus| gpus.len() == 1);
        first.copied().filter(|_| is_only).unwrap_or(i64::MIN)
    };
    tracks.iter().map(first_of_queue).collect()
}
