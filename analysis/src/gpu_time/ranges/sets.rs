//! Sets of range names that enclose the same positions, each kept once: a training loop opens millions of ranges
//! in few combinations.

use std::ops::Range;

use super::positions::{Positions, Windows};
use crate::base::first_use::FirstUseSet;

/// More names around one position are too many to go through them for each op.
pub(super) const DEEP: usize = 64;

/// How many names all sets may have for each position.
const NAMES: usize = 8;

/// The names around each position.
#[derive(Debug)]
pub(super) struct Sets {
    of_position: Vec<u32>,
    sets: FirstUseSet<Box<[u32]>>,
}

impl Sets {
    /// Finds the sets; `None` where ranges nest deeper than `deep`, or where the sets would take more memory than
    /// the ranges.
    pub(super) fn new(positions: &Positions, windows: &Windows, deep: usize) -> Option<Self> {
        let numbered = || (0_u32..).zip(windows.by_name());
        let events = |at: fn(&Range<u32>) -> u32| {
            let mut events: Vec<(u32, u32)> = numbered()
                .flat_map(|(name, windows)| windows.iter().map(move |window| (at(window), name)))
                .collect();
            events.sort_unstable();
            events.into_iter().peekable()
        };
        let (mut opening, mut closing) = (events(|window| window.start), events(|window| window.end));
        let mut sets = FirstUseSet::from_iter([Box::default()]);
        let mut budget = NAMES * (positions.count() as usize + 1_000);
        let mut open: Vec<u32> = Vec::new();
        let mut set = 0;
        let mut of_position = Vec::with_capacity(positions.count() as usize);
        for position in 0..positions.count() {
            let mut is_other = false;
            while let Some((_, name)) = closing.next_if(|event| event.0 == position) {
                open.retain(|&other| other != name);
                is_other = true;
            }
            while let Some((_, name)) = opening.next_if(|event| event.0 == position) {
                open.insert(open.partition_point(|&other| other < name), name);
                is_other = true;
                if open.len() > deep {
                    return None;
                }
            }
            if is_other {
                set = match sets.get_index_of(open.as_slice()) {
                    Some(known) => known as u32,
                    None => {
                        budget = budget.checked_sub(open.len())?;
                        sets.insert_full(open.as_slice().into()).0 as u32
                    }
                };
            }
            of_position.push(set);
        }
        Some(Self { of_position, sets })
    }

    /// The names around a position, ascending.
    #[inline]
    pub(super) fn at(&self, position: u32) -> &[u32] {
        &self.sets[self.of_position[position as usize] as usize]
    }
}
