//! The ids of ranges in the merged trace. Recorders count ranges, so ids of a process mostly follow each other. Then they do so in the merged
//! trace too, and pieces need no list of new ids.

use rtl_write::RangeBlock;

use crate::read::ranges::{Extent, RangeExtents};

/// The ranges of the merged trace.
#[derive(Debug, Default)]
pub(crate) struct RangePlan {
    /// Ids that follow each other, by input and process.
    pub(crate) blocks: Vec<Vec<Option<RangeBlock>>>,
    /// The last id of a block.
    pub(crate) last: i64,
}

impl RangePlan {
    /// Plans the ranges of inputs, in whose `spaces` their processes number them.
    pub(crate) fn new(inputs: &[&RangeExtents], spaces: &[Vec<u32>]) -> Self {
        let mut extents: Vec<Extent> = Vec::new();
        let processes = spaces.iter().zip(inputs).flat_map(|(spaces, input)| spaces.iter().zip(&input.0));
        for (&space, &extent) in processes {
            let space = space as usize;
            if extents.len() <= space {
                extents.resize(space + 1, Extent::default());
            }
            extents[space].append(extent);
        }
        let mut last = 0_i64;
        let blocks: Vec<Option<RangeBlock>> = (extents.iter())
            .map(|extent| {
                let (first, end, ids) = extent.dense()?;
                let new = last + 1;
                last = last.checked_add(ids)?;
                Some(RangeBlock { first, last: end, new })
            })
            .collect();
        let block = |&space: &u32| blocks.get(space as usize).copied().flatten();
        Self { blocks: spaces.iter().map(|spaces| spaces.iter().map(block).collect()).collect(), last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtl_schema::table::{Dispatch, Range, Track};
    use rtl_schema::{ProcessId, Tables};

    /// A trace of two processes: the ids of ranges of each, and those that dispatches of the second one are in.
    fn input(ranges: [&[i64]; 2], dispatches: &[i64]) -> RangeExtents {
        let mut tables = Tables::default();
        for (ids, process) in ranges.into_iter().zip(0..) {
            let process = ProcessId(process);
            tables.ranges.extend(ids.iter().map(|&id| Range { id, process, ..Range::default() }));
        }
        let track = tables.tracks.intern(Track { process: ProcessId(1), ..Track::default() });
        for &range in dispatches {
            tables.dispatches.push(Dispatch { track, range, ..Dispatch::default() });
        }
        let mut extents = RangeExtents::default();
        extents.add(&tables);
        extents
    }

    fn blocks(inputs: &[RangeExtents; 2], spaces: &[Vec<u32>]) -> (Vec<Vec<Option<[i64; 3]>>>, i64) {
        let plan = RangePlan::new(&inputs.each_ref(), spaces);
        let ends = |block: &Option<RangeBlock>| block.map(|block| [block.first, block.last, block.new]);
        (plan.blocks.iter().map(|blocks| blocks.iter().map(ends).collect()).collect(), plan.last)
    }

    #[test]
    fn ids_of_each_process_follow_those_of_the_one_before() {
        let inputs = [input([&[3, 1, 2], &[10, 11]], &[0, 11, 12]), input([&[1], &[0]], &[0, 0])];
        let (found, last) = blocks(&inputs, &[vec![0, 1], vec![2, 3]]);
        assert_eq!(found[0], [Some([1, 3, 1]), Some([10, 12, 4])], "a dispatch is in 12");
        assert_eq!((found[1].as_slice(), last), ([Some([1, 1, 7]), None].as_slice(), 7));
    }

    #[test]
    fn ids_that_are_far_apart_are_no_block() {
        let inputs = [input([&[1, 5], &[1, 4]], &[]), input([&[i64::MIN, i64::MAX], &[]], &[7, 7])];
        let (found, last) = blocks(&inputs, &[vec![0, 1], vec![2, 3]]);
        assert_eq!((found, last), (vec![vec![None, Some([1, 4, 1])], vec![None, None]], 4));
    }

    #[test]
    fn traces_with_a_space_in_common_share_its_block() {
        let inputs = [input([&[1, 2], &[]], &[]), input([&[4], &[3]], &[])];
        let (found, last) = blocks(&inputs, &[vec![0, 1], vec![0, 0]]);
        let block = Some([1, 4, 1]);
        assert_eq!((found, last), (vec![vec![block, None], vec![block, block]], 4));
    }
}
