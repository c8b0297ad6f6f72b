//! The sweep over the ops of one GPU.

use std::cmp::Reverse;

use rtl_schema::Tables;

use super::busy_over_time::BusyOverTime;
use super::gaps::{Gaps, LongGap};
use super::queues::{QueueChecks, Queues};
use super::types::{Gpu, GpuGaps, PARTS, SuspiciousRows};
use super::utilization::{Class, Utilization};
use crate::base::ops::{AgentOps, Op, Simultaneous, length};
use crate::names::kernel_names::KernelNames;
use crate::names::labels::Labels;

#[derive(Debug)]
pub(super) struct GpuFigures {
    pub(super) gpu: Gpu,
    pub(super) gaps: GpuGaps,
    pub(super) longest: Vec<LongGap>,
    pub(super) busy_over_time: [f64; PARTS],
    pub(super) overlaps: SuspiciousRows,
    pub(super) overlap_ns: i64,
    pub(super) duplicates: SuspiciousRows,
}

/// Adds up the ops of one GPU in order of start.
#[derive(Debug)]
pub(super) struct GpuSweep<'a> {
    tables: &'a Tables,
    ops: &'a AgentOps,
    /// The first start in ns.
    base: i64,
    names: &'a KernelNames,
    any_collective: bool,
    utilization: Utilization,
    gaps: Gaps,
    busy: BusyOverTime,
    busy_since: u64,
    checks: QueueChecks<'a>,
    last: Option<Op>,
}

impl<'a> GpuSweep<'a> {
    pub(super) fn new(
        tables: &'a Tables,
        ops: &'a AgentOps,
        names: &'a KernelNames,
        queues: &'a Queues,
        time: (i64, i64),
        longest: usize,
    ) -> Self {
        Self {
            tables,
            ops,
            base: ops.base(tables),
            names,
            any_collective: names.any_collective(),
            utilization: Utilization::default(),
            gaps: Gaps::keeping(longest),
            busy: BusyOverTime::new(time),
            busy_since: 0,
            checks: QueueChecks::new(queues, ops.agent),
            last: None,
        }
    }

    // A call would pass each op through memory.
    #[inline(always)]
    pub(super) fn add(&mut self, same: Simultaneous<'a>) {
        let Simultaneous { start, dispatches, copies } = same;
        let (&[row], []) = (dispatches, copies) else { return self.add_several(same) };
        let op = Op { copy: false, row };
        let length = length(&self.tables.dispatches.duration, row);
        self.idle_until(start, || op);
        self.add_op(op, self.class(op), start, length);
        self.checks.add(self.tables, row, start, length);
    }

    /// Adds ops of equal start, and copies.
    #[cold]
    fn add_several(&mut self, same: Simultaneous<'a>) {
        let Simultaneous { start, dispatches, .. } = same;
        let tables = self.tables;
        let key = |op: Op| (op.name(tables), op.correlation(tables));
        if let Some(first) = same.ops().min_by(|&one, &other| key(one).cmp(&key(other))) {
            self.idle_until(start, || first);
        }
        for op in same.ops() {
            self.add_op(op, self.class(op), start, op.length(tables));
        }
        self.checks.add_simultaneous(tables, dispatches, start);
    }

    /// Records the gap before ops that start at `start`, if there is one.
    #[inline]
    fn idle_until(&mut self, start: u64, after: impl FnOnce() -> Op) {
        let end = self.utilization.end();
        if let Some(before) = self.last
            && start > end
        {
            self.end_stretch();
            self.busy_since = start;
            if self.gaps.count(start - end) {
                self.gaps.push(LongGap { length: Reverse(start - end), start: end, before, after: after() });
            }
        }
    }

    #[inline]
    fn end_stretch(&mut self) {
        let moments = [self.busy_since, self.utilization.end()];
        let [start, end] = moments.map(|moment| self.base.saturating_add_unsigned(moment));
        self.busy.add(start, end);
    }

    #[inline(always)]
    fn class(&self, op: Op) -> Class {
        let is_collective = || self.names.is_collective(self.tables.dispatches.name[op.row as usize]);
        match op.copy {
            true => Class::Copy,
            false if self.any_collective && is_collective() => Class::Collective,
            false => Class::Kernel,
        }
    }

    #[inline(always)]
    fn add_op(&mut self, op: Op, class: Class, start: u64, length: u64) {
        let end = start.saturating_add(length);
        self.note_last(op, end);
        self.utilization.add(class, start, end);
    }

    /// Keeps the op that ends last: `op`, the last so far, or of two that end together the first by name.
    #[inline]
    fn note_last(&mut self, op: Op, end: u64) {
        let last_end = self.utilization.end();
        self.last = match self.last {
            Some(last) if end < last_end => Some(last),
            Some(last) if end == last_end && last.name(self.tables) <= op.name(self.tables) => Some(last),
            _ => Some(op),
        };
    }

    pub(super) fn finish(mut self, labels: &Labels<'_>) -> GpuFigures {
        self.end_stretch();
        let Self { tables, ops, base, utilization, gaps, busy, checks, .. } = self;
        let gpu = utilization.gpu(tables, ops.agent, base);
        let (buckets, longest) = gaps.finish();
        let overlap_ns = checks.overlap_ns();
        let (overlaps, duplicates) = checks.finish(tables, labels);
        let gaps = GpuGaps { gpu: gpu.gpu, label: gpu.label.clone(), buckets };
        GpuFigures { gpu, gaps, longest, busy_over_time: busy.finish(), overlaps, overlap_ns, duplicates }
    }
}
