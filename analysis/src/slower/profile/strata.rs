//! Kernels by launch shape, with their calls on each GPU.

use rtl_schema::table::Shape;
use rtl_schema::{NameId, ShapeId, Tables};
use rustc_hash::FxHashMap;

use super::types::KernelKey;
use crate::base::first_use::{FirstUseMap, FirstUseSet, position_of};
use crate::base::ops::Order;
use crate::base::stats::CallTotal;
use crate::names::kernel_names::KernelNames;
use crate::names::labels;
use crate::slower::run::mix::{Calls, Mix};

/// Every kernel in every launch shape that it ran in. LDS and scratch are no part of a shape: builds change them.
pub(super) struct Strata {
    classes: Vec<String>,
    strata: FirstUseSet<(usize, Option<u32>)>,
    /// The calls of a stratum at a place, of those that ran there: of thousands of ranks each may have kernels of its own.
    cells: FirstUseMap<Cell, CallTotal>,
    /// The cell of each dispatch; of those without a valid duration any.
    of_row: Vec<u32>,
}

/// A stratum at a place, which is a GPU's position in [`Order`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) stratum: u32,
    pub(super) place: u32,
}

/// A group of strata: a kernel, or a kernel in one shape.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) kernel: usize,
    pub(super) launch: Option<String>,
    /// The shapes of its strata in words, sorted; without those that are not known.
    pub(super) shapes: Vec<String>,
    /// True if the shape of every call is known.
    pub(super) all_known: bool,
}

impl Group {
    /// Returns whether the calls are of several launch shapes.
    pub(super) fn is_mixed(&self) -> bool {
        self.shapes.len() > 1
    }

    pub(super) fn mix(&self, calls: impl FnOnce() -> Calls) -> Mix {
        match self.all_known && self.launch.is_none() {
            false => Mix::Unknown,
            true if self.is_mixed() => Mix::Several(calls()),
            true => Mix::One,
        }
    }
}

/// All groups, and which of them each stratum belongs to.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    pub(super) of_stratum: Vec<usize>,
    /// The position of the stratum's shape in [`Group::shapes`]; 0 where it is not known.
    pub(super) shape_of_stratum: Vec<u32>,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// The name, the shape and the place of a row, and the position of its cell.
type Recent = ((NameId, Option<ShapeId>, u32), usize);

/// How many cells are found without looking them up.
const RECENT: usize = 1 << 12;

/// Where a stratum is remembered.
#[inline]
fn recent(name: NameId, shape: Option<ShapeId>, place: u32) -> usize {
    let of_shape = shape.map_or(0, |shape| shape.index() + 1);
    (name.index().wrapping_mul(61) + of_shape + (place as usize).wrapping_mul(509)) % RECENT
}

impl Strata {
    pub(super) fn new(tables: &Tables, names: &KernelNames, order: &Order) -> Self {
        let (classes, class_of_shape) = classes(tables);
        let place_of_agent: FxHashMap<u32, u32> =
            order.agents.iter().map(|ops| ops.agent.0).zip(0..).collect();
        let place_of_track: Vec<Option<u32>> =
            tables.tracks.rows().iter().map(|track| place_of_agent.get(&track.agent.0).copied()).collect();
        let dispatches = &tables.dispatches;
        let mut strata = Self {
            classes,
            strata: FirstUseSet::default(),
            of_row: Vec::with_capacity(dispatches.len()),
            cells: FirstUseMap::default(),
        };
        // A kernel goes through its few shapes in turns, so most rows repeat one of the recent cells.
        let mut lately: Vec<Option<Recent>> = vec![None; RECENT];
        for row in 0..dispatches.len() {
            let (name, shape) = (dispatches.name[row], dispatches.shape.get(row));
            let valid = dispatches.duration.valid(row).zip(place_of_track[dispatches.track[row].index()]);
            let Some((duration, place)) = valid else {
                strata.of_row.push(0);
                continue;
            };
            let cell = match lately[recent(name, shape, place)] {
                Some((same, cell)) if same == (name, shape, place) => cell,
                _ => {
                    let class = shape.map(|shape| class_of_shape[shape.index()]);
                    let stratum = strata.strata.insert_full((names.kernel(name), class)).0 as u32;
                    let cell = position_of(&mut strata.cells, Cell { stratum, place });
                    lately[recent(name, shape, place)] = Some(((name, shape, place), cell));
                    cell
                }
            };
            strata.of_row.push(cell as u32);
            strata.cells[cell].add(duration);
        }
        strata
    }

    pub(super) fn len(&self) -> usize {
        self.strata.len()
    }

    /// The position of the cell of a row with a valid duration.
    #[inline]
    pub(super) fn cell_of_row(&self, row: u32) -> usize {
        self.of_row[row as usize] as usize
    }

    /// By position.
    pub(super) fn cells(&self) -> impl ExactSizeIterator<Item = Cell> + '_ {
        self.cells.keys().copied()
    }

    pub(super) fn shape(&self, stratum: usize) -> Option<&str> {
        self.strata[stratum].1.map(|class| self.classes[class as usize].as_str())
    }

    /// By position of the cell.
    pub(super) fn calls(&self) -> impl Iterator<Item = u64> + '_ {
        self.cells.values().map(|amount| amount.calls)
    }

    /// The strata of each of a number of places, in order.
    pub(super) fn by_place(&self, places: usize) -> Vec<Vec<(usize, CallTotal)>> {
        let mut by_place = vec![Vec::new(); places];
        for (&Cell { stratum, place }, &amount) in &self.cells {
            by_place[place as usize].push((stratum as usize, amount));
        }
        by_place.iter_mut().for_each(|strata| strata.sort_unstable_by_key(|&(stratum, _)| stratum));
        by_place
    }

    pub(super) fn groups(&self, by: KernelKey) -> Groups {
        let mut groups = Groups::default();
        let mut group_of_kernel: FxHashMap<usize, usize> = FxHashMap::default();
        for (stratum, &(kernel, _)) in self.strata.iter().enumerate() {
            let shape = self.shape(stratum).map(str::to_owned);
            let known = group_of_kernel.get(&kernel).filter(|_| by == KernelKey::Name);
            let group = known.copied().unwrap_or_else(|| {
                let launch = if by == KernelKey::Launch { shape.clone() } else { None };
                groups.all.push(Group { kernel, launch, shapes: Vec::new(), all_known: true });
                groups.all.len() - 1
            });
            group_of_kernel.insert(kernel, group);
            let about = &mut groups.all[group];
            about.all_known &= shape.is_some();
            about.shapes.extend(shape);
            groups.of_stratum.push(group);
        }
        for group in &mut groups.all {
            group.shapes.sort_unstable();
        }
        groups.shape_of_stratum = (0..self.len())
            .map(|stratum| {
                let shapes = &groups.all[groups.of_stratum[stratum]].shapes;
                self.shape(stratum).map_or(0, |shape| shapes.partition_point(|other| other.as_str() < shape))
                    as u32
            })
            .collect();
        groups
    }
}

/// Shapes that are called the same, sorted, and which each one is.
fn classes(tables: &Tables) -> (Vec<String>, Vec<u32>) {
    let text_of_shape: Vec<String> = (0..tables.shapes.rows().len())
        .map(|shape| {
            let shape = tables.shapes.get(ShapeId(shape as u32));
            labels::shape(Some(Shape { lds: None, scratch: None, ..shape }))
        })
        .collect();
    let mut words = text_of_shape.clone();
    words.sort_unstable();
    words.dedup();
    let class_of_shape =
        text_of_shape.iter().map(|text| words.partition_point(|word| word < text) as u32).collect();
    (words, class_of_shape)
}
