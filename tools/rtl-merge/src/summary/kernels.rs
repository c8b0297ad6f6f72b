//! The kernels of all traces together.

use rtl_analysis::streaming::{Kernel, Sketch};
use rustc_hash::{FxHashMap, FxHashSet};

/// Every kernel that any trace has run.
#[derive(Debug, Default)]
pub struct Kernels {
    /// In the order in which they were met.
    pub all: Vec<Known>,
    by_label: FxHashMap<String, usize>,
    names: FxHashSet<String>,
}

/// One kernel.
#[derive(Debug)]
pub struct Known {
    /// What it is called, unlike all others: demangled where it is stored mangled.
    pub name: String,
    /// Its category.
    pub category: String,
    /// What its calls took on all ranks.
    pub durations: Sketch,
}

impl Kernels {
    /// The position of a kernel in [`Self::all`].
    pub fn position(&mut self, kernel: &Kernel) -> usize {
        if let Some(&known) = self.by_label.get(&kernel.label) {
            return known;
        }
        let stored = || std::iter::once(kernel.label.clone());
        let numbered = (2..).map(|number| format!("{}~{number}", kernel.label));
        let names = rtl_schema::demangle(&kernel.label).into_iter().chain(stored()).chain(numbered);
        let name = names.into_iter().find(|name| self.names.insert(name.clone())).unwrap_or_default();
        self.by_label.insert(kernel.label.clone(), self.all.len());
        self.all.push(Known { name, category: kernel.category.clone(), durations: Sketch::default() });
        self.all.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_called_by_their_full_names_and_no_two_are_called_the_same() {
        let mut kernels = Kernels::default();
        for label in ["_ZN1AC1Ev", "_ZN1AC2Ev", "gemm()", "_Z4gemmv", "gemm()"] {
            kernels.position(&Kernel { label: label.to_owned(), category: "other".to_owned() });
        }
        let names: Vec<&str> = kernels.all.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["A::A()", "_ZN1AC2Ev", "gemm()", "_Z4gemmv"]);
    }
}
