//! The launch columns of `rocpd_op`.

use super::{Field, Plan};
use crate::sqlite::Row;
use crate::table::{Shape, spread};
use crate::{Select, ShapeId};

/// The positions of the columns in the rows of a scan.
#[derive(Debug)]
pub(super) struct LaunchFields {
    /// Work-items along x, y and z, then the workgroup.
    sizes: [Field; 6],
    /// The position of the first of them, where all others follow it.
    first: Option<usize>,
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
        let complete = sizes.iter().all(|size| size.position().is_some());
        let first = sizes[0].position().filter(|_| complete);
        Self { sizes, first, lds, scratch, symbol }
    }

    /// The sizes of a launch.
    #[inline]
    pub(super) fn sizes(&self, row: &Row<'_>) -> Sizes {
        Sizes(match self.first {
            Some(first) => row.ints(first, Sizes::NONE),
            None => self.sizes.map(|field| field.int(row).unwrap_or(Sizes::NONE)),
        })
    }

    /// The whole shape, if any of it is known.
    pub(super) fn shape(&self, row: &Row<'_>) -> Option<Shape> {
        let (lds, scratch) = (self.lds.unsigned(row), self.scratch.unsigned(row));
        let shape = Shape { lds, scratch, ..self.sizes(row).shape().unwrap_or_default() };
        (shape != Shape::default()).then_some(shape)
    }
}

/// The sizes of a launch as they are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes([i64; 6]);

impl Sizes {
    /// NULL. Like every negative number it is no size.
    const NONE: i64 = i64::MIN;

    /// The shape, if any of it is known.
    pub(super) fn shape(&self) -> Option<Shape> {
        let [x, y, z, width, height, depth] = self.0;
        // Beside a known x, NULL is 1.
        let items = size(x).map(|x| [x, size(y).unwrap_or(1), size(z).unwrap_or(1)]);
        let workgroup = size(width).map(|width| [width, size(height).unwrap_or(1), size(depth).unwrap_or(1)]);
        (workgroup.is_some() || items.is_some()).then(|| Shape::of_items(workgroup, items))
    }

    /// The sizes in half the space; `None` for sizes that no launch has.
    #[inline]
    fn packed(&self) -> Option<Packed> {
        let mut odd = false;
        let half = self.0.map(|size| match u32::try_from(size) {
            Ok(size) if size != u32::MAX => u64::from(size),
            _ => {
                odd |= size != Self::NONE;
                u64::from(u32::MAX)
            }
        });
        let [x, y, z, width, height, depth] = half;
        (!odd).then_some([x << 32 | width, y << 32 | height, z << 32 | depth])
    }
}

/// Two sizes in each word.
type Packed = [u64; 3];

/// A number that is not negative and fits.
fn size<T: TryFrom<i64>>(number: i64) -> Option<T> {
    T::try_from(number).ok()
}

/// Cached shapes by their sizes: most rows repeat one of those, for the cost of a comparison or two.
#[derive(Debug, Default)]
pub(super) struct RecentShapes(Vec<[Option<Met>; 2]>);

/// Sizes and their shape, if they make one.
type Met = (Packed, Option<ShapeId>);

/// The number of cached pairs.
const RECENT: usize = 1 << 10;

impl RecentShapes {
    #[inline]
    fn place(packed: &Packed) -> usize {
        (spread(*packed) >> (64 - RECENT.ilog2())) as usize
    }

    /// The shape of these sizes; `intern` finds those that are not cached.
    #[inline]
    pub(super) fn get(
        &mut self,
        sizes: &Sizes,
        intern: impl FnOnce(Option<Shape>) -> Option<ShapeId>,
    ) -> Option<ShapeId> {
        let Some(packed) = sizes.packed() else { return intern(sizes.shape()) };
        let place = Self::place(&packed);
        if let Some(pair) = self.0.get(place)
            && let Some((_, shape)) = pair.iter().flatten().find(|(known, _)| *known == packed)
        {
            return *shape;
        }
        let shape = intern(sizes.shape());
        self.0.resize(RECENT, [None; 2]);
        let pair = &mut self.0[place];
        pair.swap(0, 1);
        pair[0] = Some((packed, shape));
        shape
    }
}
