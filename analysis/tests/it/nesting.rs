//! Ranges that nest deeper than any program means to: a loop that pushes and never pops.

use std::collections::BTreeSet;

use crate::common::{analysis, call, dispatch, range};
use proptest::prelude::*;
use rtl_analysis::Analysis;
use rtl_analysis::kernels::GroupBy;
use rtl_analysis::ranges::RangeMethod;
use rtl_analysis::region::{Filter, apply};
use rtl_schema::Tables;
use rtl_schema::table::{Dispatch, RangeKind};

#[derive(Debug, Clone)]
struct Span {
    start: i64,
    end: i64,
    name: usize,
    /// `None` belongs to no thread.
    tid: Option<i64>,
}

#[derive(Debug, Clone)]
struct Op {
    gpu: u32,
    start: i64,
    length: i64,
    /// A range's or a call's number from 1 on, 0 for none.
    tie: usize,
}

fn name(number: usize) -> String {
    format!("iteration {number}")
}

/// Ranges inside each other, each of another name but for some, and others anywhere.
fn spans() -> impl Strategy<Value = Vec<Span>> {
    let inner = (0_i64..2, 0_i64..3, prop::option::weighted(0.1, 0_usize..5), 0_i64..2);
    let chains = prop::collection::vec(inner, 140..180).prop_map(|chain| {
        let mut chain: Vec<_> = chain.into_iter().enumerate().collect();
        let mut open = [(0, 400), (5, 380)];
        chain
            .drain(..)
            .map(|(number, (after, before, repeated, tid))| {
                let (start, end) = &mut open[tid as usize];
                (*start, *end) = (*start + after, *end - before);
                Span { start: *start, end: *end, name: repeated.unwrap_or(number), tid: Some(tid) }
            })
            .collect::<Vec<_>>()
    });
    let other = (0_i64..400, 0_i64..100, 0_usize..180, prop::option::weighted(0.8, 0_i64..2))
        .prop_map(|(start, length, name, tid)| Span { start, end: start + length, name, tid });
    (chains, prop::collection::vec(other, 0..20)).prop_map(|(chains, others)| [chains, others].concat())
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = (0_u32..2, 0_i64..400, 0_i64..40, 0_usize..60).prop_map(|(gpu, start, length, tie)| Op {
        gpu,
        start,
        length,
        tie,
    });
    prop::collection::vec(op, 1..60)
}

/// The thread and the moment of a call.
fn made(tie: usize) -> (i64, i64) {
    (tie as i64 % 2, tie as i64 * 7)
}

fn trace(spans: &[Span], ops: &[Op], method: RangeMethod) -> Tables {
    let mut tables = Tables::default();
    for (id, span) in (1..).zip(spans) {
        range(&mut tables, id, span.tid, &name(span.name), span.start, span.end);
        if span.tid.is_none() {
            tables.ranges.last_mut().unwrap().kind = RangeKind::Process;
        }
    }
    for op in ops {
        let tie = |wanted| if method == wanted { op.tie as i64 } else { 0 };
        let (range, correlation) = (tie(RangeMethod::Stored), tie(RangeMethod::Linked));
        let row = Dispatch {
            start: op.start,
            duration: Some(op.length),
            range,
            correlation,
            ..Dispatch::default()
        };
        dispatch(&mut tables, op.gpu, 0, row, "gemm");
    }
    if method == RangeMethod::Linked {
        for tie in 1..60 {
            let (tid, start) = made(tie);
            call(&mut tables, tid, "hipLaunchKernel", tie as i64, start, start + 3);
        }
    }
    tables
}

/// Returns whether a range encloses an op, found from these two alone.
fn encloses(span: &Span, op: &Op, spans: &[Span], method: RangeMethod) -> bool {
    let counts_on = |tid: Option<i64>| span.tid.is_none() || span.tid == tid;
    let holds = |moment: i64| span.start <= moment && moment < span.end;
    match method {
        RangeMethod::Stored => op
            .tie
            .checked_sub(1)
            .and_then(|row| spans.get(row))
            .is_some_and(|own| counts_on(own.tid) && span.start <= own.start && own.end <= span.end),
        RangeMethod::Linked => op.tie > 0 && counts_on(Some(made(op.tie).0)) && holds(made(op.tie).1),
        RangeMethod::Contained => holds(op.start),
    }
}

