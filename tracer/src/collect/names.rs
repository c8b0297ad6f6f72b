//! Finds the kernel that a packet launches: the one that is at its address when it is submitted.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use hsa_sys::bindings::hsa_executable_t;

use crate::base::kernels::{Kernel, Loader};
use crate::base::registry::Registry;
use crate::base::try_lock::lock;
use crate::collect::dispatch::KernelId;

pub trait Resolve: Send + Sync {
    /// The kernel that is at this address now.
    fn resolve(&self, kernel_object: u64) -> Option<Kernel>;
}

impl Resolve for Loader {
    fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
        Self::resolve(self, kernel_object)
    }
}

/// A kernel that was resolved, and the generation in which it was.
type Resolved = (u32, KernelId);

/// Kernels that were dispatched; others are never resolved.
pub struct Names<R = Loader> {
    resolver: Option<R>,
    /// Rises whenever an address may have become that of another kernel.
    generation: AtomicU32,
    known: Mutex<HashMap<u64, (Resolved, Kernel)>>,
}

impl<R> Names<R> {
    /// `None` where the runtime has no loader extension.
    #[must_use]
    pub fn new(resolver: Option<R>) -> Self {
        Self { resolver, generation: AtomicU32::new(1), known: Mutex::default() }
    }

    /// Cached kernels are valid only in this generation.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes every address be resolved again.
    pub fn invalidate(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }
}

impl<R: Resolve> Names<R> {
    /// The kernel at this address, which is added to `kernels` unless it is there. `generation` was read before the packet was
    /// looked at.
    pub fn id(&self, kernel_object: u64, generation: u32, kernels: &Registry<Kernel>) -> KernelId {
        let mut known = lock(&self.known);
        if let Some((resolved, _)) = known.get(&kernel_object).filter(|((at, _), _)| *at == generation) {
            return resolved.1;
        }
        let found = self.resolver.as_ref().and_then(|resolver| resolver.resolve(kernel_object));
        let kernel = found.unwrap_or_else(|| nameless(kernel_object));
        // Equal code objects that are loaded at one address one after the other leave one entry.
        let id = match known.get(&kernel_object) {
            Some(((_, id), before)) if *before == kernel => *id,
            _ => KernelId(kernels.add(kernel.clone())),
        };
        known.insert(kernel_object, ((generation, id), kernel));
        id
    }
}

impl Names<Loader> {
    pub fn freeze(&self, executable: hsa_executable_t) {
        if let Some(loader) = &self.resolver {
            loader.freeze(executable);
        }
    }

    /// Called before an executable is destroyed.
    pub fn destroy(&self, executable: hsa_executable_t) {
        if let Some(loader) = &self.resolver {
            loader.destroy(executable);
        }
        self.invalidate();
    }
}

/// A kernel that no loaded code object has, with the name that rocm-trace-lite gives it.
fn nameless(kernel_object: u64) -> Kernel {
    Kernel { mangled: format!("kernel_{kernel_object:#x}"), kernel_object, ..Kernel::default() }
}

const CACHED: usize = 256;

/// A queue's own cache of the kernels that it launched, which needs no lock.
pub struct Cache {
    /// Kernel object, generation, kernel.
    entries: Box<[(u64, u32, KernelId); CACHED]>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { entries: Box::new([(0, 0, KernelId(0)); CACHED]) }
    }
}

impl Cache {
    /// The kernel at this address, if it is cached.
    #[inline]
    pub fn known(&self, object: u64, generation: u32) -> Option<KernelId> {
        let entry = &self.entries[Self::place(object)];
        (entry.0 == object && entry.1 == generation).then_some(entry.2)
    }

    /// Kernel descriptors have 64 bytes and are adjacent.
    fn place(object: u64) -> usize {
        (object >> 6) as usize % CACHED
    }

    /// The kernel at this address.
    pub fn id<R: Resolve>(&mut self, object: u64, names: &Names<R>, kernels: &Registry<Kernel>) -> KernelId {
        let generation = names.generation();
        self.known(object, generation).unwrap_or_else(|| {
            let id = names.id(object, generation, kernels);
            self.entries[Self::place(object)] = (object, generation, id);
            id
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// Resolves every address to a kernel with the present name, and counts the calls.
    #[derive(Default)]
    struct Loaded {
        name: Mutex<&'static str>,
        calls: AtomicU64,
    }

    impl Resolve for &Loaded {
        fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let mangled = (*self.name.lock().unwrap()).to_owned();
            (!mangled.is_empty()).then(|| Kernel { mangled, kernel_object, ..Kernel::default() })
        }
    }

    #[test]
    fn a_kernel_is_looked_up_once_however_many_queues_launch_it() {
        let (loaded, kernels) = (Loaded { name: Mutex::new("k"), ..Loaded::default() }, Registry::default());
        let names = Names::new(Some(&loaded));
        let (mut one, mut other) = (Cache::default(), Cache::default());
        let id = one.id(0x1000, &names, &kernels);
        assert_eq!([one.id(0x1000, &names, &kernels), other.id(0x1000, &names, &kernels)], [id; 2]);
        assert_eq!(loaded.calls.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn two_kernels_in_one_place_of_the_cache_stay_two() {
        let (loaded, kernels) = (Loaded { name: Mutex::new("k"), ..Loaded::default() }, Registry::default());
        let (names, mut cache) = (Names::new(Some(&loaded)), Cache::default());
        let (near, far) = (0x1000, 0x1000 + 64 * CACHED as u64);
        let ids = [near, far, near, far].map(|object| cache.id(object, &names, &kernels).0);
        assert_eq!(ids, [0, 1, 0, 1]);
    }

    #[test]
    fn an_address_that_is_used_again_means_the_newer_kernel() {
        let (loaded, kernels) =
            (Loaded { name: Mutex::new("old"), ..Loaded::default() }, Registry::default());
        let (names, mut cache) = (Names::new(Some(&loaded)), Cache::default());
        let old = cache.id(0x1000, &names, &kernels);
        names.invalidate();
        assert_eq!(cache.id(0x1000, &names, &kernels), old, "still the same kernel");
        *loaded.name.lock().unwrap() = "new";
        names.invalidate();
        let new = cache.id(0x1000, &names, &kernels);
        let name = |id: KernelId| kernels.get(id.0).unwrap().mangled.clone();
        assert_eq!((name(old), name(new)), ("old".to_owned(), "new".to_owned()));
    }

    #[test]
    fn a_kernel_that_nobody_knows_is_called_by_its_address() {
        let (loaded, kernels) = (Loaded::default(), Registry::default());
        let id = Names::new(Some(&loaded)).id(0x7f00, 1, &kernels);
        assert_eq!(kernels.get(id.0).unwrap().mangled, "kernel_0x7f00");
    }
}
