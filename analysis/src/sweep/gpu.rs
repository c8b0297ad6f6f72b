//! The pass over the ops of one GPU.

use std::cmp::Reverse;

use rtl_schema::{AgentId, Durations, Tables};

use super::gaps::{Found, Gaps, Op};
use super::queues::{Queues, Watch};
use super::unions::{Class, Unions};
use super::{Gap, Gpu, GpuGaps, SuspiciousRows};
use crate::names::Names;
use crate::order::AgentOps;
use crate::{copies, labels};

/// What one GPU's pass tells.
#[derive(Debug)]
pub(super) struct Swept {
    pub(super) gpu: Gpu,
    pub(super) gaps: GpuGaps,
    pub(super) longest: Vec<Gap>,
    pub(super) overlaps: SuspiciousRows,
    pub(super) duplicates: SuspiciousRows,
}

/// The sweep over the ops of one agent, resumable so that the sweeps of all agents can go through the rows
/// side by side. Times inside are relative to the agent's first start, so that no sum can overflow.
#[derive(Debug)]
pub(super) struct Sweeper<'a> {
    tables: &'a Tables,
    ops: &'a AgentOps,
    names: &'a Names<'a>,
    any_collective: bool,
    base: i64,
    dispatch: usize,
    copy: usize,
    /// The start of the next copy, `i64::MAX` behind the last.
    next_copy: i64,
    unions: Unions,
    gaps: Gaps,
    watch: Watch<'a>,
    collectives: u64,
    last: Option<Op>,
}

impl<'a> Sweeper<'a> {
    pub(super) fn new(
        tables: &'a Tables,
        ops: &'a AgentOps,
        names: &'a Names<'a>,
        queues: &'a Queues,
        longest: usize,
    ) -> Self {
        let dispatch = ops.dispatches.first().map(|&row| tables.dispatches.start[row as usize]);
        let next_copy = start_of_copy(tables, ops, 0);
        Self {
            tables,
            ops,
            names,
            any_collective: names.any_collective(),
            base: dispatch.map_or(next_copy, |dispatch| dispatch.min(next_copy)),
            dispatch: 0,
            copy: 0,
            next_copy,
            unions: Unions::default(),
            gaps: Gaps::keeping(longest),
            watch: Watch::new(queues),
            collectives: 0,
            last: None,
        }
    }

    /// Goes on up to the first dispatch whose row is not below `limit`; `u32::MAX` goes to the end.
    pub(super) fn advance(&mut self, limit: u32) {
        let dispatches = &self.tables.dispatches;
        let start_of = |row: u32| dispatches.start[row as usize];
        let rows = &self.ops.dispatches;
        while let Some(&row) = rows.get(self.dispatch).filter(|&&row| row < limit) {
            let moment = start_of(row);
            if self.next_copy <= moment {
                self.step(self.next_copy);
                continue;
            }
            match rows.get(self.dispatch + 1) {
                // More start at this moment: what is found must not depend on their order.
                Some(&next) if start_of(next) == moment => self.step(moment),
                _ => {
                    self.dispatch += 1;
                    let start = moment.wrapping_sub(self.base) as u64;
                    self.idle_until(start, || Op { copy: false, row });
                    self.add_dispatch(row, start);
                    self.watch.add(self.tables, &[row], start);
                }
            }
        }
        while limit == u32::MAX && self.next_copy < i64::MAX {
            self.step(self.next_copy);
        }
    }

    /// Adds all ops that start at `moment`, the earliest there are.
    fn step(&mut self, moment: i64) {
        let (tables, ops) = (self.tables, self.ops);
        let start_of = |row: u32| tables.dispatches.start[row as usize];
        let run = &ops.dispatches[self.dispatch..];
        let run = &run[..run.iter().take_while(|&&row| start_of(row) == moment).count()];
        let copy_run = &ops.copies[self.copy..];
        let same = |row: &&u32| tables.copies[**row as usize].start == moment;
        let copy_run = &copy_run[..copy_run.iter().take_while(same).count()];
        self.dispatch += run.len();
        self.copy += copy_run.len();
        self.next_copy = start_of_copy(tables, ops, self.copy);

        let start = moment.wrapping_sub(self.base) as u64;
        let starters = run.iter().map(|&row| Op { copy: false, row });
        let starters = starters.chain(copy_run.iter().map(|&row| Op { copy: true, row }));
        let by_name = |one: &Op, other: &Op| name(tables, *one).cmp(name(tables, *other));
        if let Some(first) = starters.min_by(by_name) {
            self.idle_until(start, || first);
        }
        for &row in run {
            self.add_dispatch(row, start);
        }
        self.watch.add(tables, run, start);
        for &row in copy_run {
            let duration = tables.copies[row as usize].duration.unwrap_or(0);
            let end = start.saturating_add(duration.unsigned_abs());
            self.last = later(tables, &self.unions, self.last, Op { copy: true, row }, end);
            self.unions.add(Class::Copy, start, end);
        }
    }

