//! Finds the kernel that the `kernel_object` of a packet names, at the time of the dispatch.
//!
//! When an executable is frozen, only the places of its code objects are noted. The first dispatch of a kernel reads its name
//! from the symbols that were loaded with the code ([`elf`]), and its resources from its descriptor ([`descriptor`]). Both lie in
//! the copy that the runtime itself keeps of each loaded code object; the application may have freed or overwritten the image
//! that it passed. Where that copy holds no symbols (stripped, or made by other linkers than lld), the runtime's own list is read
//! once.
//!
//! The runtime's lookups by address search everything that is loaded, without a lock against a thread that is loading more
//! (`FindHostAddress` in ROCr's loader). So they are made once for a code object, never for a kernel.

mod code_object;
pub mod descriptor;
pub mod elf;
pub mod names;
mod query;

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use hsa_sys::bindings::{CoreApiTable, hsa_executable_t};

use crate::base::try_lock::lock;
use code_object::{FoundKernel, Names};
use descriptor::Resources;
use query::{Memory, Place, Query};

/// A kernel of a loaded code object. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// Symbol without `.kd`, mangled as it is in the code object; see [`names::text_of`].
    pub mangled: String,
    pub resources: Resources,
    /// Number of the code object, from 1 in the order of the first dispatch of each. One that is loaded again at its former place
    /// keeps its number.
    pub code_object: Option<u32>,
    /// Address of the kernel's descriptor, which packets carry.
    pub kernel_object: u64,
}

#[derive(Debug)]
struct CodeObject {
    executable: u64,
    place: Place,
    /// The runtime's copy, where there is one, and the names in it; `None` until a kernel of it is looked up.
    opened: Option<(Option<Memory>, Names)>,
}

/// The code objects that are loaded.
pub struct Loader {
    query: Query,
    loaded: Mutex<LoadedCode>,
}

#[derive(Debug, Default)]
struct LoadedCode {
    /// Code objects by base address; they do not overlap.
    code_objects: BTreeMap<u64, CodeObject>,
    /// Numbers of opened code objects.
    numbers: HashMap<Place, u32>,
}

impl Loader {
    /// Calls nothing of the runtime yet. `None` where the runtime has no extension for loaders.
    #[must_use]
    pub fn new(core: &CoreApiTable) -> Option<Self> {
        Some(Self { query: Query::new(core)?, loaded: Mutex::default() })
    }

    /// Notes the places of an executable that was frozen, which replaces those that were there before.
    pub fn freeze(&self, executable: hsa_executable_t) {
        let places = self.query.places(executable);
        let mut loaded = lock(&self.loaded);
        places.into_iter().for_each(|place| loaded.add(executable, place));
    }

    /// Forgets an executable before it is destroyed: its addresses may soon be those of other kernels.
    pub fn destroy(&self, executable: hsa_executable_t) {
        lock(&self.loaded).code_objects.retain(|_, code_object| code_object.executable != executable.handle);
    }

    /// Finds the kernel that is at this address now; `None` where the runtime has loaded none. Allocates, and takes the runtime's
    /// own locks on loaded code, never one of a queue.
    #[must_use]
    pub fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
        let mut loaded = lock(&self.loaded);
        if loaded.at(kernel_object).is_none() {
            // It was frozen before this library was loaded, or by another tool past our hook.
            let executable = self.query.executable(kernel_object)?;
            let place = self.query.places(executable).into_iter().find(|place| place.contains(kernel_object));
            // A code object that does not begin at address 0 is known by this address alone.
            loaded.add(executable, place.unwrap_or(Place { base: kernel_object, size: 1 }));
        }
        let (number, found) = loaded.find(&self.query, kernel_object)?;
        Some(Kernel {
            mangled: names::text_of(&found.name).into_owned(),
            resources: found.resources,
            code_object: Some(number),
            kernel_object,
        })
    }
}

impl LoadedCode {
    fn at(&mut self, address: u64) -> Option<&mut CodeObject> {
        let (_, code_object) = self.code_objects.range_mut(..=address).next_back()?;
        code_object.place.contains(address).then_some(code_object)
    }

    fn add(&mut self, executable: hsa_executable_t, place: Place) {
        self.code_objects.retain(|_, other| !other.place.overlaps(place));
        let executable = executable.handle;
        self.code_objects.insert(place.base, CodeObject { executable, place, opened: None });
    }

    fn find(&mut self, query: &Query, kernel_object: u64) -> Option<(u32, FoundKernel)> {
        let next = self.numbers.len() as u32 + 1;
        let place = self.at(kernel_object)?.place;
        let number = *self.numbers.entry(place).or_insert(next);
        let found = self.at(kernel_object)?.find(query, kernel_object)?;
        Some((number, found))
    }
}

impl CodeObject {
    #[expect(unsafe_code, reason = "reads the runtime's copy of the code object")]
    fn find(&mut self, query: &Query, kernel_object: u64) -> Option<FoundKernel> {
        let place = self.place;
        let memory = self.opened.as_ref().map_or_else(|| Memory::find(query, place), |(memory, _)| *memory);
        // SAFETY: the application is dispatching a kernel of this code object, so it is loaded and frozen. Nothing else was
        // frozen here since, and our hook of hsa_executable_destroy waits for the lock that the caller holds.
        let bytes = memory.map_or(&[][..], |memory| unsafe { memory.bytes() });
        let executable = hsa_executable_t { handle: self.executable };
        let list_kernels = || {
            let kernels = query.kernels(executable).into_iter();
            let inside = kernels.filter(|kernel| place.contains(kernel.kernel_object));
            inside.map(|kernel| (kernel.kernel_object - place.base, kernel.symbol)).collect()
        };
        let (_, names) = self.opened.get_or_insert_with(|| (memory, Names::new(bytes)));
        names.find(bytes, kernel_object - place.base, list_kernels)
    }
}
