//! How busy a GPU was over time.

use std::ops::Range;

use super::types::PARTS;

/// Adds up stretches in which a GPU was busy, in [`PARTS`] equal parts of the time of all GPUs.
#[derive(Debug)]
pub(super) struct BusyOverTime {
    from: i64,
    /// The time of all parts in ns, which is that of one in units: of these, [`PARTS`] are a nanosecond.
    length: u64,
    /// The part in which the last stretch ended, and the ns that lie wholly in it.
    part: usize,
    within: Range<i64>,
    /// Indexed by part: the ns of stretches in one part, and the units of the others.
    whole: [u64; PARTS],
    units: [u128; PARTS],
}

const UNITS: u128 = PARTS as u128;

impl BusyOverTime {
    /// Nothing yet of the time `from` a moment `to` another, in ns.
    pub(super) fn new((from, to): (i64, i64)) -> Self {
        let length = to.abs_diff(from);
        Self { from, length, part: 0, within: 0..0, whole: [0; PARTS], units: [0; PARTS] }
    }

    /// Adds a stretch, which overlaps no other.
    #[inline]
    pub(super) fn add(&mut self, start: i64, end: i64) {
        if start >= self.within.start && end <= self.within.end {
            self.whole[self.part] += end.abs_diff(start);
        } else if end > start && self.length > 0 {
            self.add_across(start, end);
        }
    }

    #[cold]
    fn add_across(&mut self, start: i64, end: i64) {
        let length = u128::from(self.length);
        let [start, end] =
            [start, end].map(|moment| u128::from(moment.abs_diff(self.from)).min(length) * UNITS);
        self.part = ((start / length) as usize).min(PARTS - 1);
        loop {
            let begin = self.part as u128 * length;
            self.units[self.part] += end.min(begin + length) - start.max(begin);
            if end <= begin + length {
                break;
            }
            self.part += 1;
        }
        let begin = self.part as u128 * length;
        let moment = |units: u128| self.from.saturating_add_unsigned(units as u64);
        self.within = moment(begin.div_ceil(UNITS))..moment((begin + length) / UNITS);
    }

    /// The part of the time that was busy, 0 to 1, in each part.
    pub(super) fn finish(self) -> [f64; PARTS] {
        let Self { length, whole, units, .. } = self;
        let share = |(whole, units): (u64, u128)| match length {
            0 => 0.0,
            length => ((u128::from(whole) * UNITS + units) as f64 / length as f64).min(1.0),
        };
        let mut shares = [0.0; PARTS];
        shares.iter_mut().zip(whole.into_iter().zip(units)).for_each(|(all, part)| *all = share(part));
        shares
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::table::{Agent, AgentKind, Dispatch, Track};
    use rtl_schema::{AgentId, Tables};

    use super::*;
    use crate::{Analysis, Categories};

    proptest! {
        #[test]
        fn shares_are_those_of_every_moment(
            ops in prop::collection::vec(
                (0_u32..2, 0_i64..10_000, prop_oneof![0_i64..30, 0_i64..2_000]),
                1..40,
            ),
        ) {
            let mut tables = Tables::default();
            let name = tables.strings.intern("gemm");
            for number in 0..2 {
                tables.agents.push(Agent { number, kind: AgentKind::Gpu, ..Agent::default() });
            }
            for &(agent, start, duration) in &ops {
                let track = tables.tracks.intern(Track { agent: AgentId(agent), ..Track::default() });
                tables.dispatches.push(Dispatch { track, name, start, duration: Some(duration), ..Dispatch::default() });
            }
            let from = ops.iter().map(|&(_, start, _)| start).min().unwrap_or(0);
            let to = ops.iter().map(|(_, start, length)| start + length).max().unwrap_or(0);
            let part = (to - from) as f64 / PARTS as f64;
            let categories = Categories::default();
            let analysis = Analysis::new(&tables, &categories);
            let sweep = analysis.sweep();
            for (gpu, shares) in sweep.gpus.iter().zip(&sweep.busy_over_time) {
                let is_busy = |moment: &i64| ops.iter().any(|&(agent, start, length)| {
                    i64::from(agent) == gpu.gpu && (start..start + length).contains(moment)
                });
                for (at, share) in shares.iter().enumerate() {
                    let within = |moment: &i64| {
                        (at as f64 * part..(at + 1) as f64 * part).contains(&((*moment - from) as f64))
                    };
                    let busy = (from..to).filter(|moment| within(moment) && is_busy(moment)).count();
                    // A nanosecond may lie in two parts.
                    prop_assert!((busy as f64 - share * part).abs() <= 2.0, "{busy} {share} {part}");
                }
            }
        }
    }
}
