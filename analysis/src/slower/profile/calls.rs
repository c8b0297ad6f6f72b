//! One pass in launch order: the durations of every group side by side in one buffer, and wall and busy time of each GPU.

use std::ops::Range;
use std::sync::Arc;

use rtl_schema::Tables;

use super::strata::{Cell, Group, Groups, Strata};
use super::warmup::Warmup;
use crate::base::ops::{self, Op, Order};
use crate::base::stats::begins;
use crate::base::union_length::{UnionLength, to_ns};
use crate::slower::run::mix::{Calls, Mix};
use crate::slower::run::{Run, SharedSlice};

/// Durations by group, then by place, in launch order.
#[derive(Default)]
pub(super) struct CallBuffer {
    buffer: Arc<Vec<i64>>,
    /// The position among the shapes of the group of each; empty where every group has but one.
    shapes: Arc<Vec<u32>>,
    /// Groups at places that ran them, by group, then by place.
    slots: Vec<Slot>,
    /// Where each slot begins, and the end of the last.
    begins: Vec<usize>,
    /// Indexed by slot: the position among the dispatches of the place of the first call.
    first: Vec<u32>,
    /// Indexed by place.
    pub(super) wall_and_busy_ns: Vec<[i64; 2]>,
}

/// A group at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    group: usize,
    place: u32,
}

/// State of one place while its ops are visited in order.
#[derive(Default)]
struct PlaceState {
    position: usize,
    union: UnionLength,
}

pub(super) struct GroupCalls {
    pub(super) run: Run,
    pub(super) left_out: u64,
    pub(super) mix: Mix,
}

impl CallBuffer {
    pub(super) fn new(tables: &Tables, order: &Order, strata: &Strata, groups: &Groups) -> Self {
        let slot = |cell: Cell| Slot { group: groups.of_stratum[cell.stratum as usize], place: cell.place };
        let mut slots: Vec<Slot> = strata.cells().map(slot).collect();
        slots.sort_unstable();
        slots.dedup();
        let position = |cell| slots.partition_point(|other| *other < slot(cell));
        let slot_of_cell: Vec<usize> = strata.cells().map(position).collect();
        let mut counts = vec![0_usize; slots.len()];
        slot_of_cell.iter().zip(strata.calls()).for_each(|(&slot, calls)| counts[slot] += calls as usize);
        let begins = begins(&counts);
        let filled = begins[slots.len()];
        let mixed = groups.all.iter().any(Group::is_mixed);
        let shapes = if mixed { filled } else { 0 };
        let mut calls = (vec![0; filled], vec![0; shapes]);
        let mut calls_of_group = Self { begins, first: vec![0; slots.len()], slots, ..Self::default() };
        calls_of_group.fill(&mut calls, tables, order, strata, groups, &slot_of_cell);
        (calls_of_group.buffer, calls_of_group.shapes) = (Arc::new(calls.0), Arc::new(calls.1));
        calls_of_group
    }

