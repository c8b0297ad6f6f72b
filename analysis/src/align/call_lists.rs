//! The calls of the collectives of a group.

use std::ops::Range;

/// For each collective the member and the call of all that take part, in the order of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallLists {
    /// By collective, where its calls end and those of the next one begin.
    ends: Vec<usize>,
    calls: Vec<(u32, u32)>,
}

impl CallLists {
    /// The lists where each member states the number of the collective of each of its calls, and each number has a position.
    pub(super) fn of(position_of: &[u32], numbers_of: &[Vec<u32>]) -> Self {
        let position = |number: u32| position_of[number as usize] as usize;
        let mut ends = vec![0; position_of.len()];
        numbers_of.iter().flatten().for_each(|&number| ends[position(number)] += 1);
        // From counts to beginnings, which become ends as calls are put behind each other.
        let mut all = 0;
        for end in &mut ends {
            all += std::mem::replace(end, all);
        }
        let mut calls = vec![(0, 0); all];
        for (member, numbers) in (0..).zip(numbers_of) {
            for (call, &number) in (0..).zip(numbers) {
                let end = &mut ends[position(number)];
                calls[*end] = (member, call);
                *end += 1;
            }
        }
        Self { ends, calls }
    }

    /// The number of collectives.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The calls of each collective.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &[(u32, u32)]> + ExactSizeIterator {
        self.within(0..self.len())
    }

    /// The same of some of them.
    pub(super) fn within(
        &self,
        collectives: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = &[(u32, u32)]> + ExactSizeIterator {
        let begin = |at: usize| at.checked_sub(1).map_or(0, |before| self.ends[before]);
        collectives.map(move |at| &self.calls[begin(at)..self.ends[at]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_stand_by_collective_in_the_order_of_members() {
        let lists = CallLists::of(&[1, 0, 3, 2], &[vec![0, 1], vec![1, 3, 0], vec![2, 1]]);
        let all: Vec<&[(u32, u32)]> = lists.iter().collect();
        assert_eq!(
            all,
            [&[(0, 1), (1, 0), (2, 1)][..], &[(0, 0), (1, 2)], &[(1, 1)], &[(2, 0)]],
            "two collectives of several members, then two of one"
        );
        assert_eq!(lists.within(1..3).collect::<Vec<_>>(), all[1..3]);
        assert_eq!(CallLists::of(&[], &[]).len(), 0);
    }
}
