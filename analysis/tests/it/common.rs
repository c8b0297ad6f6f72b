//! A few lines of trace, written by hand.

use rtl_analysis::{Analysis, Categories};
use rtl_schema::table::{
    Agent, AgentKind, ApiCall, Copy, Direction, Dispatch, Process, Range, RangeKind, Track,
};
use rtl_schema::{AgentId, ProcessId, Tables, TrackId};

/// The analysis of a trace with the built-in categories.
pub(crate) fn analysis(tables: &Tables) -> Analysis<'_> {
    Analysis::new(tables, &Categories::default())
}

/// A kernel: `(gpu, queue, name, start, end)`.
pub(crate) fn kernel(tables: &mut Tables, gpu: u32, queue: i64, name: &str, start: i64, end: i64) {
    dispatch(
        tables,
        gpu,
        queue,
        Dispatch { start, duration: Some(end - start), ..Dispatch::default() },
        name,
    );
}

/// A dispatch with everything that `row` says, on a track of its own GPU and queue.
pub(crate) fn dispatch(tables: &mut Tables, gpu: u32, queue: i64, row: Dispatch, name: &str) {
    let track = track(tables, gpu, queue);
    let name = tables.strings.intern(name);
    tables.dispatches.push(Dispatch { track, name, ..row });
}

/// A copy of `bytes`.
pub(crate) fn copy(
    tables: &mut Tables,
    gpu: u32,
    direction: Direction,
    bytes: Option<u64>,
    start: i64,
    end: i64,
) {
    let track = track(tables, gpu, 100);
    let name = rtl_schema::NameId::NONE;
    tables.copies.push(Copy {
        name,
        track,
        direction,
        bytes,
        start,
        duration: Some(end - start),
        ..Copy::default()
    });
}

/// A range of thread `tid`.
pub(crate) fn range(tables: &mut Tables, id: i64, tid: Option<i64>, name: &str, start: i64, end: i64) {
    process(tables);
    let name = tables.strings.intern(name);
    let kind = RangeKind::Thread;
    let duration = Some(end - start);
    tables.ranges.push(Range { id, tid, name, kind, start, duration, ..Range::default() });
}

/// An API call of thread `tid`.
pub(crate) fn call(tables: &mut Tables, tid: i64, name: &str, correlation: i64, start: i64, end: i64) {
    process(tables);
    let name = tables.strings.intern(name);
    let domain = tables.strings.intern("hip");
    let duration = Some(end - start);
    tables.api_calls.push(ApiCall {
        tid: Some(tid),
        name,
        domain,
        correlation,
        start,
        duration,
        category: rtl_schema::NameId::NONE,
        args: rtl_schema::NameId::NONE,
        ..ApiCall::default()
    });
}

/// The track of a GPU and queue; both appear when first named.
pub(crate) fn track(tables: &mut Tables, gpu: u32, queue: i64) -> TrackId {
    process(tables);
    while tables.agents.len() <= gpu as usize {
        let number = tables.agents.len() as i64;
        tables.agents.push(Agent { kind: AgentKind::Gpu, number, ..Agent::default() });
    }
    tables.tracks.intern(Track { process: ProcessId(0), agent: AgentId(gpu), queue, ..Track::default() })
}

fn process(tables: &mut Tables) {
    if tables.processes.is_empty() {
        tables.processes.push(Process::default());
    }
}

/// All rows in another order, which follows from `seed`.
pub(crate) fn shuffled(tables: &Tables, seed: u64) -> Tables {
    let mut tables = tables.clone();
    let rows: Vec<Dispatch> = tables.dispatches.iter().collect();
    tables.dispatches = rtl_schema::table::Dispatches::default();
    for row in permuted(rows, seed) {
        tables.dispatches.push(row);
    }
    tables.copies = permuted(tables.copies, seed + 1);
    tables.ranges = permuted(tables.ranges, seed + 2);
    tables.api_calls = permuted(tables.api_calls.iter().collect(), seed + 3).into_iter().collect();
    tables
}

fn permuted<T>(mut rows: Vec<T>, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..rows.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        rows.swap(last, (state >> 33) as usize % (last + 1));
    }
    rows
}
