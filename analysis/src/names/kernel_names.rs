//! The kernel names of a trace: each looked at once, however many dispatches carry it.

use std::ops::Range;

use rtl_schema::{NameId, Tables};

use crate::Categories;
use crate::base::parallel;
use crate::names::kernel_index::{Kernel, KernelIndex};

/// The kernels of a trace and the kernel of each stored name.
#[derive(Debug)]
pub struct KernelNames {
    /// Kernels of one category stand side by side.
    pub(crate) kernels: Vec<Kernel>,
    kernel_of_slot: Vec<u32>,
    collective_of_slot: Vec<bool>,
    /// Parts of the rows, and how many rows of each carry a name, by slot.
    parts: Vec<(Range<usize>, Vec<u32>)>,
    strings: usize,
    /// The rules behind the categories.
    pub(crate) categories: Categories,
}

impl KernelNames {
    /// Looks at every name that a dispatch carries.
    pub fn new(tables: &Tables, categories: &Categories) -> Self {
        let strings = tables.strings.len();
        let parts = rows_of_slots(&tables.dispatches.name, strings);
        let mut index = KernelIndex::new(categories);
        let mut number_of_slot = Vec::new();
        let is_carried = |&position: &usize| parts.iter().any(|(_, rows)| rows[position] > 0);
        for position in (0..strings + 2).filter(is_carried) {
            let name = match position.checked_sub(strings) {
                None => NameId(position as u32),
                Some(0) => NameId::NONE,
                Some(_) => NameId::DANGLING,
            };
            number_of_slot.push((position, index.number(tables.strings.get(name))));
        }
        let (kernels, positions) = index.sorted_by_category();
        let mut kernel_of_slot = vec![0; strings + 2];
        let mut collective_of_slot = vec![false; strings + 2];
        for (slot, number) in number_of_slot {
            kernel_of_slot[slot] = positions[number] as u32;
            collective_of_slot[slot] = kernels[positions[number]].is_collective();
        }
        let categories = categories.clone();
        Self { kernels, kernel_of_slot, collective_of_slot, parts, strings, categories }
    }

    /// How many dispatches carry a name.
    pub(crate) fn rows(&self, name: NameId) -> u64 {
        let slot = slot(name, self.strings);
        self.parts.iter().map(|(_, rows)| u64::from(rows[slot])).sum()
    }

    /// Parts of the rows, and how many dispatches of each kernel each has.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Range<usize>, Vec<usize>)> {
        self.parts.iter().map(|(part, rows_of_slot)| {
            let mut rows = vec![0; self.kernels.len()];
            for (&of_slot, &kernel) in
                rows_of_slot.iter().zip(&self.kernel_of_slot).filter(|(rows, _)| **rows > 0)
            {
                rows[kernel as usize] += of_slot as usize;
            }
            (part.clone(), rows)
        })
    }

    /// The position in `kernels` of a name that some dispatch carries.
    #[inline]
    pub(crate) fn kernel(&self, name: NameId) -> usize {
        self.kernel_of_slot[slot(name, self.strings)] as usize
    }

    /// As [`Self::kernel`], as a function that holds the table, for loops over many rows.
    #[inline]
    pub(crate) fn kernel_of_name(&self) -> impl Fn(NameId) -> usize + Copy + use<'_> {
        let (kernel_of_slot, strings) = (self.kernel_of_slot.as_slice(), self.strings);
        move |name| kernel_of_slot[slot(name, strings)] as usize
    }

    pub(crate) fn names_of(&self, is_wanted: &[bool]) -> NameSet {
        let of_slot = self.kernel_of_slot.iter().map(|&kernel| is_wanted.get(kernel as usize) == Some(&true));
        NameSet { of_slot: of_slot.collect(), strings: self.strings }
    }

    /// The number of a kernel that is no collective.
    #[inline]
    pub(crate) fn own_kernel(&self, name: NameId) -> Option<usize> {
        let slot = slot(name, self.strings);
        (!self.collective_of_slot[slot]).then(|| self.kernel_of_slot[slot] as usize)
    }

    #[inline]
    pub(crate) fn is_collective(&self, name: NameId) -> bool {
        self.collective_of_slot[slot(name, self.strings)]
    }

    pub(crate) fn any_collective(&self) -> bool {
        self.collective_of_slot.contains(&true)
    }
}

#[derive(Debug)]
pub(crate) struct NameSet {
    of_slot: Vec<bool>,
    strings: usize,
}

impl NameSet {
    /// A function that returns whether a name is one of them, for loops over many rows.
    #[inline]
    pub(crate) fn contains(&self) -> impl Fn(NameId) -> bool + Copy + use<'_> {
        let (of_slot, strings) = (self.of_slot.as_slice(), self.strings);
        move |name| of_slot[slot(name, strings)]
    }
}

/// Parts of the rows, and the number of rows of each slot.
fn rows_of_slots(names: &[NameId], strings: usize) -> Vec<(Range<usize>, Vec<u32>)> {
    let count = |rows: Range<usize>| {
        let mut count = vec![0_u32; strings + 2];
        names[rows.clone()].iter().for_each(|&name| count[slot(name, strings)] += 1);
        (rows, count)
    };
    threads::map(parallel::stretches_of_groups(names.len(), strings + 2), count)
}

/// A place for every name: strings first, then the two absent ones.
#[inline]
fn slot(name: NameId, strings: usize) -> usize {
    if name.index() < strings { name.index() } else { strings + usize::from(name != NameId::NONE) }
}
