//! How busy each GPU was over time.

use rtl_schema::Tables;

use crate::ops::{self, AgentOps, Order};

/// How many parts the time of a trace has.
pub const PARTS: usize = 24;

/// By GPU of `order`, the part of the time, 0 to 1, with an op of it running, in each of [`PARTS`] equal parts of the time
/// `from` a moment `to` another, in ns, which are those of all GPUs.
pub(crate) fn busy_over_time(tables: &Tables, order: &Order, (from, to): (i64, i64)) -> Vec<[f64; PARTS]> {
    let state = |ops: &AgentOps| (ops.base(tables), Shares::of(from, to));
    let mut gpus: Vec<(i64, Shares)> = order.agents.iter().map(state).collect();
    ops::in_order_on_threads(tables, order, &mut gpus, |(base, shares), same| {
        let start = base.saturating_add_unsigned(same.start);
        let length = same.ops().map(|op| op.length(tables)).max().unwrap_or(0);
        shares.add(start, start.saturating_add_unsigned(length));
    });
    gpus.into_iter().map(|(_, shares)| shares.finish()).collect()
}

/// Adds up intervals in order of start, each moment once.
#[derive(Debug)]
struct Shares {
    from: i64,
    /// The length of a part in ns.
    part: f64,
    /// What lies before has been added, in ns.
    until: i64,
    shares: [f64; PARTS],
}

impl Shares {
    fn of(from: i64, to: i64) -> Self {
        let part = to.abs_diff(from) as f64 / PARTS as f64;
        Self { from, part, until: from, shares: [0.0; PARTS] }
    }

    #[inline]
    fn add(&mut self, start: i64, end: i64) {
        let start = start.max(self.until);
        if end <= start || self.part <= 0.0 {
            return;
        }
        self.until = end;
        let [start, end] = [start, end].map(|moment| moment.abs_diff(self.from) as f64 / self.part);
        let first = (start as usize).min(PARTS - 1);
        for (at, share) in self.shares.iter_mut().enumerate().skip(first) {
            let begin = at as f64;
            if end <= begin {
                break;
            }
            *share += end.min(begin + 1.0) - start.max(begin);
        }
    }

    fn finish(self) -> [f64; PARTS] {
        self.shares.map(|share| share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_are_those_of_every_moment(
            mut ops in prop::collection::vec((0_i64..10_000, 0_i64..2_000), 1..12),
        ) {
            ops.sort_unstable();
            let to = ops.iter().map(|(start, length)| start + length).max().unwrap_or(0);
            let mut shares = Shares::of(0, to);
            ops.iter().for_each(|&(start, length)| shares.add(start, start + length));
            let part = to as f64 / PARTS as f64;
            let is_busy = |moment: &i64| ops.iter().any(|(start, length)| start <= moment && *moment < start + length);
            for (at, share) in shares.finish().iter().enumerate() {
                let within = |moment: &i64| (at as f64 * part..(at + 1) as f64 * part).contains(&(*moment as f64));
                let busy = (0..to).filter(|moment| within(moment) && is_busy(moment)).count();
                // A nanosecond may lie in two parts.
                prop_assert!((busy as f64 - share * part).abs() <= 2.0, "{busy} {share} {part}");
            }
        }
    }
}
