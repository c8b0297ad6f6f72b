//! The launch columns of `rocpd_op`.

use super::{Field, Plan};
use crate::sqlite::{Row, StoredColumns, StoredKey};
use crate::table::Shape;
use crate::{Select, ShapeId};

/// The positions of the columns in the rows of a scan.
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

/// Cached shapes by what is stored of them: most rows repeat one of those, for the cost of a comparison or two.
#[derive(Debug, Default)]
pub(super) struct RecentShapes(Vec<[Option<Met>; 2]>);

/// Launch columns as they are stored and their shape, if they make one.
type Met = (StoredKey, Option<ShapeId>);

/// The number of cached pairs.
const RECENT: usize = 1 << 10;

impl RecentShapes {
    /// The shape of these columns; `intern` finds those that are not cached.
    #[inline]
    pub(super) fn get(
        &mut self,
        key: Option<StoredKey>,
        intern: impl FnOnce() -> Option<ShapeId>,
    ) -> Option<ShapeId> {
        let Some(key) = key else { return intern() };
        let place = (key.hash() >> (64 - RECENT.ilog2())) as usize;
        if let Some(pair) = self.0.get(place)
            && let Some((_, shape)) = pair.iter().flatten().find(|(known, _)| *known == key)
        {
            return *shape;
        }
        let shape = intern();
        self.add(place, (key, shape));
        shape
    }

    #[cold]
    fn add(&mut self, place: usize, met: Met) {
        self.0.resize(RECENT, [None; 2]);
        let pair = &mut self.0[place];
        pair.swap(0, 1);
        pair[0] = Some(met);
    }
}
