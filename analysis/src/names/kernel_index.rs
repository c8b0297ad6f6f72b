//! Kernels by identity, each looked at once.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Categories;
use crate::base::first_use::FirstUseMap;
use crate::names::categories::COLLECTIVE;

/// A kernel: all stored names with the same identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    /// Identity of the kernel: the name without descriptor suffix ([`rtl_schema::identity`]).
    pub label: Arc<str>,
    /// Category of the kernel.
    pub category: Arc<str>,
}

impl Kernel {
    /// Returns whether the kernel waits for other ranks.
    #[must_use]
    pub fn is_collective(&self) -> bool {
        &*self.category == COLLECTIVE
    }
}

/// Kernels, numbered in order of first appearance. One index may serve all traces of a job.
#[derive(Debug, Default)]
pub struct KernelIndex {
    rules: Categories,
    categories: FirstUseMap<Arc<str>, Arc<str>>,
    distinct_categories: BTreeSet<Arc<str>>,
}

impl KernelIndex {
    /// An empty index with these rules of categories.
    #[must_use]
    pub fn new(rules: &Categories) -> Self {
        Self { rules: rules.clone(), ..Self::default() }
    }

    /// The number of the kernel of a stored name.
    pub fn number(&mut self, name: &str) -> usize {
        let label = rtl_schema::identity(name);
        self.categories.get_index_of(label).unwrap_or_else(|| {
            let category = shared(&mut self.distinct_categories, self.rules.of(label));
            self.categories.insert_full(label.into(), category).0
        })
    }

    /// Adds the kernels of another trace, and returns the number of each of them here.
    pub fn append(&mut self, other: Self) -> Vec<u32> {
        let mut number = |(label, category): (Arc<str>, Arc<str>)| {
            let known = self.categories.get_index_of(&label);
            known.unwrap_or_else(|| {
                let category = shared(&mut self.distinct_categories, &category);
                self.categories.insert_full(label, category).0
            }) as u32
        };
        other.categories.into_iter().map(&mut number).collect()
    }

    /// Returns whether a kernel waits for other ranks.
    pub(crate) fn is_collective(&self, number: usize) -> bool {
        &*self.categories[number] == COLLECTIVE
    }

    /// All labels, by number.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.categories.keys().map(|label| &**label)
    }

    /// The kernels by category, in order of number within each; and the position of each number among them.
    pub(crate) fn sorted_by_category(self) -> (Vec<Kernel>, Vec<usize>) {
        self.sorted_by(|one, other| one.category.cmp(&other.category))
    }

    /// The kernels by label; and the position of each number among them.
    pub(crate) fn sorted_by_label(self) -> (Vec<Kernel>, Vec<usize>) {
        self.sorted_by(Kernel::cmp)
    }

    fn sorted_by(self, order: impl Fn(&Kernel, &Kernel) -> Ordering) -> (Vec<Kernel>, Vec<usize>) {
        let kernels = self.categories.into_iter().map(|(label, category)| Kernel { label, category });
        let mut numbered: Vec<(usize, Kernel)> = kernels.enumerate().collect();
        numbered.sort_by(|(_, one), (_, other)| order(one, other));
        let mut positions = vec![0; numbered.len()];
        numbered.iter().enumerate().for_each(|(position, &(number, _))| positions[number] = position);
        (numbered.into_iter().map(|(_, kernel)| kernel).collect(), positions)
    }
}

/// The one copy of a text.
fn shared(texts: &mut BTreeSet<Arc<str>>, text: &str) -> Arc<str> {
    if let Some(known) = texts.get(text) {
        return Arc::clone(known);
    }
    let new: Arc<str> = text.into();
    texts.insert(Arc::clone(&new));
    new
}
