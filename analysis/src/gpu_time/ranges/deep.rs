//! Sums for ranges that nest so deeply that going from each op to all names around it would take quadratic time. Names that
//! nest enclose nearly the same ops, so each name starts from those of the one before.

use std::cmp::Reverse;
use std::ops::Range;

use rtl_schema::Tables;

use super::attribution::{Attribution, Cursor};
use super::coverage::Coverage;
use super::enclosed::Enclosed;
use super::positions::{NOWHERE, Windows};
use crate::base::ops::Order;
use crate::base::union_length::to_ns;

/// Cost of covering a stretch relative to sorting it.
const COVERING: usize = 8;

/// Figures indexed by name of `attribution`.
pub(super) fn name_by_name(
    tables: &Tables,
    order: &Order,
    attribution: &Attribution,
    windows: &Windows,
) -> Vec<Enclosed> {
    let ops = Ops::new(tables, order, attribution);
    let mut enclosed = vec![Enclosed::default(); attribution.names.len()];
    let mut names: Vec<(usize, Vec<Range<u32>>)> =
        (0..).zip(windows.by_name().map(|of| ops.inside(of))).collect();
    names.retain(|(_, ops)| !ops.is_empty());
    names.sort_unstable_by_key(|(name, ops)| (ops[0].start, Reverse(ops[0].end), *name));
    let mut union = Union::of(&ops);
    for (name, rows) in names {
        enclosed[name] = Enclosed {
            ops: count(&rows) as u64,
            gpu_ns: rows.iter().map(|rows| ops.time(rows)).sum::<u128>().try_into().unwrap_or(i64::MAX),
            gpu_busy_ns: to_ns(union.length(rows)),
        };
    }
    enclosed
}

/// The ops of all GPUs by position.
struct Ops {
    positions: Vec<u32>,
    /// Start and end as places among `moments`.
    stretches: Vec<Range<u32>>,
    /// The times of all ops before each, and of all, in ns.
    times: Vec<u128>,
    /// All starts and ends in ns: the axes of the GPUs one behind the other. The last may have wrapped.
    moments: Vec<u64>,
}

impl Ops {
    fn new(tables: &Tables, order: &Order, attribution: &Attribution) -> Self {
        let mut cursor = Cursor::default();
        let mut ops: Vec<(u32, Range<u32>)> = Vec::new();
        let mut moments: Vec<u64> = Vec::new();
        for agent in &order.agents {
            let mut times: Vec<(u32, Range<u64>)> = Vec::new();
            for same in agent.in_order(tables) {
                for op in same.ops() {
                    let position = attribution.op(tables, op, &mut cursor);
                    if position != NOWHERE {
                        times.push((position, same.start..same.start.saturating_add(op.length(tables))));
                    }
                }
            }
            let mut own: Vec<u64> = times.iter().flat_map(|(_, time)| [time.start, time.end]).collect();
            own.sort_unstable();
            own.dedup();
            let before = moments.len();
            let place = |time| (before + own.partition_point(|&moment| moment < time)) as u32;
            ops.extend(
                times.into_iter().map(|(position, time)| (position, place(time.start)..place(time.end))),
            );
            let offset = moments.last().copied().unwrap_or(0);
            let begin = own.first().copied().unwrap_or(0);
            moments.extend(own.into_iter().map(|moment| offset.wrapping_add(moment - begin)));
        }
        ops.sort_unstable_by_key(|(position, stretch)| (*position, stretch.start, stretch.end));
        let (positions, stretches): (Vec<u32>, Vec<Range<u32>>) = ops.into_iter().unzip();
        let length = |stretch: &Range<u32>| {
            u128::from(moments[stretch.end as usize].wrapping_sub(moments[stretch.start as usize]))
        };
        let mut times = vec![0];
        times.extend(stretches.iter().map(length).scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        }));
        Self { positions, stretches, times, moments }
    }

    /// The rows of the ops in windows of positions: ascending and apart.
    fn inside(&self, windows: &[Range<u32>]) -> Vec<Range<u32>> {
        let first_at = |position| self.positions.partition_point(|&of| of < position) as u32;
        let mut inside: Vec<Range<u32>> = Vec::new();
        for window in windows {
            let rows = first_at(window.start)..first_at(window.end);
            match inside.last_mut() {
                _ if rows.is_empty() => {}
                Some(last) if last.end == rows.start => last.end = rows.end,
                _ => inside.push(rows),
            }
        }
        inside
    }

    /// The sum of the times of some rows in ns.
    fn time(&self, rows: &Range<u32>) -> u128 {
        self.times[rows.end as usize] - self.times[rows.start as usize]
    }
}

