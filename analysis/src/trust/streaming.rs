//! The verdict on a trace that arrives in chunks: by the rules that look at no two rows together, or by all if it is one chunk.

use rtl_schema::{NameId, ProcessId, Tables, TraceInfo};
use rustc_hash::FxHashMap;

use super::launched::Function;
use super::{Health, counters, cut_off, health, lite, losses, nothing};
use crate::{Analysis, Categories};

/// The rules that a trace in several chunks is not examined by: they tie launches to ops, or compare rows of a queue.
pub const UNEXAMINED: [&str; 16] = [
    "capture-only",
    "graphs-incomplete",
    "steps-incomplete",
    "kernels-missing",
    "sampled",
    "holes",
    "duplicates",
    "far-apart",
    "gpu-before-launch",
    "clocks-apart",
    "copies-missing",
    "profiler-cost",
    "overlaps",
    "window-start",
    "late-start",
    "window-end",
];

/// The counts that decide: memory does not grow with the rows.
#[derive(Debug, Default)]
pub struct StreamingHealth {
    is_one_chunk: bool,
    whole: Option<Health>,
    ops: u64,
    host_rows: u64,
    launches: FxHashMap<(ProcessId, NameId), u64>,
    /// Indexed by name, once a call has carried it: whether a function of this name launches work.
    launching: FxHashMap<NameId, bool>,
}

impl StreamingHealth {
    /// Nothing yet of a trace; of one chunk is one that its reader holds as a whole.
    #[must_use]
    pub fn new(is_one_chunk: bool) -> Self {
        Self { is_one_chunk, ..Self::default() }
    }

    /// The rules that the trace is not examined by.
    #[must_use]
    pub fn unexamined(&self) -> &'static [&'static str] {
        if self.is_one_chunk { &[] } else { &UNEXAMINED }
    }

    /// Counts the dispatches and copies of a chunk. An only chunk needs its calls, ranges and links as well.
    pub fn add_ops(&mut self, chunk: &Tables) {
        if self.is_one_chunk {
            self.whole = Some(health(&Analysis::new(chunk, &Categories::default()), None));
            return;
        }
        self.ops += (chunk.dispatches.len() + chunk.copies.len()) as u64;
    }

    /// Counts the calls and ranges of a chunk.
    pub fn add_host_rows(&mut self, chunk: &Tables) {
        if self.is_one_chunk {
            return;
        }
        let calls = &chunk.api_calls;
        self.host_rows += (calls.len() + chunk.ranges.len()) as u64;
        for row in (0..calls.len()).filter(|&row| calls.result.get(row) == 0) {
            let name = calls.name[row];
            let launching = self.launching.entry(name).or_insert_with(|| {
                let text = if name.is_some() { chunk.strings.get(name) } else { "" };
                Function::of(text).launches()
            });
            if *launching {
                *self.launches.entry((calls.process.get(row), name)).or_default() += 1;
            }
        }
    }

    /// Returns whether the verdict depends on calls and ranges.
    #[must_use]
    pub fn needs_host_rows(&self, info: &TraceInfo) -> bool {
        !self.is_one_chunk && (self.ops == 0 || losses::lost(info) > 0)
    }

    /// The verdict, as far as these rules go.
    #[must_use]
    pub fn finish(&self, info: &TraceInfo) -> Health {
        if let Some(health) = &self.whole {
            return health.clone();
        }
        // Calls of the runtime lead to calls of the driver, so functions of one process are not added up.
        let launches = self.launches.values().copied().max().unwrap_or(0);
        let reasons = [
            (self.ops == 0).then(|| nothing::of_launches(launches)),
            losses::of_counts(info, self.ops + self.host_rows),
            cut_off::reason(info),
            lite::reason(info),
            counters::reason(info),
        ];
        Health::of(reasons.into_iter().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::Dialect;
    use rtl_schema::table::{Agent, ApiCall, Dispatch, Process, Range, Track};

    use super::*;
    use crate::trust::Trust;

    fn streamed(tables: &Tables) -> Health {
        let mut health = StreamingHealth::default();
        health.add_ops(tables);
        health.add_host_rows(tables);
        health.finish(&tables.info)
    }

    fn verdict(health: &Health) -> Vec<(String, Trust, u64, u64, String)> {
        let all = health.reasons.iter();
        all.map(|reason| (reason.id.clone(), reason.trust, reason.count, reason.of, reason.sentence.clone()))
            .collect()
    }

    #[test]
    fn a_trace_in_chunks_has_the_verdict_of_the_whole() {
        let mut tables = Tables { ranges: vec![Range::default(); 90], ..Tables::default() };
        tables.info.dialect = Dialect::Native;
        tables.info.losses = vec![("full".to_owned(), 9)];
        tables.info.mode = Some("lite".to_owned());
        tables.info.metadata = vec![("complete".to_owned(), "0".to_owned())];
        for ops in [0, 1] {
            for _ in 0..ops {
                tables.processes.push(Process::default());
                tables.agents.push(Agent::default());
                let (name, track) = (tables.strings.intern("gemm"), tables.tracks.intern(Track::default()));
                let duration = Some(5);
                tables.dispatches.push(Dispatch { name, track, duration, ..Dispatch::default() });
            }
            let whole = health(&Analysis::new(&tables, &Categories::default()), None);
            assert_eq!(verdict(&streamed(&tables)), verdict(&whole));
        }
    }

    #[test]
    fn an_only_chunk_is_examined_by_all_rules() {
        let mut tables = Tables::default();
        tables.processes.push(Process::default());
        tables.agents.push(Agent::default());
        let (name, track) = (tables.strings.intern("gemm"), tables.tracks.intern(Track::default()));
        for start in [0, 0, 5] {
            tables.dispatches.push(Dispatch { name, track, start, duration: Some(5), ..Dispatch::default() });
        }
        let mut streaming = StreamingHealth::new(true);
        assert_eq!(streaming.unexamined(), [""; 0]);
        streaming.add_ops(&tables);
        streaming.add_host_rows(&tables);
        assert!(!streaming.needs_host_rows(&tables.info));
        let found = streaming.finish(&tables.info);
        assert!(found.reasons.iter().any(|reason| reason.id == "duplicates"), "{found:?}");
        assert_eq!(found, health(&Analysis::new(&tables, &Categories::default()), None));
    }

    #[test]
    fn launches_without_any_op_make_a_trace_bad() {
        let mut tables = Tables::default();
        assert_eq!(streamed(&tables).trust, Trust::Limited);
        for (name, count) in [("hipLaunchKernel", 3), ("hipMalloc", 5)] {
            let name = tables.strings.intern(name);
            (0..count).for_each(|_| tables.api_calls.push(ApiCall { name, ..ApiCall::default() }));
        }
        let health = streamed(&tables);
        assert_eq!((health.trust, health.reasons[0].count), (Trust::Bad, 3));
    }
}
