//! Where threads are: the chain of operators, Python functions and ranges around a moment, each chain stored once.

use rtl_schema::NameId;
use rustc_hash::FxHashMap;

/// A name of a chain stands for one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SpanKind {
    Operator,
    Python,
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

    /// The spans of a chain, innermost first.
    pub(crate) fn spans(&self, path: PathId) -> impl Iterator<Item = (NameId, SpanKind)> + Clone {
        let node = |path: PathId| self.nodes.get(path.0 as usize);
        std::iter::successors(node(path), move |(outer, ..)| node(*outer))
            .map(|&(_, name, kind)| (name, kind))
    }
}
