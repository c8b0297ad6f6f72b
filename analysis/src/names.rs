//! The kernel names of a trace: each looked at once, however many dispatches carry it.

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::Categories;
use crate::categories::COLLECTIVE;

/// One kernel: all stored names with the same identity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel<'a> {
    /// The first of the stored names.
    pub(crate) name: NameId,
    /// Its identity.
    pub(crate) label: &'a str,
    /// Its category.
    pub(crate) category: &'a str,
}

/// The kernels of a trace and which of them each stored name means.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    /// Kernels of one category stand side by side.
    pub(crate) kernels: Vec<Kernel<'a>>,
    kernel_of_slot: Vec<u32>,
    collective_of_slot: Vec<bool>,
    strings: usize,
}

impl<'a> Names<'a> {
    /// Looks at every name that a dispatch carries.
    pub(crate) fn of(tables: &'a Tables, categories: &'a Categories) -> Self {
        let strings = tables.strings.len();
        let mut used = vec![false; strings + 2];
        for &name in &tables.dispatches.name {
            used[slot(name, strings)] = true;
        }
        let mut kernels: Vec<Kernel<'a>> = Vec::new();
        let mut kernel_of_slot = vec![0; strings + 2];
        let mut collective_of_slot = vec![false; strings + 2];
        let mut by_label: FxHashMap<&str, u32> = FxHashMap::default();
        for position in (0..used.len()).filter(|&position| used[position]) {
            let name = match position.checked_sub(strings) {
                None => NameId(position as u32),
                Some(0) => NameId::NONE,
                Some(_) => NameId::DANGLING,
            };
            let label = rtl_schema::identity(tables.strings.get(name));
            let next = kernels.len() as u32;
            let kernel = *by_label.entry(label).or_insert(next);
            if kernel == next {
                kernels.push(Kernel { name, label, category: categories.of(label) });
            }
            kernel_of_slot[position] = kernel;
            collective_of_slot[position] = kernels[kernel as usize].category == COLLECTIVE;
        }
        let mut order: Vec<usize> = (0..kernels.len()).collect();
        order.sort_by_key(|&kernel| kernels[kernel].category);
        let mut position_of_kernel = vec![0; kernels.len()];
        for (position, &kernel) in order.iter().enumerate() {
            position_of_kernel[kernel] = position as u32;
        }
        for position in (0..used.len()).filter(|&position| used[position]) {
            kernel_of_slot[position] = position_of_kernel[kernel_of_slot[position] as usize];
        }
        let kernels = order.into_iter().map(|kernel| kernels[kernel]).collect();
        Self { kernels, kernel_of_slot, collective_of_slot, strings }
    }

    /// The position in `kernels` of a name that some dispatch carries.
    #[inline]
    pub(crate) fn kernel(&self, name: NameId) -> usize {
        self.kernel_of_slot[slot(name, self.strings)] as usize
    }

    /// Whether a name that some dispatch carries is that of a collective.
    #[inline]
    pub(crate) fn is_collective(&self, name: NameId) -> bool {
        self.collective_of_slot[slot(name, self.strings)]
    }

    /// Whether there are collectives at all.
    pub(crate) fn any_collective(&self) -> bool {
        self.collective_of_slot.contains(&true)
    }
}

/// A place for every name: strings first, then the two absent ones.
#[inline]
pub(crate) fn slot(name: NameId, strings: usize) -> usize {
    if name.index() < strings { name.index() } else { strings + usize::from(name != NameId::NONE) }
}