/// Measures unions of ops, each from scratch or from the one that is covered, whichever costs less.
struct Union<'a> {
    ops: &'a Ops,
    coverage: Coverage<'a>,
    covered: Vec<Range<u32>>,
    /// Cost of measuring from scratch since the covered rows changed: when they could have been changed for that, the next
    /// names are likely to be near the one at hand.
    spent: usize,
}

impl<'a> Union<'a> {
    fn of(ops: &'a Ops) -> Self {
        Self { ops, coverage: Coverage::of(&ops.moments), covered: Vec::new(), spent: 0 }
    }

    /// The length of the union of some rows in ns.
    fn length(&mut self, rows: Vec<Range<u32>>) -> u64 {
        let anew = count(&rows);
        let changes = count(&self.covered).abs_diff(anew);
        let compared = self.covered.len() + rows.len();
        let budget = (self.spent + anew).saturating_sub(compared) / COVERING;
        if changes <= budget {
            let changes = differences(&self.covered, &rows);
            if changes.iter().map(|(_, rows)| rows.len()).sum::<usize>() <= budget {
                return self.cover(rows, changes);
            }
            self.spent += compared;
        }
        self.spent += anew;
        self.measured(&rows)
    }

    fn cover(&mut self, rows: Vec<Range<u32>>, changes: Vec<(bool, Range<u32>)>) -> u64 {
        for (is_new, changed) in changes {
            for stretch in &self.ops.stretches[changed.start as usize..changed.end as usize] {
                match is_new {
                    true => self.coverage.cover(stretch.clone()),
                    false => self.coverage.uncover(stretch.clone()),
                }
            }
        }
        (self.covered, self.spent) = (rows, 0);
        self.coverage.length()
    }

    fn measured(&self, rows: &[Range<u32>]) -> u64 {
        let Ops { stretches, moments, .. } = self.ops;
        let mut stretches: Vec<&Range<u32>> =
            rows.iter().flat_map(|rows| &stretches[rows.start as usize..rows.end as usize]).collect();
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        let (mut end, mut length) = (0, 0_u64);
        for stretch in stretches {
            if stretch.end > end {
                let start = stretch.start.max(end);
                end = stretch.end;
                length = length.wrapping_add(moments[end as usize].wrapping_sub(moments[start as usize]));
            }
        }
        length
    }
}

fn count(rows: &[Range<u32>]) -> usize {
    rows.iter().map(|rows| rows.len()).sum()
}

/// The rows in one of both lists, and whether it is the second.
fn differences(one: &[Range<u32>], other: &[Range<u32>]) -> Vec<(bool, Range<u32>)> {
    let edges = |rows: &[Range<u32>], is_other: bool| {
        rows.iter()
            .flat_map(|rows| [rows.start, rows.end])
            .map(move |edge| (edge, is_other))
            .collect::<Vec<_>>()
    };
    let mut edges = [edges(one, false), edges(other, true)].concat();
    edges.sort();
    let (mut inside, mut last) = ([false; 2], 0);
    let mut found = Vec::new();
    for (edge, is_other) in edges {
        if inside[0] != inside[1] && last < edge {
            found.push((inside[1], last..edge));
        }
        inside[usize::from(is_other)] ^= true;
        last = edge;
    }
    found
}
