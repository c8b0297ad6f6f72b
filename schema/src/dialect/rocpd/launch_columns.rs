//! The launch columns of `rocpd_op`.

use super::{Field, Plan};
use crate::Select;
use crate::sqlite::{Row, StoredColumns};
use crate::table::Shape;

/// The positions of the columns in the rows of a scan.
#[derive(Debug)]
pub(super) struct LaunchFields {
    /// Work-items along x, y and z, then the workgroup.
    sizes: [Field; 6],
    lds: Field,
    scratch: Field,
}

impl LaunchFields {
    pub(super) fn new(plan: &mut Plan, select: &Select, typed: bool) -> Self {
        let sizes = ["gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ"];
        let mut rest = |column| plan.add_if(typed && select.launch, column);
        let (lds, scratch) = (rest("lds"), rest("scratch"));
        let sizes = sizes.map(|column| plan.add_if(typed && select.any_shape(), column));
        Self { sizes, lds, scratch }
    }

    /// The shape, with LDS and scratch where they are selected, if any of it is known.
    pub(super) fn shape(&self, row: &Row<'_>) -> Option<Shape> {
        let [x, y, z, width, height, depth] = self.sizes.map(|field| field.int(row));
        // Beside a known x, NULL is 1.
        let items = size(x).map(|x| [x, size(y).unwrap_or(1), size(z).unwrap_or(1)]);
        let workgroup = size(width).map(|width| [width, size(height).unwrap_or(1), size(depth).unwrap_or(1)]);
        let (lds, scratch) = (self.lds.unsigned(row), self.scratch.unsigned(row));
        let shape = Shape { lds, scratch, ..Shape::of_items(workgroup, items) };
        (shape != Shape::default()).then_some(shape)
    }

    /// Where the rows of a header have what makes a shape, if their values can be compared as they are stored.
    pub(super) fn stored(&self, row: &Row<'_>) -> Option<StoredColumns> {
        let [a, b, c, d, e, f] = self.sizes;
        // A column that the table lacks is beyond all, which reads as NULL.
        let position = |field: Field| field.position().unwrap_or(usize::MAX);
        StoredColumns::of(row, [a, b, c, d, e, f, self.lds, self.scratch].map(position))
    }
}

/// A number that is not negative and fits.
fn size<T: TryFrom<i64>>(number: Option<i64>) -> Option<T> {
    T::try_from(number?).ok()
}
