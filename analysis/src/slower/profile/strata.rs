//! Kernels by launch shape, with their calls on each GPU.

use rtl_schema::table::Shape;
use rtl_schema::{NameId, ShapeId, Tables};
use rustc_hash::FxHashMap;

use super::types::KernelKey;
use crate::base::first_use::FirstUseSet;
use crate::base::ops::Order;
use crate::base::stats::CallTotal;
use crate::names::kernel_names::KernelNames;
use crate::names::labels;
use crate::slower::run::mix::{Calls, Mix};

/// Every kernel in every launch shape that it ran in. LDS and scratch are no part of a shape: builds change them.
pub(super) struct Strata {
    classes: Vec<String>,
    strata: FirstUseSet<(usize, Option<u32>)>,
    /// The stratum of each dispatch; of those without a valid duration any.
    of_row: Vec<u32>,
    /// Indexed by place, then by stratum.
    amounts: Vec<Vec<CallTotal>>,
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

/// How many strata are found without looking them up.
const RECENT: usize = 1 << 12;

/// Where a stratum is remembered.
#[inline]
fn recent(name: NameId, shape: Option<ShapeId>) -> usize {
    (name.index().wrapping_mul(61) + shape.map_or(0, |shape| shape.index() + 1)) % RECENT
}

impl Strata {
    pub(super) fn new(tables: &Tables, names: &KernelNames, order: &Order) -> Self {
        let (classes, class_of_shape) = classes(tables);
        let mut place_of_agent: FxHashMap<u32, usize> = FxHashMap::default();
        for (place, ops) in order.agents.iter().enumerate() {
            place_of_agent.insert(ops.agent.0, place);
        }
        let place_of_track: Vec<Option<usize>> =
            tables.tracks.rows().iter().map(|track| place_of_agent.get(&track.agent.0).copied()).collect();
        let dispatches = &tables.dispatches;
        let mut strata = Self {
            classes,
            strata: FirstUseSet::default(),
            of_row: Vec::with_capacity(dispatches.len()),
            amounts: vec![Vec::new(); order.agents.len()],
        };
        // A kernel goes through its few shapes in turns, so most rows repeat one of the strata met lately.
        let mut lately: Vec<Option<(NameId, Option<ShapeId>, u32)>> = vec![None; RECENT];
        for row in 0..dispatches.len() {
            let (name, shape) = (dispatches.name[row], dispatches.shape.get(row));
            let valid = dispatches.duration.valid(row).zip(place_of_track[dispatches.track[row].index()]);
            let Some((duration, place)) = valid else {
                strata.of_row.push(0);
                continue;
            };
            let stratum = match lately[recent(name, shape)] {
                Some((same, alike, stratum)) if (same, alike) == (name, shape) => stratum,
                _ => {
                    let class = shape.map(|shape| class_of_shape[shape.index()]);
                    let stratum = strata.strata.insert_full((names.kernel(name), class)).0 as u32;
                    lately[recent(name, shape)] = Some((name, shape, stratum));
                    stratum
                }
            };
            strata.of_row.push(stratum);
            let amounts = &mut strata.amounts[place];
            if amounts.len() <= stratum as usize {
                amounts.resize(stratum as usize + 1, CallTotal::default());
            }
            let amount = &mut amounts[stratum as usize];
            amount.add(duration);
        }
        for amounts in &mut strata.amounts {
            amounts.resize(strata.strata.len(), CallTotal::default());
        }
        strata
    }

    pub(super) fn len(&self) -> usize {
        self.strata.len()
    }

    /// The stratum of a row with a valid duration.
    #[inline]
    pub(super) fn of_row(&self, row: u32) -> usize {
        self.of_row[row as usize] as usize
    }

    pub(super) fn shape(&self, stratum: usize) -> Option<&str> {
        self.strata[stratum].1.map(|class| self.classes[class as usize].as_str())
    }

    pub(super) fn of_place(&self, place: usize) -> impl Iterator<Item = (usize, CallTotal)> + '_ {
        self.amounts[place].iter().copied().enumerate().filter(|(_, amount)| amount.calls > 0)
    }

    pub(super) fn calls(&self, place: usize, stratum: usize) -> u64 {
        self.amounts[place][stratum].calls
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