    fn fill(
        &mut self,
        (buffer, shapes): &mut (Vec<i64>, Vec<u32>),
        tables: &Tables,
        order: &Order,
        strata: &Strata,
        groups: &Groups,
        slot_of_cell: &[usize],
    ) {
        let dispatches = &tables.dispatches;
        let mixed = !shapes.is_empty();
        let shape_of_cell: Vec<u32> =
            strata.cells().map(|cell| groups.shape_of_stratum[cell.stratum as usize]).collect();
        let mut next = self.begins.clone();
        let mut calls: Vec<(usize, i64, u32)> = Vec::new();
        let mut states: Vec<PlaceState> = Vec::new();
        states.resize_with(order.agents.len(), PlaceState::default);
        ops::in_order(tables, order, &mut states, |state, same| {
            for &row in same.copies {
                let length = Op { copy: true, row }.length(tables);
                state.union.add(same.start, same.start.saturating_add(length));
            }
            let call = |row: u32| {
                let cell = strata.cell_of_row(row);
                let duration = dispatches.duration.valid(row as usize).unwrap_or(0);
                let shape = if mixed { shape_of_cell[cell] } else { 0 };
                (slot_of_cell[cell], duration, shape)
            };
            let mut put = |(slot, duration, shape): (usize, i64, u32)| {
                state.union.add(same.start, same.start.saturating_add(duration.unsigned_abs()));
                let to = next[slot];
                if to == self.begins[slot] {
                    self.first[slot] = state.position as u32;
                }
                buffer[to] = duration;
                if mixed {
                    shapes[to] = shape;
                }
                next[slot] += 1;
            };
            if let &[row] = same.dispatches {
                put(call(row));
            } else {
                calls.clear();
                calls.extend(same.dispatches.iter().map(|&row| call(row)));
                calls.sort_unstable();
                calls.drain(..).for_each(put);
            }
            state.position += same.dispatches.len();
        });
        let figures = |state: PlaceState| [to_ns(state.union.end()), state.union.length_ns()];
        self.wall_and_busy_ns = states.into_iter().map(figures).collect();
    }

    fn slots_of(&self, group: usize) -> Range<usize> {
        let begin = |group: usize| self.slots.partition_point(|slot| slot.group < group);
        begin(group)..begin(group + 1)
    }

    /// The run of a group and its mix, without the warm-up.
    pub(super) fn run(&self, group: usize, about: &Group, warmup: Warmup) -> GroupCalls {
        let slots = self.slots_of(group);
        let all = self.begins[slots.start]..self.begins[slots.end];
        let kept: Vec<Range<usize>> = slots
            .map(|slot| self.begins[slot]..self.begins[slot + 1])
            .map(|calls| calls.start + warmup.calls(&self.buffer[calls.clone()])..calls.end)
            .collect();
        let count = kept.iter().map(Range::len).sum::<usize>();
        let left_out = (all.len() - count) as u64;
        let durations = slice(&self.buffer, all.clone(), &kept);
        let run = Run::of(&durations);
        let mix = about.mix(|| Calls { durations, shapes: slice(&self.shapes, all, &kept) });
        GroupCalls { run, left_out, mix }
    }

    /// The names before and after the first call of a group at the first place that ran it.
    pub(super) fn neighbours<'a>(
        &self,
        tables: &'a Tables,
        order: &Order,
        group: usize,
    ) -> [Option<&'a str>; 2] {
        let slot = self.slots_of(group).start;
        let Some(place) = self.slots.get(slot).filter(|slot| slot.group == group).map(|slot| slot.place)
        else {
            return [None, None];
        };
        let sorted = &order.agents[place as usize].dispatches;
        let start = |at: usize| sorted.get(at).map(|&row| tables.dispatches.start[row as usize]);
        let name =
            |at: usize| rtl_schema::identity(tables.strings.get(tables.dispatches.name[sorted[at] as usize]));
        let first = self.first[slot] as usize;
        let mut before = first;
        while before > 0 && start(before - 1) == start(first.saturating_sub(1)) {
            before -= 1;
        }
        let after = (first..sorted.len()).find(|&at| start(at) != start(first)).unwrap_or(sorted.len());
        let end = (after..sorted.len()).find(|&at| start(at) != start(after)).unwrap_or(sorted.len());
        // Of several that start together the first by name.
        [(before..first).map(name).min(), (after..end).map(name).min()]
    }
}

/// The values of `kept`, which lie in `all`; not copied where nothing is left out.
fn slice<T: Copy>(values: &Arc<Vec<T>>, all: Range<usize>, kept: &[Range<usize>]) -> SharedSlice<T> {
    let count = kept.iter().map(Range::len).sum::<usize>();
    if count == all.len() {
        return SharedSlice::new(values, all);
    }
    let mut gathered = Vec::with_capacity(count);
    kept.iter().for_each(|range| gathered.extend_from_slice(&values[range.clone()]));
    SharedSlice::from(gathered)
}
