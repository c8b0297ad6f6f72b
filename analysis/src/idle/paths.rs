//! Where threads are: the chain of operators, Python functions and ranges around a moment, each chain stored once.

use std::cmp::Reverse;
use std::hash::Hash;

use rtl_schema::NameId;
use rustc_hash::FxHashMap;

/// A name of a chain stands for one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SpanKind {
    Operator,
    /// A Python function of a framework or of Python itself.
    Python,
    /// A Python function of the program.
    OwnPython,
    Range,
    /// A step of torch.profiler.
    Step,
}

/// A chain of spans, by the position of its innermost one in [`Paths`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PathId(u32);

impl PathId {
    /// The chain of a thread that is in no span.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The place of its value among those of [`Paths::values`]; `None` of the chain without a span.
    pub(crate) fn position(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

type Node = (PathId, NameId, SpanKind);

#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    nodes: Vec<Node>,
    positions: FxHashMap<Node, u32>,
}

impl Paths {
    /// The chain of `outer` with one more span in it.
    pub(crate) fn enter(&mut self, outer: PathId, name: NameId, kind: SpanKind) -> PathId {
        let node = (outer, name, kind);
        let nodes = &mut self.nodes;
        PathId(*self.positions.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        }))
    }

    /// A value of each chain: `value` makes it of that of the chain around the innermost span, and of this span. `none` is the value
    /// without a span.
    pub(crate) fn values<T: Copy>(&self, none: T, mut value: impl FnMut(T, NameId, SpanKind) -> T) -> Vec<T> {
        let mut values: Vec<T> = Vec::with_capacity(self.nodes.len());
        // A chain is stored after those that it extends.
        for &(outer, name, kind) in &self.nodes {
            let outer = outer.position().map_or(none, |position| values[position]);
            values.push(value(outer, name, kind));
        }
        values
    }

    /// The spans of a chain, innermost first.
    pub(crate) fn spans(&self, path: PathId) -> impl Iterator<Item = (NameId, SpanKind)> + Clone {
        let node = |path: PathId| self.nodes.get(path.0 as usize);
        std::iter::successors(node(path), move |(outer, ..)| node(*outer))
            .map(|&(_, name, kind)| (name, kind))
    }
}

/// The innermost of the names around at least half of `total` that `says_where`: the chains, innermost first, have a part of it each.
pub(crate) fn innermost_of_most<K: Copy + Ord + Hash>(
    chains: impl Iterator<Item = (impl Iterator<Item = K>, u64)>,
    total: u64,
    says_where: impl Fn(K) -> bool,
) -> Option<K> {
    /// The time in ns around which a name is, the number of the last chain with it, and its greatest depth.
    type Sum = (u64, usize, usize);
    let mut sums: FxHashMap<K, Sum> = FxHashMap::default();
    let mut chain: Vec<K> = Vec::new();
    for (number, (names, ns)) in chains.enumerate() {
        chain.clear();
        chain.extend(names);
        for (depth, &name) in chain.iter().rev().enumerate() {
            let (sum, last, deepest) = sums.entry(name).or_insert((0, usize::MAX, 0));
            // A name may be in a chain twice.
            if *last != number {
                *sum += ns;
            }
            (*last, *deepest) = (number, depth.max(*deepest));
        }
    }
    let most = sums.into_iter().filter(|(_, (ns, ..))| *ns > 0 && ns.saturating_mul(2) >= total);
    let most = most.filter(|(name, _)| says_where(*name));
    most.min_by_key(|&(name, (ns, _, depth))| (ns, Reverse(depth), name)).map(|(name, _)| name)
}