    /// Notes the gap before ops that start at `start`, if there is one.
    #[inline]
    fn idle_until(&mut self, start: u64, after: impl FnOnce() -> Op) {
        let end = self.unions.end();
        if let Some(before) = self.last
            && start > end
            && self.gaps.count(start - end)
        {
            self.gaps.remember(Found { length: Reverse(start - end), start: end, before, after: after() });
        }
    }

    #[inline]
    fn add_dispatch(&mut self, row: u32, start: u64) {
        let dispatches = &self.tables.dispatches;
        let class = match self.any_collective && self.names.is_collective(dispatches.name[row as usize]) {
            true => Class::Collective,
            false => Class::Kernel,
        };
        self.collectives += u64::from(class == Class::Collective);
        let end = start.saturating_add(length(&dispatches.duration, row));
        self.last = later(self.tables, &self.unions, self.last, Op { copy: false, row }, end);
        self.unions.add(class, start, end);
    }

    /// Goes to the end and tells what was found.
    pub(super) fn finish(mut self) -> Swept {
        self.advance(u32::MAX);
        let Self { tables, ops, base, unions, gaps, watch, collectives, .. } = self;
        let absolute = |moment: u64| base.saturating_add_unsigned(moment);
        let mut gpu = described(tables, ops.agent);
        unions.describe(&mut gpu, base);
        gpu.ops = (ops.dispatches.len() + ops.copies.len()) as u64;
        gpu.dispatches = ops.dispatches.len() as u64;
        gpu.copies = ops.copies.len() as u64;
        gpu.collectives = collectives;

        let (buckets, found) = gaps.finish();
        let longest = found
            .into_iter()
            .map(|gap| Gap {
                gpu: gpu.gpu,
                label: gpu.label.clone(),
                start_ns: absolute(gap.start),
                duration_ns: i64::try_from(gap.length.0).unwrap_or(i64::MAX),
                before: name(tables, gap.before).to_owned(),
                after: name(tables, gap.after).to_owned(),
            })
            .collect();
        let (overlaps, duplicates) = watch.finish(tables);
        Swept {
            gaps: GpuGaps { gpu: gpu.gpu, label: gpu.label.clone(), buckets },
            gpu,
            longest,
            overlaps,
            duplicates,
        }
    }
}

/// The start of the agent's copy at `position`, `i64::MAX` behind the last.
fn start_of_copy(tables: &Tables, ops: &AgentOps, position: usize) -> i64 {
    ops.copies.get(position).map_or(i64::MAX, |&row| tables.copies[row as usize].start)
}

/// A GPU without its figures.
pub(crate) fn described(tables: &Tables, id: AgentId) -> Gpu {
    let agent = tables.agents.get(id.index());
    Gpu {
        gpu: agent.map_or(-1, |agent| agent.number),
        label: labels::agent(tables, id),
        product: agent.and_then(|agent| agent.product.clone()),
        ..Gpu::default()
    }
}

/// The op that ends last: the new one, the one so far, or of two that end together the first by name.
#[inline]
fn later(tables: &Tables, unions: &Unions, last: Option<Op>, op: Op, end: u64) -> Option<Op> {
    match last {
        Some(last) if end < unions.end() => Some(last),
        Some(last) if end == unions.end() && name(tables, last) <= name(tables, op) => Some(last),
        _ => Some(op),
    }
}

/// The length of a dispatch that is known to have one.
#[inline]
pub(super) fn length(durations: &Durations, row: u32) -> u64 {
    match durations.short()[row as usize] {
        u32::MAX => durations.valid(row as usize).map_or(0, i64::unsigned_abs),
        short => u64::from(short),
    }
}

fn name(tables: &Tables, op: Op) -> &str {
    match op.copy {
        true => copies::name(tables, &tables.copies[op.row as usize]),
        false => rtl_schema::identity(tables.strings.get(tables.dispatches.name[op.row as usize])),
    }
}
