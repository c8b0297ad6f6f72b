//! The kernels of all traces.

use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

use rtl_analysis::streaming::{Kernel, Sketch};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// Shards of the durations: each has a lock of its own.
const SHARDS: usize = 64;

/// The durations of the kernels of all traces, by label. A thread adds those of the trace that it has read: sums do not depend on the
/// order of traces.
#[derive(Debug)]
pub(crate) struct Durations([Mutex<FxHashMap<Arc<str>, Sketch>>; SHARDS]);

impl Default for Durations {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Durations {
    pub(crate) fn add(&self, kernel: &Kernel, durations: &Sketch) {
        let shard = FxBuildHasher.hash_one(&kernel.label) as usize % SHARDS;
        let mut shard = self.0[shard].lock().unwrap_or_else(PoisonError::into_inner);
        shard.entry(Arc::clone(&kernel.label)).or_default().append(durations);
    }

    pub(crate) fn into_map(self) -> FxHashMap<Arc<str>, Sketch> {
        self.0
            .into_iter()
            .flat_map(|shard| shard.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect()
    }
}

/// The kernels of all traces, each with a name that no other has.
#[derive(Debug, Default)]
pub(crate) struct Kernels {
    /// In the order of their first use.
    pub(crate) all: Vec<KernelEntry>,
    by_label: FxHashMap<Arc<str>, usize>,
    names: FxHashSet<Arc<str>>,
}

#[derive(Debug)]
pub(crate) struct KernelEntry {
    pub(crate) label: Arc<str>,
    pub(crate) name: KernelName,
}

#[derive(Debug, Clone)]
pub(crate) struct KernelName {
    /// A unique name, demangled if possible.
    pub(crate) name: Arc<str>,
    pub(crate) category: Arc<str>,
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
        let name = names.map(Arc::from).find(|name| self.names.insert(Arc::clone(name))).unwrap_or_default();
        self.by_label.insert(kernel.label.clone(), self.all.len());
        let name = KernelName { name, category: kernel.category.clone() };
        self.all.push(KernelEntry { label: Arc::clone(&kernel.label), name });
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
        let names: Vec<&str> = kernels.all.iter().map(|known| &*known.name.name).collect();
        assert_eq!(names, ["A::A()", "_ZN1AC2Ev", "gemm()", "_Z4gemmv"]);
    }
}
