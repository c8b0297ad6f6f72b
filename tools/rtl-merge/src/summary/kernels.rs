//! The kernels of all traces.

use std::sync::Arc;

use rtl_analysis::streaming::{Kernel, Sketch};
use rustc_hash::{FxHashMap, FxHashSet};

/// Every kernel of any trace.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    /// In the order of their first use.
    pub(crate) all: Vec<KernelEntry>,
    by_label: FxHashMap<Arc<str>, usize>,
    names: FxHashSet<String>,
}

/// One kernel.
#[derive(Debug)]
pub(crate) struct KernelEntry {
    /// A unique name, demangled if possible.
    pub(crate) name: String,
    /// Its category.
    pub(crate) category: Arc<str>,
    /// The durations of its calls on all ranks.
    pub(crate) durations: Sketch,
}

impl Kernels {
    /// The position of a kernel in [`Self::all`].
    pub(crate) fn position(&mut self, kernel: &Kernel) -> usize {
        if let Some(&known) = self.by_label.get(&kernel.label) {
            return known;
        }
        let stored = || std::iter::once(kernel.label.to_string());
        let numbered = (2..).map(|number| format!("{}~{number}", kernel.label));
        let names = rtl_schema::demangle(&kernel.label).into_iter().chain(stored()).chain(numbered);
        let name = names.into_iter().find(|name| self.names.insert(name.clone())).unwrap_or_default();
        self.by_label.insert(kernel.label.clone(), self.all.len());
        self.all.push(KernelEntry { name, category: kernel.category.clone(), durations: Sketch::default() });
        self.all.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_unique_full_names() {
        let mut kernels = Kernels::default();
        for label in ["_ZN1AC1Ev", "_ZN1AC2Ev", "gemm()", "_Z4gemmv", "gemm()"] {
            kernels.position(&Kernel { label: label.into(), category: "other".into() });
        }
        let names: Vec<&str> = kernels.all.iter().map(|known| known.name.as_str()).collect();
        assert_eq!(names, ["A::A()", "_ZN1AC2Ev", "gemm()", "_Z4gemmv"]);
    }
}
