//! The complete steps of a trace: those whose work was recorded from the first launch to the last op.
//!
//! A recording begins and ends within the work of some step: a kernel that runs 48 times in eight steps has 53 calls there.
//! Figures of whole steps count an op for the step in which it was launched, and leave out ops of no step and steps in which
//! a launch lacks its ops. Where nothing ties ops to launches, an op counts for the step in which it starts, and the first and
//! the last step are left out.

use std::ops::Range;

use rtl_schema::{ProcessId, Tables};
use serde::{Deserialize, Serialize};

use crate::base::first_use::distinct;
use crate::base::ops::Op;
use crate::gpu_time::ranges::{LastTied, Methods, Repeated};
use crate::trust::{Launched, StepLaunches};

/// Ranges that come again at least this often are steps.
const LEAST: usize = 2;

/// Ops between steps count as much from this part of the time within steps.
const MUCH: i64 = 10;

/// With fewer steps, none is left when the first and the last one are left out.
const LEAST_BY_START: usize = 4;

/// Ops and time in no complete step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// Steps that are not complete.
    pub steps: usize,
    /// Dispatches and copies of such a step, or of none.
    pub ops: u64,
    /// The sum of their durations in ns.
    pub ops_ns: i64,
}

/// The longest row of complete steps that follow each other.
#[derive(Debug)]
pub struct CompleteSteps {
    repeated: Repeated,
    numbers: Range<usize>,
    left_out: LeftOut,
}

impl CompleteSteps {
    /// The complete steps; `None` where the trace has no steps, and where its ranges are not the steps of the run: complete ones
    /// have less than half of the GPU time, or a tenth of it or more was launched between them. Needs ranges, calls and links of
    /// the trace.
    pub fn of(tables: &Tables) -> Option<Self> {
        let (processes, _) = distinct(tables.tracks.rows().iter().map(|track| track.process));
        let processes: Vec<ProcessId> = processes.into_iter().collect();
        let methods = Methods::of(tables);
        let repeated = Repeated::new(&methods, &processes, LEAST)?;
        let count = processes.first().map_or(0, |&process| repeated.count(process));
        let mut is_complete = vec![true; count];
        if repeated.is_by_start() {
            if count < LEAST_BY_START {
                return None;
            }
            is_complete[0] = false;
            is_complete[count - 1] = false;
        }
        let launched = Launched::of(tables);
        if let Some(launches) = StepLaunches::new(&launched, &methods).filter(|_| !repeated.is_by_start()) {
            let numbers = is_complete.iter_mut().enumerate();
            numbers.for_each(|(number, complete)| *complete = !launches.is_lacking(number));
        }
        let numbers = longest(&is_complete)?;
        let left_out = LeftOut { steps: count - numbers.len(), ..LeftOut::default() };
        let mut steps = Self { repeated, numbers, left_out };
        let (mut inside_ns, mut between_ns) = (0_i64, 0_i64);
        let mut last = LastTied::default();
        for op in all_ops(tables) {
            let length = i64::try_from(op.length(tables)).unwrap_or(i64::MAX);
            let number = steps.repeated.of_next_op(tables, op, &mut last);
            if number.is_some_and(|number| steps.numbers.contains(&number)) {
                inside_ns = inside_ns.saturating_add(length);
                continue;
            }
            steps.left_out.ops += 1;
            steps.left_out.ops_ns = steps.left_out.ops_ns.saturating_add(length);
            if number.is_none() && steps.is_between(tables, &launched, op) {
                between_ns = between_ns.saturating_add(length);
            }
        }
        let are_steps = inside_ns >= steps.left_out.ops_ns && between_ns < inside_ns / MUCH;
        (are_steps && inside_ns > 0).then_some(steps)
    }

    /// Returns whether an op of no step was launched after the first one began and before the last one ended.
    fn is_between(&self, tables: &Tables, launched: &Launched<'_>, op: Op) -> bool {
        let process = tables.tracks.get(op.track(tables)).process;
        let call = launched.call(op.track(tables), op.correlation(tables));
        let moment = match call {
            Some(call) => tables.api_calls.start[call as usize],
            // Its launch is not in the trace.
            None if op.correlation(tables) != 0 => return false,
            None => op.start(tables),
        };
        let last = self.repeated.count(process).saturating_sub(1);
        let ends = self.repeated.span(process, 0).zip(self.repeated.span(process, last));
        ends.is_some_and(|((start, _), (_, end))| start <= moment && moment < end)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the ops in no complete step.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The name of the ranges that are the steps.
    pub fn name<'a>(&self, tables: &'a Tables) -> &'a str {
        tables.strings.get(self.repeated.name)
    }

    /// The complete step, counted from 0, that an op belongs to.
    pub(crate) fn of_op(&self, tables: &Tables, op: Op) -> Option<usize> {
        self.of_next_op(tables, op, &mut LastTied::default())
    }

    fn of_next_op(&self, tables: &Tables, op: Op, last: &mut LastTied) -> Option<usize> {
        let number = self.repeated.of_next_op(tables, op, last)?;
        self.numbers.contains(&number).then(|| number - self.numbers.start)
    }

    /// Drops all dispatches and copies that are in none of them.
    pub fn retain(&self, tables: &mut Tables) {
        let mut last = LastTied::default();
        let kept: Vec<bool> =
            all_ops(tables).map(|op| self.of_next_op(tables, op, &mut last).is_some()).collect();
        let (keep, kept) = kept.split_at(tables.dispatches.len());
        tables.dispatches.retain(keep);
        let mut kept = kept.iter().copied();
        tables.copies.retain(|_| kept.next().unwrap_or(false));
    }
}

fn all_ops(tables: &Tables) -> impl Iterator<Item = Op> + use<> {
    let dispatches = (0..tables.dispatches.len() as u32).map(|row| Op { copy: false, row });
    dispatches.chain((0..tables.copies.len() as u32).map(|row| Op { copy: true, row }))
}

/// The longest row of complete steps, of equal ones the first.
fn longest(is_complete: &[bool]) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut from = 0;
    for (number, complete) in is_complete.iter().chain([&false]).enumerate() {
        if *complete {
            continue;
        }
        if number - from > best.as_ref().map_or(0, Range::len) {
            best = Some(from..number);
        }
        from = number + 1;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_row_of_complete_steps_counts() {
        assert_eq!(longest(&[true, false, true, true, false]), Some(2..4));
        assert_eq!(longest(&[true, false, true]), Some(0..1));
        assert_eq!(longest(&[true; 3]), Some(0..3));
        assert_eq!(longest(&[false; 2]), None);
        assert_eq!(longest(&[]), None);
    }
}
