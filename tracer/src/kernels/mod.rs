//! From the `kernel_object` of a packet to the kernel that it names, at the time of the dispatch.
//!
//! Nothing happens when a code object is loaded. The first dispatch of a kernel asks the runtime which code object
//! contains the address and reads the name from the symbols that were loaded with the code ([`elf`]), what the
//! kernel takes from its descriptor ([`descriptor`]). Both lie in the copy that the runtime itself keeps of each
//! loaded code object; the image that the application passed may be gone by now, or overwritten. Where that copy
//! holds no symbols (stripped or made by other linkers than lld), the runtime's own list is asked once.

mod code_object;
pub mod descriptor;
pub mod elf;
pub mod names;
mod query;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use hsa_sys::bindings::{CoreApiTable, hsa_executable_t};

use code_object::{Found, Names};
use query::{Memory, Place, Query};

/// A kernel of a loaded code object. What is unknown is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kernel {
    /// The symbol without `.kd`, mangled as it is in the code object; see [`names::text_of`].
    pub mangled: String,
    /// Bytes of kernel arguments.
    pub kernarg: Option<u32>,
    /// Bytes of static LDS of a work-group.
    pub lds: Option<u32>,
    /// Bytes of scratch memory of a work-item.
    pub scratch: Option<u32>,
    /// Scalar registers.
    pub sgprs: Option<u32>,
    /// Vector registers.
    pub vgprs: Option<u32>,
    /// Accumulation registers.
    pub agprs: Option<u32>,
    /// The number of the code object: 1, 2, ... as the first kernel of each was dispatched. One that is loaded again
    /// where it was keeps its number.
    pub code_object: Option<u32>,
    /// The address of the kernel's descriptor, which packets carry.
    pub kernel_object: u64,
}

/// A code object of which a kernel was dispatched.
#[derive(Debug)]
struct CodeObject {
    number: u32,
    executable: u64,
    base: u64,
    size: u64,
    memory: Memory,
    /// Once a kernel of it was asked for.
    names: Option<Names>,
}

/// Knows the code objects that are loaded.
#[derive(Debug)]
pub struct Loader {
    query: Query,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// By base address; they do not overlap.
    code_objects: BTreeMap<u64, CodeObject>,
    /// By base address and size.
    numbers: HashMap<(u64, u64), u32>,
}

impl Loader {
    /// Asks nothing yet. `None` where the runtime offers no way to ask.
    #[must_use]
    pub fn new(core: &CoreApiTable) -> Option<Self> {
        Some(Self { query: Query::new(core)?, seen: Mutex::default() })
    }

    /// Forgets an executable before it is destroyed: its addresses may soon be those of other kernels.
    pub fn destroy(&self, executable: hsa_executable_t) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.code_objects.retain(|_, code_object| code_object.executable != executable.handle);
    }

    /// The kernel at this address now; `None` where the runtime has loaded none. Allocates, and takes the runtime's
    /// own locks on what it has loaded, never one of a queue.
    #[must_use]
    pub fn resolve(&self, kernel_object: u64) -> Option<Kernel> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        // What was remembered of a code object holds as long as the runtime has the same memory for it: an
        // executable may also be destroyed by another tool, past our hook.
        let host = self.query.host_address(kernel_object)?;
        let is_here = |code_object: &CodeObject| {
            let offset = kernel_object.checked_sub(code_object.base);
            offset.is_some_and(|at| at < code_object.size && code_object.memory.is_at(at, host))
        };
        if !seen.at(kernel_object).is_some_and(|code_object| is_here(code_object)) {
            seen.add(&self.query, kernel_object);
        }
        let code_object = seen.at(kernel_object).filter(|code_object| is_here(code_object))?;
        let (number, found) = code_object.find(&self.query, kernel_object)?;
        let resources = found.resources;
        Some(Kernel {
            mangled: names::text_of(&found.name).into_owned(),
            kernarg: resources.kernarg,
            lds: resources.lds,
            scratch: resources.scratch,
            sgprs: resources.sgprs,
            vgprs: resources.vgprs,
            agprs: resources.agprs,
            code_object: Some(number),
            kernel_object,
        })
    }
}

impl Seen {
    fn at(&mut self, kernel_object: u64) -> Option<&mut CodeObject> {
        self.code_objects.range_mut(..=kernel_object).next_back().map(|(_, code_object)| code_object)
    }

    /// Remembers the code object that is loaded at an address, in place of what was there before.
    fn add(&mut self, query: &Query, kernel_object: u64) {
        let Some(executable) = query.executable(kernel_object) else { return };
        let contains = |base: u64, size: u64| kernel_object.checked_sub(base).is_some_and(|at| at < size);
        let places = query.places(executable).into_iter().filter(|place| contains(place.base, place.size));
        // One that does not begin at address 0, or of which there is no copy in one piece, is known by this address.
        let alone = Place { base: kernel_object, size: 1 };
        let known = places.chain([alone]).find_map(|place| Some((place, Memory::of(query, place)?)));
        let Some((place, memory)) = known else { return };
        let end = place.base.saturating_add(place.size);
        self.code_objects.retain(|&base, other| base >= end || base + other.size <= place.base);
        let next = self.numbers.len() as u32 + 1;
        let code_object = CodeObject {
            number: *self.numbers.entry((place.base, place.size)).or_insert(next),
            executable: executable.handle,
            base: place.base,
            size: place.size,
            memory,
            names: None,
        };
        self.code_objects.insert(place.base, code_object);
    }
}

impl CodeObject {
    #[expect(unsafe_code, reason = "reads the runtime's copy of the code object")]
    fn find(&mut self, query: &Query, kernel_object: u64) -> Option<(u32, Found)> {
        let (base, size) = (self.base, self.size);
        // SAFETY: the runtime has just said that the code object is loaded, and the application is dispatching a kernel
        // of it, so it is frozen and whoever destroys it meanwhile breaks the program without us too; our hook of
        // hsa_executable_destroy waits for the lock that the caller holds.
        let bytes = unsafe { self.memory.bytes() };
        let executable = hsa_executable_t { handle: self.executable };
        let ask = || {
            let kernels = query.kernels(executable).into_iter();
            let inside =
                kernels.filter_map(|kernel| Some((kernel.kernel_object.checked_sub(base)?, kernel.symbol)));
            inside.filter(|&(at, _)| at < size).collect()
        };
        let names = self.names.get_or_insert_with(|| Names::of(bytes));
        let found = names.find(bytes, kernel_object - base, ask)?;
        Some((self.number, found))
    }
}