proptest! {
    #[test]
    fn deep_ranges_enclose_what_trying_every_pair_finds(
        spans in spans(), ops in ops(),
        method in prop::sample::select(vec![RangeMethod::Stored, RangeMethod::Linked, RangeMethod::Contained]),
    ) {
        prop_assume!(method == RangeMethod::Contained || ops.iter().any(|op| op.tie > 0));
        let tables = trace(&spans, &ops, method);
        let report = analysis(&tables).ranges().clone();
        prop_assert_eq!(&report.methods, &[method]);
        for group in &report.groups {
            let is_in = |op: &Op| {
                spans.iter().any(|span| name(span.name) == group.name && encloses(span, op, &spans, method))
            };
            let enclosed: Vec<&Op> = ops.iter().filter(|op| is_in(op)).collect();
            prop_assert_eq!(group.ops, enclosed.len() as u64, "{}", &group.name);
            prop_assert_eq!(group.gpu_ns, enclosed.iter().map(|op| op.length).sum::<i64>());
            let moments: BTreeSet<(u32, i64)> =
                enclosed.iter().flat_map(|op| (0..op.length).map(|offset| (op.gpu, op.start + offset))).collect();
            prop_assert_eq!(group.gpu_busy_ns, moments.len() as i64, "{}", &group.name);
        }
    }

    #[test]
    fn a_deep_range_as_region_keeps_the_ops_that_trying_every_pair_finds(
        spans in spans(), ops in ops(), wanted in 0_usize..70,
        method in prop::sample::select(vec![RangeMethod::Stored, RangeMethod::Linked, RangeMethod::Contained]),
    ) {
        prop_assume!(method == RangeMethod::Contained || ops.iter().any(|op| op.tie > 0));
        prop_assume!(spans.iter().any(|span| span.name == wanted));
        let mut tables = trace(&spans, &ops, method);
        apply(&mut tables, &Filter { range: Some(name(wanted)), ..Filter::default() }).unwrap();
        let is_in = |op: &&Op| {
            spans.iter().any(|span| span.name == wanted && encloses(span, op, &spans, method))
        };
        prop_assert_eq!(tables.dispatches.len(), ops.iter().filter(is_in).count());
    }
}

/// `depth` ranges without an end before that of the trace, each with one kernel; of each name `times` in a row.
fn never_popped(depth: i64, times: usize, method: RangeMethod) -> Tables {
    let spans: Vec<Span> = (0..depth)
        .map(|start| Span { start, end: 10 * depth - start, name: start as usize / times, tid: Some(0) })
        .collect();
    let mut tables = trace(&spans, &[], RangeMethod::Contained);
    for (start, tie) in (0..depth).zip(1..) {
        let [stored, linked] =
            [RangeMethod::Stored, RangeMethod::Linked].map(|wanted| (method == wanted) as i64 * tie);
        let row =
            Dispatch { start, duration: Some(2), range: stored, correlation: linked, ..Dispatch::default() };
        dispatch(&mut tables, 0, 0, row, "gemm");
        if method == RangeMethod::Linked {
            call(&mut tables, 0, "hipLaunchKernel", tie, start, start + 1);
        }
    }
    tables
}

#[test]
fn twenty_thousand_nested_ranges_are_summed_up_however_ops_are_tied_to_them() {
    const DEPTH: i64 = 20_000;
    for method in [RangeMethod::Stored, RangeMethod::Linked, RangeMethod::Contained] {
        for times in [1, 100] {
            let tables = never_popped(DEPTH, times, method);
            let analysis: Analysis = analysis(&tables);
            let report = analysis.ranges();
            assert_eq!((&*report.methods, report.groups.len()), (&[method][..], DEPTH as usize / times));
            for (from, group) in (0..).step_by(times).zip(&report.groups) {
                let ops = DEPTH - from;
                assert_eq!(group.name, name(from as usize / times));
                assert_eq!((group.ops as i64, group.gpu_ns, group.gpu_busy_ns), (ops, 2 * ops, ops + 1));
            }
            assert_eq!(analysis.groups(GroupBy::Range).len(), DEPTH as usize / times);
        }
    }
}
