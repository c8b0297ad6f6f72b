//! Lanes of a track: events that overlap but must not nest are in different lanes.

/// The events that may share a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stacking {
    /// Disjoint events: ops of a queue that run at the same time do not call each other.
    Apart,
    /// Disjoint or nested events: calls and ranges of a thread.
    Nested,
}

impl Stacking {
    /// Sorts events that start together so that they need the fewest lanes: the enclosing one first where they nest,
    /// otherwise the empty one.
    pub fn order(self, duration: i64) -> i64 {
        match self {
            Self::Apart => duration,
            Self::Nested => -duration,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Lanes {
    stacking: Stacking,
    /// The ends of the open events of each lane, the innermost last.
    open: Vec<Vec<i64>>,
}

impl Lanes {
    pub fn new(stacking: Stacking) -> Self {
        Self { stacking, open: Vec::new() }
    }

    /// The first lane that has room from `start` to `end`. Starts must ascend, equal ones in [`Stacking::order`].
    pub fn place(&mut self, start: i64, end: i64) -> usize {
        for (lane, open) in self.open.iter_mut().enumerate() {
            while open.last().is_some_and(|&last| last <= start) {
                open.pop();
            }
            let fits = match (self.stacking, open.last()) {
                (_, None) => true,
                (Stacking::Apart, Some(_)) => false,
                (Stacking::Nested, Some(&outer)) => end <= outer,
            };
            if fits {
                open.push(end);
                return lane;
            }
        }
        // Most tracks have one lane, and a trace may have very many tracks.
        self.open.reserve_exact(1);
        self.open.push(vec![end]);
        self.open.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(stacking: Stacking, mut spans: Vec<(i64, i64)>) -> Vec<(usize, i64, i64)> {
        spans.sort_by_key(|&(start, end)| (start, stacking.order(end - start)));
        let mut lanes = Lanes::new(stacking);
        spans.into_iter().map(|(start, end)| (lanes.place(start, end), start, end)).collect()
    }

    #[test]
    fn ops_that_touch_share_a_lane_and_ops_that_overlap_do_not() {
        let placed = place(Stacking::Apart, vec![(0, 10), (10, 20), (15, 30), (20, 25)]);
        assert_eq!(placed, [(0, 0, 10), (0, 10, 20), (1, 15, 30), (0, 20, 25)]);
    }

    #[test]
    fn an_op_within_another_has_a_lane_of_its_own() {
        assert_eq!(place(Stacking::Apart, vec![(0, 10), (2, 5)]), [(0, 0, 10), (1, 2, 5)]);
    }

    #[test]
    fn an_empty_op_needs_no_lane_of_its_own() {
        assert_eq!(place(Stacking::Apart, vec![(5, 9), (5, 5)]), [(0, 5, 5), (0, 5, 9)]);
    }

    #[test]
    fn calls_nest_and_a_call_that_ends_late_moves_aside() {
        let placed = place(Stacking::Nested, vec![(0, 10), (0, 4), (5, 10), (6, 11)]);
        assert_eq!(placed, [(0, 0, 10), (0, 0, 4), (0, 5, 10), (1, 6, 11)]);
    }

    proptest! {
        #[test]
        fn in_a_lane_spans_are_apart_or_nested(
            spans in prop::collection::vec((0_i64..50, 0_i64..20), 0..60),
            nested in any::<bool>(),
        ) {
            let stacking = if nested { Stacking::Nested } else { Stacking::Apart };
            let placed = place(stacking, spans.into_iter().map(|(start, length)| (start, start + length)).collect());
            for (at, &(lane, start, end)) in placed.iter().enumerate() {
                for &(other, from, to) in placed[at + 1..].iter().filter(|later| later.0 == lane) {
                    prop_assert!(from >= end || nested && to <= end, "{start}..{end} and {from}..{to} in {other}");
                }
            }
        }
    }
}
