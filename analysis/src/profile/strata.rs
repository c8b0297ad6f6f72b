//! Kernels by launch shape, and what each did on each GPU.

use rustc_hash::FxHashMap;
use schema::table::Shape;
use schema::{ShapeId, Tables};

use super::By;
use crate::labels;
use crate::names::Names;
use crate::order::Order;

/// Calls and time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amount {
    pub(super) calls: u64,
    pub(super) total_ns: i64,
}

/// Every kernel in every launch shape that it ran in. LDS and scratch are no part of a shape: builds change them.
pub(super) struct Strata<'a> {
    tables: &'a Tables,
    names: &'a Names<'a>,
    /// The words of each class of shapes.
    classes: Vec<String>,
    class_of_shape: Vec<u32>,
    /// The kernel and the class of each stratum.
    strata: Vec<(usize, Option<u32>)>,
    numbers: FxHashMap<(usize, Option<u32>), u32>,
    /// The place among [`Order::agents`] of each lane.
    place_of_lane: Vec<Option<u32>>,
    /// By place, then by stratum.
    amounts: Vec<Vec<Amount>>,
}

/// What one group of strata is: a kernel, or a kernel in one shape.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) kernel: usize,
    pub(super) launch: Option<String>,
    pub(super) classes: Vec<Option<String>>,
}

/// All groups, and which of them each stratum belongs to.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    pub(super) of_stratum: Vec<usize>,
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

impl<'a> Strata<'a> {
    /// One pass over the dispatches.
    pub(super) fn of(tables: &'a Tables, names: &'a Names<'a>, order: &Order) -> Self {
        let (classes, class_of_shape) = classes(tables);
        let mut place_of_agent: FxHashMap<u32, u32> = FxHashMap::default();
        for (place, ops) in order.agents.iter().enumerate() {
            place_of_agent.insert(ops.agent.0, place as u32);
        }
        let place_of_lane =
            tables.lanes.rows().iter().map(|lane| place_of_agent.get(&lane.agent.0).copied()).collect();
        let mut strata = Self {
            tables,
            names,
            classes,
            class_of_shape,
            strata: Vec::new(),
            numbers: FxHashMap::default(),
            place_of_lane,
            amounts: vec![Vec::new(); order.agents.len()],
        };
        strata.count();
        strata
    }

    fn count(&mut self) {
        let dispatches = &self.tables.dispatches;
        let mut recent: Vec<Option<(Option<u32>, u32)>> = vec![None; self.names.kernels.len()];
        for row in 0..dispatches.len() {
            let Some(duration) = dispatches.duration.valid(row) else { continue };
            let Some(place) = self.place_of_lane[dispatches.lane[row].index()] else { continue };
            let kernel = self.names.kernel(dispatches.name[row]);
            let class = self.class(row);
            let stratum = match recent[kernel] {
                Some((same, stratum)) if same == class => stratum,
                _ => {
                    let next = self.strata.len() as u32;
                    let stratum = *self.numbers.entry((kernel, class)).or_insert(next);
                    if stratum == next {
                        self.strata.push((kernel, class));
                    }
                    recent[kernel] = Some((class, stratum));
                    stratum
                }
            } as usize;
            let amounts = &mut self.amounts[place as usize];
            if amounts.len() <= stratum {
                amounts.resize(stratum + 1, Amount::default());
            }
            amounts[stratum].calls += 1;
            amounts[stratum].total_ns = amounts[stratum].total_ns.saturating_add(duration);
        }
        for amounts in &mut self.amounts {
            amounts.resize(self.strata.len(), Amount::default());
        }
    }

    fn class(&self, row: usize) -> Option<u32> {
        let shape = self.tables.dispatches.shape.get(row)?;
        Some(self.class_of_shape[shape.index()])
    }

    /// How many strata there are.
    pub(super) fn len(&self) -> usize {
        self.strata.len()
    }

    /// The stratum of a row with a valid duration.
    pub(super) fn stratum(&self, row: usize) -> usize {
        let kernel = self.names.kernel(self.tables.dispatches.name[row]);
        self.numbers.get(&(kernel, self.class(row))).map_or(0, |&stratum| stratum as usize)
    }

    /// The kernel of a row.
    pub(super) fn kernel(&self, row: usize) -> usize {
        self.names.kernel(self.tables.dispatches.name[row])
    }

    /// The shape of a stratum in words.
    pub(super) fn shape(&self, stratum: usize) -> Option<&str> {
        self.strata[stratum].1.map(|class| self.classes[class as usize].as_str())
    }

    /// What ran at a place.
    pub(super) fn of_place(&self, place: usize) -> impl Iterator<Item = (usize, Amount)> + '_ {
        self.amounts[place].iter().copied().enumerate().filter(|(_, amount)| amount.calls > 0)
    }

    /// How many calls a stratum has at a place.
    pub(super) fn calls(&self, place: usize, stratum: usize) -> u64 {
        self.amounts[place][stratum].calls
    }

    /// What rows are to be told apart by.
    pub(super) fn groups(&self, by: By) -> Groups {
        let mut groups = Groups { all: Vec::new(), of_stratum: vec![0; self.len()] };
        let mut group_of_kernel: Vec<Option<usize>> = vec![None; self.names.kernels.len()];
        for (stratum, &(kernel, _)) in self.strata.iter().enumerate() {
            let shape = self.shape(stratum).map(str::to_owned);
            let known = group_of_kernel[kernel].filter(|_| by == By::Name);
            let group = known.unwrap_or_else(|| {
                let launch = if by == By::Launch { shape.clone() } else { None };
                groups.all.push(Group { kernel, launch, classes: Vec::new() });
                groups.all.len() - 1
            });
            group_of_kernel[kernel] = Some(group);
            groups.all[group].classes.push(shape);
            groups.of_stratum[stratum] = group;
        }
        groups
    }
}

/// Shapes that are called the same, and which each one is.
fn classes(tables: &Tables) -> (Vec<String>, Vec<u32>) {
    let mut words: Vec<String> = Vec::new();
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    let class_of_shape = (0..tables.shapes.rows().len())
        .map(|shape| {
            let shape = tables.shapes.get(ShapeId(shape as u32));
            let text = labels::shape(Some(Shape { lds: None, scratch: None, ..shape }));
            let next = words.len() as u32;
            *numbers.entry(text).or_insert_with_key(|text| {
                words.push(text.clone());
                next
            })
        })
        .collect();
    (words, class_of_shape)
}
