use std::str::FromStr;

use super::interned::{Distinct, Interned};
use super::row;
use crate::ShapeId;
use crate::hash::spread;

row! {
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
}

impl Shape {
    /// A shape of which the source stores work-items: the work-groups follow by rounding up.
    pub fn from_items(workgroup: [u32; 3], items: [u64; 3]) -> Self {
        let groups = std::array::from_fn(|axis| items[axis].div_ceil(u64::from(workgroup[axis]).max(1)));
        Self { workgroup: Some(workgroup), items: Some(items), groups: Some(groups), ..Self::default() }
    }

    /// As [`Self::from_items`], of sizes that may be unknown.
    pub(crate) fn of_items(workgroup: Option<[u32; 3]>, items: Option<[u64; 3]>) -> Self {
        match (workgroup, items) {
            (Some(workgroup), Some(items)) => Self::from_items(workgroup, items),
            _ => Self { workgroup, items, ..Self::default() },
        }
    }

    /// A shape of which the source stores work-groups: the work-items are whole work-groups.
    pub fn from_groups(workgroup: [u32; 3], groups: [u64; 3]) -> Self {
        let items = std::array::from_fn(|axis| groups[axis].saturating_mul(u64::from(workgroup[axis])));
        Self { workgroup: Some(workgroup), items: Some(items), groups: Some(groups), ..Self::default() }
    }
}

/// The sizes along all axes, if all are known.
pub(crate) fn all<T>([x, y, z]: [Option<T>; 3]) -> Option<[T; 3]> {
    Some([x?, y?, z?])
}

/// Reads `x,y,z`.
pub(crate) fn axes<T: FromStr>(text: &str) -> Option<[T; 3]> {
    let mut numbers = text.split(',').map(|number| number.trim().parse().ok());
    let axes = all([numbers.next()?, numbers.next()?, numbers.next()?])?;
    numbers.next().is_none().then_some(axes)
}

impl Distinct for Shape {
    #[inline]
    fn slot(&self) -> usize {
        let [items, workgroup] = [self.items, self.workgroup.map(|axes| axes.map(u64::from))];
        (spread_axes(items.or(workgroup).unwrap_or_default()) >> 32) as usize
    }
}

/// A number from sizes of three axes, for a place in a cache: sizes, which are mostly powers of two, differ in its upper
/// bits.
#[inline]
fn spread_axes([x, y, z]: [u64; 3]) -> u64 {
    spread(x ^ y.rotate_left(21) ^ z.rotate_left(42))
}

/// The distinct launch shapes of a trace.
pub type Shapes = Interned<Shape, ShapeId>;
