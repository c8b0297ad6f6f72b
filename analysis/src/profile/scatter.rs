//! The durations of every group in launch order, side by side in one buffer.

use schema::Tables;

use super::Warmup;
use super::strata::{Groups, Strata};
use crate::compare::Run;
use crate::order::Order;

/// How many rows all GPUs go through before any goes on: see [`crate::sweep`].
const STRETCH: u32 = 1 << 15;

/// Durations by group, then by place, in launch order.
pub(super) struct Scattered {
    buffer: Vec<i64>,
    /// Where each group begins at each place, and the end of the last: `group * places + place`.
    begins: Vec<usize>,
    /// The position among the dispatches of the place of the first call, for each of `begins`.
    first: Vec<u32>,
    places: usize,
}

impl Scattered {
    pub(super) fn of(tables: &Tables, order: &Order, strata: &Strata<'_>, groups: &Groups) -> Self {
        let places = order.agents.len();
        let slots = groups.len() * places;
        let mut counts = vec![0_usize; slots];
        for place in 0..places {
            for stratum in 0..strata.len() {
                counts[groups.of_stratum[stratum] * places + place] += strata.calls(place, stratum) as usize;
            }
        }
        let mut begins = Vec::with_capacity(slots + 1);
        let mut filled = 0;
        begins.push(0);
        for count in counts {
            filled += count;
            begins.push(filled);
        }
        let mut scattered = Self { buffer: vec![0; filled], begins, first: vec![0; slots], places };
        let by_launch = groups.all.iter().any(|group| group.launch.is_some());
        if by_launch {
            scattered.fill(tables, order, |row| groups.of_stratum[strata.stratum(row)]);
        } else {
            let mut group_of_kernel = Vec::new();
            for (group, about) in groups.all.iter().enumerate() {
                if group_of_kernel.len() <= about.kernel {
                    group_of_kernel.resize(about.kernel + 1, 0);
                }
                group_of_kernel[about.kernel] = group;
            }
            scattered.fill(tables, order, |row| group_of_kernel[strata.kernel(row)]);
        }
        scattered
    }

    fn fill(&mut self, tables: &Tables, order: &Order, group_of: impl Fn(usize) -> usize) {
        let dispatches = &tables.dispatches;
        let mut next = self.begins.clone();
        let mut at = vec![0_usize; self.places];
        let mut together: Vec<(usize, i64)> = Vec::new();
        let rows = u32::try_from(dispatches.len()).unwrap_or(u32::MAX);
        for stretch in (0..rows).step_by(STRETCH as usize) {
            let limit = stretch.saturating_add(STRETCH);
            let limit = if limit >= rows { u32::MAX } else { limit };
            for (place, ops) in order.agents.iter().enumerate() {
                let sorted = &ops.dispatches;
                while let Some(&row) = sorted.get(at[place]).filter(|&&row| row < limit) {
                    let start = dispatches.start[row as usize];
                    // The order of equal starts is open, and what is found must not depend on it.
                    together.clear();
                    let same = sorted[at[place]..]
                        .iter()
                        .take_while(|&&row| dispatches.start[row as usize] == start);
                    for &row in same {
                        let duration = dispatches.duration.valid(row as usize).unwrap_or(0);
                        together.push((group_of(row as usize), duration));
                    }
                    if together.len() > 1 {
                        together.sort_unstable();
                    }
                    for &(group, duration) in &together {
                        let slot = group * self.places + place;
                        if next[slot] == self.begins[slot] {
                            self.first[slot] = at[place] as u32;
                        }
                        self.buffer[next[slot]] = duration;
                        next[slot] += 1;
                    }
                    at[place] += together.len();
                }
            }
        }
    }

    /// The run of a group, and how many calls were left out as warm-up.
    pub(super) fn run(&self, group: usize, warmup: Warmup) -> (Run, u64) {
        let slots = group * self.places..(group + 1) * self.places;
        let durations = &self.buffer[self.begins[slots.start]..self.begins[slots.end]];
        if warmup == Warmup::Keep {
            return (Run::of(durations), 0);
        }
        let mut kept = Vec::with_capacity(durations.len());
        for slot in slots {
            let durations = &self.buffer[self.begins[slot]..self.begins[slot + 1]];
            kept.extend_from_slice(&durations[warmup.calls(durations)..]);
        }
        (Run::of(&kept), (durations.len() - kept.len()) as u64)
    }

    /// The names before and after the first call of a group at the first place that ran it.
    pub(super) fn neighbours<'a>(
        &self,
        tables: &'a Tables,
        order: &Order,
        group: usize,
    ) -> [Option<&'a str>; 2] {
        let slots = group * self.places..(group + 1) * self.places;
        let Some(slot) = slots.clone().find(|&slot| self.begins[slot + 1] > self.begins[slot]) else {
            return [None, None];
        };
        let sorted = &order.agents[slot - slots.start].dispatches;
        let start = |at: usize| sorted.get(at).map(|&row| tables.dispatches.start[row as usize]);
        let name =
            |at: usize| schema::identity(tables.strings.get(tables.dispatches.name[sorted[at] as usize]));
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
