//! Kernels by identity, each looked at once.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::Categories;
use crate::categories::COLLECTIVE;

/// A kernel: all stored names with the same identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    /// Its identity: the name without descriptor suffix ([`rtl_schema::identity`]).
    pub label: String,
    /// Its category.
    pub category: String,
}

impl Kernel {
    /// Whether it waits for other ranks.
    #[must_use]
    pub fn is_collective(&self) -> bool {
        self.category == COLLECTIVE
    }
}

/// Kernels, numbered in order of first appearance. One index may serve all traces of a job.
#[derive(Debug, Default)]
pub struct KernelIndex {
    categories: Categories,
    kernels: Vec<Kernel>,
    numbers: FxHashMap<String, usize>,
}

impl KernelIndex {
    /// An empty index with these rules of categories.
    #[must_use]
    pub fn new(categories: &Categories) -> Self {
        Self { categories: categories.clone(), ..Self::default() }
    }

    /// The number of the kernel of a stored name.
    pub fn number(&mut self, name: &str) -> usize {
        let label = rtl_schema::identity(name);
        if let Some(&number) = self.numbers.get(label) {
            return number;
        }
        let category = self.categories.of(label).to_owned();
        self.kernels.push(Kernel { label: label.to_owned(), category });
        self.numbers.insert(label.to_owned(), self.kernels.len() - 1);
        self.kernels.len() - 1
    }

    /// All kernels, by number.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Their labels, by number.
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        self.kernels.iter().map(|kernel| kernel.label.as_str()).collect()
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
        let mut numbered: Vec<(usize, Kernel)> = self.kernels.into_iter().enumerate().collect();
        numbered.sort_by(|(_, one), (_, other)| order(one, other));
        let mut positions = vec![0; numbered.len()];
        numbered.iter().enumerate().for_each(|(position, &(number, _))| positions[number] = position);
        (numbered.into_iter().map(|(_, kernel)| kernel).collect(), positions)
    }
}
