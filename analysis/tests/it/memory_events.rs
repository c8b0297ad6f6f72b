//! Which memory events of a framework a region keeps.

use rtl_analysis::region::{Bound, Filter, apply};
use rtl_schema::table::{MemoryEvent, Process};
use rtl_schema::{AgentId, ProcessId, Tables};

use crate::common::{kernel, range};

/// Two GPUs and two ranks with kernels, and memory events at 10, 20, 30 and 40 ns.
fn trace() -> Tables {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 15);
    kernel(&mut tables, 1, 1, "gemm", 15, 20);
    kernel(&mut tables, 1, 1, "gemm", 22, 50);
    range(&mut tables, 1, Some(7), "step", 15, 35);
    tables.processes = vec![
        Process { rank: Some(0), ..Process::default() },
        Process { rank: Some(1), ..Process::default() },
    ];
    let event = |time, agent: Option<u32>, process| MemoryEvent {
        time,
        agent: agent.map(AgentId),
        process: ProcessId(process),
        tid: Some(7),
        bytes: 64,
        ..MemoryEvent::default()
    };
    tables.memory_events =
        vec![event(10, Some(0), 0), event(20, Some(1), 0), event(30, None, 0), event(40, Some(1), 1)];
    tables
}

fn kept(filter: &Filter) -> Vec<i64> {
    let mut tables = trace();
    apply(&mut tables, filter).unwrap();
    tables.memory_events.iter().map(|event| event.time).collect()
}

#[test]
fn a_window_keeps_the_memory_events_inside() {
    let (from, to) = (Some(Bound::FromStart(20)), Some(Bound::FromStart(40)));
    assert_eq!(kept(&Filter { from, ..Filter::default() }), [20, 30, 40]);
    assert_eq!(kept(&Filter { from, to, ..Filter::default() }), [20, 30]);
    assert_eq!(kept(&Filter { trim_idle: true, ..Filter::default() }), [10, 20, 30, 40]);
}

#[test]
fn a_gpu_keeps_its_memory_events_and_those_of_the_host() {
    assert_eq!(kept(&Filter { gpus: vec![0], ..Filter::default() }), [10, 30]);
    assert_eq!(kept(&Filter { gpus: vec![1], ..Filter::default() }), [20, 30, 40]);
}

#[test]
fn a_rank_keeps_its_memory_events() {
    assert_eq!(kept(&Filter { ranks: vec![0], ..Filter::default() }), [10, 20, 30]);
}

#[test]
fn a_range_keeps_the_memory_events_of_its_thread() {
    assert_eq!(kept(&Filter { range: Some("step".to_owned()), ..Filter::default() }), [20, 30]);
}
