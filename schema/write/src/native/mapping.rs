//! The place of a trace in a file that holds several: numbers of processes and agents, and clocks.

use rustc_hash::FxHashMap;

use super::range_ids::RangeBlock;

/// The numbers of a trace's processes and agents, and its times, in a file that holds other traces too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceMapping {
    /// The values of pid columns, by process.
    pub pids: Vec<i64>,
    /// The id space of each process in the file.
    pub spaces: Vec<u32>,
    /// True if a later part has processes of this one: it may name their ranges, so their ids are kept.
    pub continues: bool,
    /// The range ids of each process that keep their distances in the file; those of others are numbered by their first use.
    pub ranges: Vec<Option<RangeBlock>>,
    /// The values of gpuId columns, by agent: the number of a GPU, below -1 that of another agent, nothing for an unknown one.
    pub gpus: Vec<Option<i64>>,
    /// The number of a GPU in `rocpd_monitor`, by its number in the trace's own monitors.
    pub monitor_devices: FxHashMap<i64, i64>,
    /// The correction of its times.
    pub clock: ClockCorrection,
}

/// A correction of a clock by knots. Offsets between two knots lie on a straight line; beyond the outer ones they stay as they
/// are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClockCorrection(Vec<(i64, i64)>);

impl ClockCorrection {
    /// Takes knots in any order: moments and what is added to each, in ns.
    #[must_use]
    pub fn new(mut knots: Vec<(i64, i64)>) -> Self {
        knots.sort_unstable();
        knots.dedup_by_key(|&mut (at, _)| at);
        Self(knots)
    }

    /// Adds `offset` ns to every moment.
    #[must_use]
    pub fn constant(offset: i64) -> Self {
        Self(vec![(0, offset)])
    }

    /// The knots by time: a moment and what is added to it, in ns.
    #[must_use]
    pub fn knots(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// The corrected time, in ns.
    #[inline]
    #[must_use]
    pub fn apply(&self, moment: i64) -> i64 {
        apply(&self.0, moment)
    }
}

/// [`ClockCorrection::apply`] for moments that mostly follow each other: it keeps the line on which the last one was.
#[derive(Debug)]
pub(super) struct ClockCursor<'a> {
    knots: &'a [(i64, i64)],
    line: Line,
}

/// The correction between two knots, for moments behind `from` and up to `to`.
#[derive(Debug)]
struct Line {
    from: i64,
    to: i64,
    first: i64,
    /// How much more is added at the end.
    rise: i64,
}

impl Line {
    const NONE: Self = Self { from: 0, to: 0, first: 0, rise: 0 };
}

impl<'a> ClockCursor<'a> {
    pub(super) fn new(correction: Option<&'a ClockCorrection>) -> Self {
        Self { knots: correction.map_or(&[], |correction| &correction.0), line: Line::NONE }
    }

    #[inline]
    pub(super) fn at(&mut self, moment: i64) -> i64 {
        let Line { from, to, first, rise } = self.line;
        if from < moment && moment <= to {
            // No step exceeds 64 bits: see `line`.
            let more = if rise == 0 { 0 } else { rise * (moment - from) / (to - from) };
            return moment.saturating_add(first + more);
        }
        self.step(moment)
    }

    #[cold]
    fn step(&mut self, moment: i64) -> i64 {
        self.line = line(self.knots, moment).unwrap_or(Line::NONE);
        apply(self.knots, moment)
    }
}

/// The line of a moment, where no step of [`ClockCursor::at`] exceeds 64 bits.
fn line(knots: &[(i64, i64)], moment: i64) -> Option<Line> {
    let after = knots.partition_point(|&(at, _)| at < moment);
    let before = after.checked_sub(1).map(|before| knots[before]);
    Some(match (before, knots.get(after).copied()) {
        (Some((from, first)), Some((to, last))) => {
            let rise = last.checked_sub(first)?;
            rise.checked_mul(to.checked_sub(from)?)?;
            Line { from, to, first, rise }
        }
        (Some((from, first)), None) => Line { from, to: i64::MAX, first, rise: 0 },
        (None, Some((to, first))) => Line { from: i64::MIN, to, first, rise: 0 },
        (None, None) => Line { from: i64::MIN, to: i64::MAX, first: 0, rise: 0 },
    })
}

