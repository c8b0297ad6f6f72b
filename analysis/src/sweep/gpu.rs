//! The pass over the ops of one GPU.

use std::cmp::Reverse;

use schema::{AgentId, Durations, Tables};

use super::gaps::{Found, Gaps, Op};
use super::queues::{Queues, Watch};
use super::unions::{Class, Unions};
use super::{Gap, Gpu, GpuGaps, Suspects};
use crate::names::Names;
use crate::order::AgentOps;
use crate::{copies, labels};

/// What one GPU's pass tells.
#[derive(Debug)]
pub(super) struct Swept {
    pub(super) gpu: Gpu,
    pub(super) gaps: GpuGaps,
    pub(super) longest: Vec<Gap>,
    pub(super) overlaps: Suspects,
    pub(super) duplicates: Suspects,
}

/// Sweeps the ops of one agent. Times inside are relative to its first start, so that no sum can overflow.
pub(super) fn sweep(
    tables: &Tables,
    ops: &AgentOps,
    names: &Names<'_>,
    queues: &Queues,
    longest: usize,
) -> Swept {
    let dispatches = &tables.dispatches;
    let start_of = |op: Op| match op.copy {
        true => tables.copies[op.row as usize].start,
        false => dispatches.start[op.row as usize],
    };
    let firsts = [
        ops.dispatches.first().map(|&row| Op { copy: false, row }),
        ops.copies.first().map(|&row| Op { copy: true, row }),
    ];
    let base = firsts.into_iter().flatten().map(start_of).min().unwrap_or(0);
    let relative = |start: i64| start.wrapping_sub(base) as u64;
    let any_collective = names.any_collective();

    let mut unions = Unions::default();
    let mut gaps = Gaps::keeping(longest);
    let mut watch = Watch::new(queues);
    let mut collectives = 0;
    let mut last: Option<Op> = None;
    let (mut dispatch, mut copy) = (0, 0);
    loop {
        let next_dispatch = ops.dispatches.get(dispatch).map(|&row| dispatches.start[row as usize]);
        let next_copy = ops.copies.get(copy).map(|&row| tables.copies[row as usize].start);
        let Some(moment) = [next_dispatch, next_copy].into_iter().flatten().min() else { break };
        let start = relative(moment);
        let run = &ops.dispatches[dispatch..];
        let run = &run[..run.iter().take_while(|&&row| dispatches.start[row as usize] == moment).count()];
        let copy_run = &ops.copies[copy..];
        let copy_run = &copy_run
            [..copy_run.iter().take_while(|&&row| tables.copies[row as usize].start == moment).count()];
        dispatch += run.len();
        copy += copy_run.len();

        if let Some(before) = last
            && start > unions.end()
            && gaps.count(start - unions.end())
        {
            let starters = run.iter().map(|&row| Op { copy: false, row });
            let starters = starters.chain(copy_run.iter().map(|&row| Op { copy: true, row }));
            if let Some(after) = starters.min_by(|&one, &other| name(tables, one).cmp(name(tables, other))) {
                let length = Reverse(start - unions.end());
                gaps.remember(Found { length, start: unions.end(), before, after });
            }
        }
        for &row in run {
            let class = match any_collective && names.is_collective(dispatches.name[row as usize]) {
                true => Class::Collective,
                false => Class::Kernel,
            };
            collectives += u64::from(class == Class::Collective);
            let end = start.saturating_add(length(&dispatches.duration, row));
            last = later(tables, &unions, last, Op { copy: false, row }, end);
            unions.add(class, start, end);
        }
        watch.add(tables, run, start);
        for &row in copy_run {
            let duration = tables.copies[row as usize].duration.unwrap_or(0);
            let end = start.saturating_add(duration.unsigned_abs());
            last = later(tables, &unions, last, Op { copy: true, row }, end);
            unions.add(Class::Copy, start, end);
        }
    }

    let label = labels::agent(tables, ops.agent);
    let absolute = |moment: u64| base.saturating_add_unsigned(moment);
    let mut gpu = described(tables, ops.agent, &label);
    unions.describe(&mut gpu);
    gpu.ops = (ops.dispatches.len() + ops.copies.len()) as u64;
    gpu.dispatches = ops.dispatches.len() as u64;
    gpu.copies = ops.copies.len() as u64;
    gpu.collectives = collectives;
    gpu.start_ns = base;
    gpu.end_ns = absolute(unions.end());
    gpu.wall_ns = i64::try_from(unions.end()).unwrap_or(i64::MAX);
    gpu.idle_ns = gpu.wall_ns - gpu.busy_ns;
    gpu.busy_share = if gpu.wall_ns == 0 { 0.0 } else { gpu.busy_ns as f64 / gpu.wall_ns as f64 };

    let (buckets, found) = gaps.finish();
    let longest = found
        .into_iter()
        .map(|gap| Gap {
            gpu: gpu.gpu,
            label: label.clone(),
            start_ns: absolute(gap.start),
            duration_ns: i64::try_from(gap.length.0).unwrap_or(i64::MAX),
            before: name(tables, gap.before).to_owned(),
            after: name(tables, gap.after).to_owned(),
        })
        .collect();
    let (overlaps, duplicates) = watch.finish(tables);
    Swept { gaps: GpuGaps { gpu: gpu.gpu, label, buckets }, gpu, longest, overlaps, duplicates }
}

fn described(tables: &Tables, id: AgentId, label: &str) -> Gpu {
    let agent = tables.agents.get(id.index());
    Gpu {
        gpu: agent.map_or(-1, |agent| agent.number),
        label: label.to_owned(),
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
        false => schema::identity(tables.strings.get(tables.dispatches.name[op.row as usize])),
    }
}
