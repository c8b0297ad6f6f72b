//! The tree of work while it grows.

use rtl_schema::table::PythonFrames;
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::gpu_time::operators::NONE;

/// An operator, module, category or step, at one place in the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkNode {
    /// Name of the operator or module.
    pub name: String,
    /// The shapes of its inputs as the source's text, if known.
    pub shapes: Option<String>,
    /// The position of the node around it.
    pub parent: Option<usize>,
    /// The time in ns of ops that it launched itself, by step.
    pub times_ns: Vec<i64>,
    /// How many these are.
    pub ops: u64,
    /// How many of them are collectives.
    pub collectives: u64,
}

pub(super) struct Builder {
    times: usize,
    nodes: Vec<WorkNode>,
    by_name: FxHashMap<String, usize>,
    by_place: FxHashMap<(Option<usize>, NameId, NameId), usize>,
    /// Keyed by row of operators or frames.
    by_row: FxHashMap<u32, usize>,
    ops: u64,
}

impl Builder {
    pub(super) fn new(times: usize) -> Self {
        Self {
            times,
            nodes: Vec::new(),
            by_name: FxHashMap::default(),
            by_place: FxHashMap::default(),
            by_row: FxHashMap::default(),
            ops: 0,
        }
    }

    pub(super) fn named(&mut self, name: &str) -> usize {
        if let Some(&node) = self.by_name.get(name) {
            return node;
        }
        let node = self.push(WorkNode { name: name.to_owned(), ..WorkNode::default() });
        self.by_name.insert(name.to_owned(), node);
        node
    }

    /// The node of a row; `None` for [`NONE`].
    pub(super) fn of_row(
        &mut self,
        tables: &Tables,
        row: u32,
        parent: impl Fn(u32) -> u32,
        name: impl Fn(u32) -> (NameId, NameId),
    ) -> Option<usize> {
        let mut above = Vec::new();
        let mut next = row;
        while next != NONE && !self.by_row.contains_key(&next) {
            above.push(next);
            next = parent(next);
        }
        let mut node = self.by_row.get(&next).copied();
        for row in above.into_iter().rev() {
            let (name, shapes) = name(row);
            let found = self.by_place.get(&(node, name, shapes)).copied();
            let here = found.unwrap_or_else(|| {
                let text = tables.strings.get(name);
                self.push(WorkNode {
                    name: text.strip_prefix(PythonFrames::MODULE).unwrap_or(text).to_owned(),
                    shapes: shapes.is_some().then(|| tables.strings.get(shapes).to_owned()),
                    parent: node,
                    ..WorkNode::default()
                })
            });
            self.by_place.insert((node, name, shapes), here);
            self.by_row.insert(row, here);
            node = Some(here);
        }
        node
    }

    pub(super) fn add(&mut self, node: usize, time: usize, length_ns: i64, is_collective: bool) {
        let node = &mut self.nodes[node];
        node.times_ns[time] = node.times_ns[time].saturating_add(length_ns);
        node.ops += 1;
        node.collectives += u64::from(is_collective);
        self.ops += 1;
    }

    /// All nodes, and the number of ops.
    pub(super) fn finish(self) -> (Vec<WorkNode>, u64) {
        (self.nodes, self.ops)
    }

    fn push(&mut self, node: WorkNode) -> usize {
        self.nodes.push(WorkNode { times_ns: vec![0; self.times], ..node });
        self.nodes.len() - 1
    }
}
