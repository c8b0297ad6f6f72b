use rustc_hash::FxHashMap;

use crate::ShapeId;

/// How a kernel was launched. `None` is unknown, never a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Shape {
    /// Work-items per work-group, x, y, z.
    pub workgroup: Option<[u32; 3]>,
    /// Work-items in all, x, y, z (HSA's grid size).
    pub items: Option<[u64; 3]>,
    /// Work-groups in all, x, y, z (HIP's grid size); the last of a dimension may be partial.
    pub groups: Option<[u64; 3]>,
    /// LDS of the dispatch in bytes (group segment).
    pub lds: Option<u32>,
    /// Scratch of one work-item in bytes (private segment).
    pub scratch: Option<u32>,
}

impl Shape {
    /// A shape of which the source stores work-items: the work-groups follow by rounding up.
    pub fn from_items(workgroup: [u32; 3], items: [u64; 3]) -> Self {
        let groups = std::array::from_fn(|axis| items[axis].div_ceil(u64::from(workgroup[axis]).max(1)));
        Self { workgroup: Some(workgroup), items: Some(items), groups: Some(groups), ..Self::default() }
    }

    /// A shape of which the source stores work-groups: the work-items are whole work-groups.
    pub fn from_groups(workgroup: [u32; 3], groups: [u64; 3]) -> Self {
        let items = std::array::from_fn(|axis| groups[axis].saturating_mul(u64::from(workgroup[axis])));
        Self { workgroup: Some(workgroup), items: Some(items), groups: Some(groups), ..Self::default() }
    }
}

/// The distinct launch shapes of a trace.
#[derive(Debug, Clone, Default)]
pub struct Shapes {
    rows: Vec<Shape>,
    index: FxHashMap<Shape, ShapeId>,
}

impl Shapes {
    /// The id of `shape`, which is added when it is new.
    pub fn intern(&mut self, shape: Shape) -> ShapeId {
        let next = ShapeId(self.rows.len() as u32);
        let id = *self.index.entry(shape).or_insert(next);
        if id == next {
            self.rows.push(shape);
        }
        id
    }

    /// The shape behind `id`.
    pub fn get(&self, id: ShapeId) -> Shape {
        self.rows[id.index()]
    }

    /// All shapes, in the order of first appearance; [`ShapeId`] is the position.
    pub fn rows(&self) -> &[Shape] {
        &self.rows
    }

    /// Adds the shapes of `other`; the result maps its ids to those of `self`.
    pub fn append(&mut self, other: &Self) -> Vec<ShapeId> {
        other.rows.iter().map(|&shape| self.intern(shape)).collect()
    }
}

impl PartialEq for Shapes {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
