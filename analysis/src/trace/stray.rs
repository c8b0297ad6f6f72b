//! Ops whose times are absurdly far from those of all others, such as a start of 0, which is no time.
//!
//! One such op makes a wall time of hours and a busy share of nothing, so the tools that report on times set it apart when they
//! have read a trace, and say so. Tools that pass rows on keep it.

use rtl_schema::{StrayOps, Tables};

use crate::base::ops::Op;
use crate::error::time;

const SECOND: i64 = 1_000_000_000;

/// The least distance in ns from an op that has a time to the others.
const FAR: i64 = 1_000 * SECOND;

/// The least distance in ns from a start of 0 to the others: without another time a clock may begin there.
const FAR_FROM_ZERO: i64 = 60 * SECOND;

/// The least distance as a multiple of the time that the other ops take.
const TIMES: i64 = 1_000;

/// One of this many ops may be astray, and one of few.
const ONE_OF: usize = 100;

/// With fewer ops none is the exception.
const LEAST: usize = 3;

/// Returns whether this time without any op is absurd beside the time that all ops take, both in ns.
pub(crate) fn is_absurd(gap: i64, rest: i64) -> bool {
    gap >= FAR && gap / TIMES >= rest
}

/// Removes stray ops, and states them in [`rtl_schema::TraceInfo::stray`].
pub fn set_apart(tables: &mut Tables) {
    let Some(kept) = find(tables) else { return };
    let mut ops = [false, true].into_iter().flat_map(|copy| {
        let rows = if copy { tables.copies.len() } else { tables.dispatches.len() };
        (0..rows as u32).map(move |row| Op { copy, row })
    });
    let is_kept = |op: &Op| kept.contains(&op.start(tables));
    let stray: Vec<Op> = ops.by_ref().filter(|op| !is_kept(op)).collect();
    let order = |op: &Op| (op.start(tables), op.name(tables));
    let Some(&first) = stray.iter().min_by(|one, other| order(one).cmp(&order(other))) else { return };
    let (start_ns, end_ns) =
        (first.start(tables), first.start(tables).saturating_add_unsigned(first.length(tables)));
    let before_ns = match start_ns < kept.first {
        true => kept.first.saturating_sub(end_ns),
        false => kept.last.saturating_sub(start_ns),
    };
    let name = first.name(tables).to_owned();
    tables.info.stray = Some(StrayOps { count: stray.len() as u64, name, start_ns, before_ns });
    let dispatches: Vec<bool> = tables.dispatches.start.iter().map(|start| kept.contains(start)).collect();
    tables.dispatches.retain(&dispatches);
    tables.copies.retain(|copy| kept.contains(&copy.start));
}

/// States how many ops are where: `1 op starts 6999.911 s before all others`.
pub fn sentence(stray: &StrayOps) -> String {
    let (count, place) = (stray.count, if stray.before_ns < 0 { "behind" } else { "before" });
    let distance = time(stray.before_ns.saturating_abs());
    let (ops, verb) = if count == 1 { ("op", "starts") } else { ("ops", "start") };
    let zero = if stray.start_ns == 0 { ", at time 0" } else { "" };
    format!("{count} {ops} {verb} {distance} {place} all others{zero}")
}

/// The first start and the last end in ns of the ops that are not astray.
#[derive(Debug, Clone, Copy)]
struct Kept {
    first: i64,
    last: i64,
}

impl Kept {
    fn contains(&self, start: &i64) -> bool {
        (self.first..=self.last).contains(start)
    }
}

