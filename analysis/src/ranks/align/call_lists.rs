//! The calls of the collectives of a group.

use std::ops::Range;

use crate::base::parallel;

/// The member and the call of all that take part in each collective, in the order of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallLists {
    /// Indexed by collective: where its calls end and those of the next one begin.
    ends: Vec<usize>,
    calls: Vec<(u32, u32)>,
}

impl CallLists {
    /// The lists where each member states the number of the collective of each of its calls, and each number has a position.
    pub(super) fn new(position_of: &[u32], numbers_of: &[Vec<u32>]) -> Self {
        let (collectives, all) = (position_of.len(), numbers_of.iter().map(Vec::len).sum());
        let length = collectives.div_ceil(parallel::shares(all)).max(1);
        let firsts = || (0..collectives).step_by(length);
        // A part of the collectives is a part of the lists: each thread reads all calls, and keeps those of its part.
        let of_part = |first: usize, number: u32| (position_of[number as usize] as usize).wrapping_sub(first);
        let counts = |first: usize| {
            let mut counts = vec![0; length.min(collectives - first)];
            for &number in numbers_of.iter().flatten() {
                if let Some(count) = counts.get_mut(of_part(first, number)) {
                    *count += 1;
                }
            }
            counts
        };
        let mut ends: Vec<usize> = threads::map(firsts(), counts).concat();
        // From counts to beginnings, which become ends as calls are put behind each other.
        let mut begin = 0;
        for end in &mut ends {
            begin += std::mem::replace(end, begin);
        }
        let mut calls = vec![(0, 0); all];
        let begins: Vec<usize> = firsts().map(|first| ends[first]).chain([all]).collect();
        let mut rest = calls.as_mut_slice();
        let parts =
            begins.windows(2).zip(ends.chunks_mut(length)).zip(firsts()).map(|((bounds, ends), first)| {
                let (calls, behind) = std::mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
                rest = behind;
                (first, bounds[0], ends, calls)
            });
        threads::map(parts, |(first, begin, ends, calls)| {
            for (member, numbers) in (0..).zip(numbers_of) {
                for (call, &number) in (0..).zip(numbers) {
                    if let Some(end) = ends.get_mut(of_part(first, number)) {
                        calls[*end - begin] = (member, call);
                        *end += 1;
                    }
                }
            }
        });
        Self { ends, calls }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &[(u32, u32)]> + ExactSizeIterator {
        self.within(0..self.len())
    }

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
    use std::num::NonZero;

    use super::*;

    #[test]
    fn calls_stand_by_collective_in_the_order_of_members() {
        let lists = CallLists::new(&[1, 0, 3, 2], &[vec![0, 1], vec![1, 3, 0], vec![2, 1]]);
        let all: Vec<&[(u32, u32)]> = lists.iter().collect();
        assert_eq!(
            all,
            [&[(0, 1), (1, 0), (2, 1)][..], &[(0, 0), (1, 2)], &[(1, 1)], &[(2, 0)]],
            "two collectives of several members, then two of one"
        );
        assert_eq!(lists.within(1..3).collect::<Vec<_>>(), all[1..3]);
        assert_eq!(CallLists::new(&[], &[]).len(), 0);
    }

    #[test]
    fn lists_are_the_same_with_any_number_of_threads() {
        // 35 members lack every seventh collective, and positions are not those of the numbers.
        let collectives = 7_000_u32;
        let position_of: Vec<u32> = (0..collectives).map(|number| (number * 3_001) % collectives).collect();
        let of_member =
            |member: u32| (0..collectives).filter(move |number| !(number + member).is_multiple_of(7));
        let numbers_of: Vec<Vec<u32>> = (0..35).map(|member| of_member(member).collect()).collect();
        let lists = |limit| {
            threads::set_limit(NonZero::new(limit).unwrap());
            assert_eq!(parallel::shares(7_000 * 30), limit, "enough calls for all threads");
            CallLists::new(&position_of, &numbers_of)
        };
        let alone = lists(1);
        assert_eq!(alone.within(0..2).map(<[_]>::len).sum::<usize>(), 60);
        for limit in [2, 3, 16] {
            assert_eq!(lists(limit), alone, "{limit} threads");
        }
    }
}
