//! The ids of ranges in the file: `roctxId`. Processes number their ranges apart, so ids of different traces mean different ranges.

use rtl_schema::{Id, Tables};

/// The range ids of a process that keep their distances in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RangeBlock {
    /// The least id that the process uses.
    pub first: Id,
    /// The greatest id that the process uses.
    pub last: Id,
    /// The id in the file of the range `first`.
    pub new: i64,
}

impl RangeBlock {
    #[inline]
    pub(super) fn get(&self, range: Id) -> Option<i64> {
        self.has(range).then(|| self.new + (range - self.first))
    }

    #[inline]
    fn has(&self, range: Id) -> bool {
        (self.first..=self.last).contains(&range)
    }

    fn has_all(&self, piece: &Tables) -> bool {
        let has = |id: Id| id == 0 || self.has(id);
        piece.dispatches.range.all(has)
            && piece.copies.iter().all(|copy| has(copy.range))
            && piece.ranges.iter().all(|range| has(range.id))
    }
}

/// The ids in the file of the ranges of a piece's ops. 0 is none.
#[derive(Debug)]
pub(super) enum RangeIds {
    /// Every id grows by this much.
    Moved(i64),
    Listed(ListedRanges),
}

impl RangeIds {
    /// `None` unless all ranges of a piece are in the block of its only process.
    pub(super) fn moved(blocks: &[Option<RangeBlock>], piece: &Tables) -> Option<Self> {
        let &[Some(block)] = blocks else { return None };
        block.has_all(piece).then(|| Self::Moved(block.new.wrapping_sub(block.first)))
    }

    pub(super) fn left(&self) -> RangesLeft<'_> {
        match self {
            Self::Moved(more) => RangesLeft::Moved(*more),
            Self::Listed(list) => RangesLeft::Listed { runs: &list.runs, passed: 0 },
        }
    }
}

/// Ids in the file, in the order of ops. Memory grows with changes of the range.
#[derive(Debug, Default)]
pub(super) struct ListedRanges {
    /// Each id with its number of consecutive ops.
    runs: Vec<(i64, usize)>,
}

impl ListedRanges {
    #[inline]
    pub(super) fn push(&mut self, id: i64) {
        match self.runs.last_mut() {
            Some((last, ops)) if *last == id => *ops += 1,
            _ => self.runs.push((id, 1)),
        }
    }
}

/// A cursor over [`RangeIds`], which ops take in their order.
#[derive(Debug)]
pub(super) enum RangesLeft<'a> {
    /// Each is this much more than in the trace.
    Moved(i64),
    Listed {
        runs: &'a [(i64, usize)],
        /// How many ops of the first run have their id.
        passed: usize,
    },
}

impl RangesLeft<'_> {
    /// The id in the file of the next op's range, which the trace calls `range`.
    #[inline]
    pub(super) fn next(&mut self, range: Id) -> i64 {
        match self {
            Self::Moved(_) if range == 0 => 0,
            Self::Moved(more) => range.wrapping_add(*more),
            Self::Listed { runs, passed } => {
                let Some((&(id, ops), rest)) = runs.split_first() else { return 0 };
                *passed += 1;
                if *passed == ops {
                    (*runs, *passed) = (rest, 0);
                }
                id
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_ids_come_back_in_the_order_of_ops() {
        let all = [0, 0, 7, 7, 7, 0, 9];
        let mut list = ListedRanges::default();
        all.into_iter().for_each(|id| list.push(id));
        assert_eq!(list.runs.len(), 4);
        let ids = RangeIds::Listed(list);
        let mut left = ids.left();
        assert_eq!(all.map(|_| left.next(3)), all);
        assert_eq!(left.next(3), 0, "no op is left");
    }

    #[test]
    fn ids_of_a_block_keep_their_distances() {
        let block = RangeBlock { first: -2, last: 5, new: 100 };
        assert_eq!([-3, -2, 5, 6].map(|id| block.get(id)), [None, Some(100), Some(107), None]);
        let mut piece = Tables::default();
        piece.ranges.extend([-2, 0, 5].map(|id| rtl_schema::table::Range { id, ..Default::default() }));
        let ids = RangeIds::moved(&[Some(block)], &piece).unwrap();
        let mut left = ids.left();
        assert_eq!([-2, 0, 5].map(|id| left.next(id)), [100, 0, 107]);
        assert!(RangeIds::moved(&[Some(block), None], &piece).is_none(), "rows of two processes");
        piece.copies.push(rtl_schema::table::Copy { range: 6, ..Default::default() });
        assert!(RangeIds::moved(&[Some(block)], &piece).is_none(), "a range that the block lacks");
    }
}
