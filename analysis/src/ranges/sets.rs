//! Sets of range names that enclose the same moments, each kept once: a training loop opens millions of ranges
//! in few combinations.

use crate::first_use::FirstUseSet;

/// The number of a set; [`EMPTY`] is the one of no ranges.
pub(super) type SetId = u32;

/// No range.
pub(super) const EMPTY: SetId = 0;

/// The names of all ranges around a moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Set {
    /// Distinct names, ascending.
    pub(super) names: Box<[u32]>,
    /// The name of the innermost range.
    pub(super) innermost: Option<u32>,
}

/// All sets met so far, by their numbers.
#[derive(Debug)]
pub(super) struct Sets(FirstUseSet<Set>);

impl Sets {
    pub(super) fn new() -> Self {
        Self(FirstUseSet::from_iter([Set::default()]))
    }

    /// A set by its number.
    #[inline]
    pub(super) fn get(&self, id: SetId) -> &Set {
        &self.0[id as usize]
    }

    /// The set of `names`, outermost first, repetitions allowed.
    pub(super) fn intern(&mut self, names: impl Iterator<Item = u32>) -> SetId {
        let mut names: Vec<u32> = names.collect();
        let innermost = names.last().copied();
        names.sort_unstable();
        names.dedup();
        self.0.insert_full(Set { names: names.into_boxed_slice(), innermost }).0 as SetId
    }
}
