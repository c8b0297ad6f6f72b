//! Sets of range names that enclose the same moments, each kept once: a training loop opens millions of ranges
//! in few combinations.

use rustc_hash::FxHashMap;

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

/// All sets met so far.
#[derive(Debug)]
pub(super) struct Sets {
    pub(super) rows: Vec<Set>,
    index: FxHashMap<Set, SetId>,
}

impl Sets {
    pub(super) fn new() -> Self {
        Self { rows: vec![Set::default()], index: FxHashMap::from_iter([(Set::default(), EMPTY)]) }
    }

    /// The set of `names`, outermost first, repetitions allowed.
    pub(super) fn intern(&mut self, names: impl Iterator<Item = u32>) -> SetId {
        let mut names: Vec<u32> = names.collect();
        let innermost = names.last().copied();
        names.sort_unstable();
        names.dedup();
        let set = Set { names: names.into_boxed_slice(), innermost };
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let id = self.rows.len() as SetId;
        self.rows.push(set.clone());
        self.index.insert(set, id);
        id
    }
}