/// The time of all ops but stray ones; `None` where none is astray.
fn find(tables: &Tables) -> Option<Kept> {
    let starts =
        || tables.dispatches.start.iter().copied().chain(tables.copies.iter().map(|copy| copy.start));
    let (first, last) = (starts().min()?, starts().max()?);
    if last.saturating_sub(first) < FAR_FROM_ZERO {
        return None;
    }
    let durations = (0..tables.dispatches.len()).map(|row| tables.dispatches.duration.valid(row));
    let durations = durations.chain(tables.copies.iter().map(|copy| copy.duration));
    let mut ops: Vec<(i64, i64)> = starts()
        .zip(durations)
        .map(|(start, duration)| (start, start.saturating_add(duration.unwrap_or(0).max(0))))
        .collect();
    if ops.len() < LEAST {
        return None;
    }
    ops.sort_unstable();
    let few = (ops.len() / ONE_OF).max(1);
    // The last end of the ops before each one.
    let mut ends: Vec<i64> = Vec::with_capacity(ops.len());
    for (row, &(_, end)) in ops.iter().enumerate() {
        ends.push(row.checked_sub(1).map_or(end, |before| ends[before].max(end)));
    }
    let gap = |at: usize| ops[at].0.saturating_sub(ends[at - 1]);
    let begin = (1..=few).max_by_key(|&at| gap(at))?;
    let end = (ops.len() - few..ops.len()).max_by_key(|&at| gap(at))?;
    let time = |rows: std::ops::Range<usize>| {
        let end = ops[rows.clone()].iter().map(|&(_, end)| end).max().unwrap_or(ops[rows.start].0);
        Kept { first: ops[rows.start].0, last: end }
    };
    let length = |kept: Kept| kept.last.saturating_sub(kept.first);
    let is_zero = ops[begin - 1].0 == 0;
    let is_early = |rest: Kept| {
        is_absurd(gap(begin), length(rest))
            || is_zero && gap(begin) >= FAR_FROM_ZERO && gap(begin) / 10 >= length(rest)
    };
    let is_late = |rest: Kept| is_absurd(gap(end), length(rest));
    let inner = if begin < end { time(begin..end) } else { return None };
    match (is_early(inner), is_late(inner)) {
        (true, true) => Some(inner),
        _ if is_early(time(begin..ops.len())) => Some(time(begin..ops.len())),
        _ if is_late(time(0..end)) => Some(time(0..end)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::table::{Agent, Copy, Dispatch, Process, Track};

    use super::*;

    /// Dispatches at these seconds, of 1 ms each.
    fn at(seconds: &[i64]) -> Tables {
        let mut tables = Tables::default();
        tables.processes.push(Process::default());
        tables.agents.push(Agent::default());
        let track = tables.tracks.intern(Track::default());
        for &second in seconds {
            let name = tables.strings.intern(&format!("at_{second}"));
            let (start, duration) = (second * SECOND, Some(1_000_000));
            tables.dispatches.push(Dispatch { name, track, start, duration, ..Dispatch::default() });
        }
        tables
    }

    fn left(seconds: &[i64]) -> (Vec<i64>, Option<StrayOps>) {
        let mut tables = at(seconds);
        set_apart(&mut tables);
        (tables.dispatches.start.iter().map(|start| start / SECOND).collect(), tables.info.stray)
    }

    #[test]
    fn a_start_of_zero_or_of_another_clock_is_set_apart() {
        let (kept, stray) = left(&[0, 7_000, 7_001, 7_002]);
        assert_eq!(kept, [7_000, 7_001, 7_002]);
        let expected = StrayOps {
            count: 1,
            name: "at_0".to_owned(),
            start_ns: 0,
            before_ns: 7_000 * SECOND - 1_000_000,
        };
        assert_eq!(stray, Some(expected));
        let (kept, stray) = left(&[7_000, 2_000, 7_001, 7_002]);
        assert_eq!(
            (kept, stray.map(|stray| stray.start_ns)),
            (vec![7_000, 7_001, 7_002], Some(2_000 * SECOND))
        );
        let (kept, stray) = left(&[100, 101, 102, 99_102]);
        assert_eq!(
            (kept, stray.map(|stray| stray.before_ns)),
            (vec![100, 101, 102], Some(-99_000 * SECOND + 1_000_000))
        );
        let (kept, stray) = left(&[0, 50_000, 50_001, 99_000_000]);
        assert_eq!((kept, stray.map(|stray| stray.count)), (vec![50_000, 50_001], Some(2)));
    }

    #[test]
    fn an_op_that_is_only_early_stays() {
        // Ten minutes of loading, an hour of idleness in a run of hours, and a clock that begins with the trace.
        for seconds in [&[5, 605, 606, 607][..], &[10, 4_000, 4_100, 9_000], &[0, 30, 31, 32], &[0, 7_000]] {
            assert_eq!(left(seconds), (seconds.to_vec(), None), "{seconds:?}");
        }
    }

    #[test]
    fn a_long_op_or_many_ops_are_not_astray() {
        let mut tables = at(&[9_000, 9_001, 9_002]);
        let (start, duration) = (100 * SECOND, Some(8_899 * SECOND));
        tables.dispatches.push(Dispatch { start, duration, ..tables.dispatches.get(0) });
        set_apart(&mut tables);
        assert_eq!(tables.info.stray, None);
        assert_eq!(left(&[0, 1, 7_000, 7_001]).1, None);
    }

    #[test]
    fn copies_are_set_apart_too() {
        let mut tables = at(&[7_000, 7_001, 7_002]);
        tables.copies.push(Copy { duration: Some(5), ..Copy::default() });
        set_apart(&mut tables);
        assert_eq!((tables.copies.len(), tables.info.stray.map(|stray| stray.count)), (0, Some(1)));
    }

    proptest! {
        #[test]
        fn at_most_one_of_a_hundred_ops_or_one_at_an_end_is_left_out(
            seconds in prop::collection::vec(0_i64..100_000, 0..40),
        ) {
            let (kept, stray) = left(&seconds);
            prop_assert!(seconds.len() - kept.len() <= 2);
            prop_assert_eq!(stray.map_or(0, |stray| stray.count), (seconds.len() - kept.len()) as u64);
        }
    }
}
