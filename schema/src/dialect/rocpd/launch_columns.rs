//! What a row of `rocpd_op` tells of its launch in columns of its own.

use super::{Field, Plan};
use crate::sqlite::Row;
use crate::table::Shape;
use crate::{Select, ShapeId};

/// Where the columns stand in the rows of a scan.
#[derive(Debug)]
pub(super) struct LaunchFields {
    /// Work-items along x, y and z, then the workgroup.
    sizes: [Field; 6],
    lds: Field,
    scratch: Field,
    pub(super) symbol: Field,
}

impl LaunchFields {
    pub(super) fn of(plan: &mut Plan, select: &Select, typed: bool) -> Self {
        let sizes = ["gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ"];
        let mut rest = |column| plan.add_if(typed && select.launch, column);
        let (lds, scratch, symbol) = (rest("lds"), rest("scratch"), rest("symbol"));
        let sizes = sizes.map(|column| plan.add_if(typed && select.any_shape(), column));
        Self { sizes, lds, scratch, symbol }
    }

    /// The sizes of a launch.
    #[inline]
    pub(super) fn sizes(&self, row: &Row<'_>) -> Sizes {
        Sizes(self.sizes.map(|field| field.int(row).unwrap_or(Sizes::NONE)))
    }

    /// The whole shape, if any of it is known.
    pub(super) fn shape(&self, row: &Row<'_>) -> Option<Shape> {
        let (lds, scratch) = (self.lds.unsigned(row), self.scratch.unsigned(row));
        let shape = Shape { lds, scratch, ..self.sizes(row).shape().unwrap_or_default() };
        (shape != Shape::default()).then_some(shape)
    }
}

/// The sizes of a launch as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes([i64; 6]);

impl Sizes {
    /// Stands for NULL. Like every negative number it is no size.
    const NONE: i64 = i64::MIN;

    /// The shape, if any of it is known.
    pub(super) fn shape(&self) -> Option<Shape> {
        let [x, y, z, width, height, depth] = self.0;
        // Beside a known x, NULL is 1.
        let items = size(x).map(|x| [x, size(y).unwrap_or(1), size(z).unwrap_or(1)]);
        let workgroup = size(width).map(|width| [width, size(height).unwrap_or(1), size(depth).unwrap_or(1)]);
        match (workgroup, items) {
            (None, None) => None,
            (Some(workgroup), Some(items)) => Some(Shape::from_items(workgroup, items)),
            (workgroup, items) => Some(Shape { workgroup, items, ..Shape::default() }),
        }
    }
}

/// A number that is not negative and fits.
fn size<T: TryFrom<i64>>(number: i64) -> Option<T> {
    T::try_from(number).ok()
}

/// Shapes met lately by their sizes: most rows repeat one of those, and cost a comparison.
#[derive(Debug, Default)]
pub(super) struct RecentShapes(Vec<Option<(Sizes, Option<ShapeId>)>>);

/// How many are remembered.
const RECENT: usize = 1 << 10;

impl RecentShapes {
    #[inline]
    fn place(Sizes(sizes): &Sizes) -> usize {
        // Odd and without a pattern, so that sizes, which are mostly powers of two, differ in the upper bits.
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
        let [x, y, z, width, ..] = sizes.map(|size| size as u64);
        let mixed = (x ^ y.rotate_left(20) ^ z.rotate_left(40) ^ width.rotate_left(50)).wrapping_mul(SPREAD);
        (mixed >> 32) as usize % RECENT
    }

    #[inline]
    pub(super) fn get(&self, sizes: &Sizes) -> Option<Option<ShapeId>> {
        let (known, shape) = self.0.get(Self::place(sizes))?.as_ref()?;
        (known == sizes).then_some(*shape)
    }

    pub(super) fn remember(&mut self, sizes: Sizes, shape: Option<ShapeId>) {
        self.0.resize(RECENT, None);
        self.0[Self::place(&sizes)] = Some((sizes, shape));
    }
}