fn apply(knots: &[(i64, i64)], moment: i64) -> i64 {
    match knots {
        [] => moment,
        &[(_, offset)] => moment.saturating_add(offset),
        knots => moment.saturating_add(between(knots, moment)),
    }
}

fn between(knots: &[(i64, i64)], moment: i64) -> i64 {
    let after = knots.partition_point(|&(at, _)| at < moment);
    match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
        (Some((from, first)), Some(&(to, last))) => {
            // Wide numbers take several times as long to divide.
            narrow([first, last, from, to, moment]).unwrap_or_else(|| {
                // A clock may be off by years, as one that counts from another start is.
                let [first, last, from, to, moment] = [first, last, from, to, moment].map(i128::from);
                (first + (last - first) * (moment - from) / (to - from)) as i64
            })
        }
        (Some((_, offset)), None) | (None, Some(&(_, offset))) => offset,
        (None, None) => 0,
    }
}

/// The offset on a line at a moment, where no step of the computation exceeds 64 bits.
fn narrow([first, last, from, to, moment]: [i64; 5]) -> Option<i64> {
    let [rise, run, along] = [last.checked_sub(first)?, to.checked_sub(from)?, moment.checked_sub(from)?];
    first.checked_add(rise.checked_mul(along)?.checked_div(run)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Moments near each other, and any.
    fn moment() -> impl Strategy<Value = i64> {
        prop_oneof![4 => -50_i64..2_000, 1 => any::<i64>(), 1 => prop::sample::select(vec![i64::MIN, i64::MAX])]
    }

    proptest! {
        #[test]
        fn a_cursor_says_what_a_search_for_each_moment_says(
            knots in prop::collection::vec((moment(), moment().prop_map(|offset| offset >> 3)), 0..6),
            moments in prop::collection::vec(moment(), 0..40),
        ) {
            let correction = ClockCorrection::new(knots);
            let mut cursor = ClockCursor::new(Some(&correction));
            for moment in moments {
                prop_assert_eq!(cursor.at(moment), correction.apply(moment));
            }
        }
    }

    #[test]
    fn a_moment_between_two_knots_is_moved_by_what_lies_between() {
        let shift = ClockCorrection::new(vec![(200, 60), (100, 50)]);
        let moved = [0, 100, 150, 200, 300].map(|at| shift.apply(at) - at);
        assert_eq!(moved, [50, 50, 55, 60, 60]);
        assert_eq!(ClockCorrection::default().apply(7), 7);
        assert_eq!(ClockCorrection::constant(-3).apply(7), 4);
    }

    #[test]
    fn a_narrow_line_says_what_a_wide_one_says() {
        let mut state = 7_u64;
        let mut random = |bits: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state as i64) >> (64 - bits)
        };
        for bits in [8, 20, 32, 40, 60] {
            for _ in 0..1_000 {
                let (first, last, from, moment) = (random(bits), random(bits), random(bits), random(bits));
                let to = from.saturating_add(random(bits).saturating_abs()).max(from.saturating_add(1));
                let [a, b, c, d, e] = [first, last, from, to, moment].map(i128::from);
                if c == d {
                    continue;
                }
                let wide = a + (b - a) * (e - c) / (d - c);
                let found = narrow([first, last, from, to, moment]);
                assert!(found.is_none_or(|found| i128::from(found) == wide), "{found:?} {wide}");
                assert!(bits > 20 || found.is_some());
            }
        }
    }

    #[test]
    fn the_ends_of_time_stay_there() {
        let shift = ClockCorrection::new(vec![(i64::MIN, -1), (i64::MAX, 1)]);
        assert_eq!((shift.apply(i64::MIN), shift.apply(i64::MAX)), (i64::MIN, i64::MAX));
    }
}
