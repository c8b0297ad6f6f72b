//! Calls the runtime's loader: its extension `hsa_ven_amd_loader`, and the functions for symbols of an executable.
//!
//! Only table 1.01 of the extension, of September 2017, is used, so every runtime whose API tables are known here has it.

use std::ffi::c_void;
use std::mem::size_of;
use std::sync::OnceLock;

use hsa_sys::bindings::*;

type Extension = hsa_ven_amd_loader_1_01_pfn_t;

#[derive(Clone)]
pub(super) struct Query {
    core: CoreApiTable,
    get_table: unsafe extern "C" fn(u16, u16, usize, *mut c_void) -> hsa_status_t,
    /// Read at the first use, because a runtime that is still starting refuses.
    extension: OnceLock<Extension>,
}

/// The address range of a loaded code object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) base: u64,
    pub(super) size: u64,
}

impl Place {
    pub(super) fn contains(self, address: u64) -> bool {
        address.checked_sub(self.base).is_some_and(|offset| offset < self.size)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.contains(other.base) || other.contains(self.base)
    }
}

/// A kernel in the runtime's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamedKernel {
    pub(super) kernel_object: u64,
    /// Symbol, with `.kd` where it has that.
    pub(super) symbol: Vec<u8>,
}

impl Query {
    pub(super) fn new(core: &CoreApiTable) -> Option<Self> {
        let get_table = core.hsa_system_get_major_extension_table_fn?;
        Some(Self { core: *core, get_table, extension: OnceLock::new() })
    }

    #[expect(unsafe_code, reason = "calls the runtime")]
    fn extension(&self) -> Option<&Extension> {
        if let Some(extension) = self.extension.get() {
            return Some(extension);
        }
        let mut extension = Extension {
            hsa_ven_amd_loader_query_host_address: None,
            hsa_ven_amd_loader_query_segment_descriptors: None,
            hsa_ven_amd_loader_query_executable: None,
            hsa_ven_amd_loader_executable_iterate_loaded_code_objects: None,
            hsa_ven_amd_loader_loaded_code_object_get_info: None,
        };
        let table = (&raw mut extension).cast();
        // SAFETY: the runtime writes as many bytes as it is told, function pointers in the order of the type.
        let status =
            unsafe { (self.get_table)(HSA_EXTENSION_AMD_LOADER as u16, 1, size_of::<Extension>(), table) };
        (status == HSA_STATUS_SUCCESS).then(|| self.extension.get_or_init(|| extension))
    }

    /// The address of the runtime's copy of the byte that the GPU sees at this address, if it lies in a loaded code object. The
    /// runtime keeps such a copy as long as the code object is loaded.
    #[expect(unsafe_code, reason = "calls the runtime")]
    pub(super) fn host_address(&self, device: u64) -> Option<*const u8> {
        let query = self.extension()?.hsa_ven_amd_loader_query_host_address?;
        let mut host = std::ptr::null();
        // SAFETY: the runtime only compares the device address, and writes a pointer.
        let status = unsafe { query(device as *const c_void, &raw mut host) };
        (status == HSA_STATUS_SUCCESS && !host.is_null()).then_some(host.cast())
    }

    /// The executable that was loaded at this address.
    #[expect(unsafe_code, reason = "calls the runtime")]
    pub(super) fn executable(&self, device: u64) -> Option<hsa_executable_t> {
        let query = self.extension()?.hsa_ven_amd_loader_query_executable?;
        let mut executable = hsa_executable_t { handle: 0 };
        // SAFETY: the runtime only compares the device address, and writes an executable.
        let status = unsafe { query(device as *const c_void, &raw mut executable) };
        (status == HSA_STATUS_SUCCESS).then_some(executable)
    }

    /// The places of the code objects of an executable.
    #[expect(unsafe_code, reason = "calls the runtime")]
    pub(super) fn places(&self, executable: hsa_executable_t) -> Vec<Place> {
        let mut handles: Vec<hsa_loaded_code_object_t> = Vec::new();
        let Some(extension) = self.extension() else { return Vec::new() };
        let (Some(iterate), Some(get_info)) = (
            extension.hsa_ven_amd_loader_executable_iterate_loaded_code_objects,
            extension.hsa_ven_amd_loader_loaded_code_object_get_info,
        ) else {
            return Vec::new();
        };
        // SAFETY: the executable is loaded; the runtime calls `add` with this vector before it returns.
        unsafe { iterate(executable, Some(add::<hsa_loaded_code_object_t>), (&raw mut handles).cast()) };
        let number = |handle, attribute| {
            let mut value = 0_u64;
            // SAFETY: both attributes have 64 bits.
            let status = unsafe { get_info(handle, attribute, (&raw mut value).cast()) };
            (status == HSA_STATUS_SUCCESS).then_some(value)
        };
        let place = |handle| {
            let base = number(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_BASE)?;
            Some(Place { base, size: number(handle, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_LOAD_SIZE)? })
        };
        handles.into_iter().filter_map(place).collect()
    }

    /// Every kernel of an executable, at the price of two calls of the runtime for each symbol.
    #[expect(unsafe_code, reason = "calls the runtime")]
    pub(super) fn kernels(&self, executable: hsa_executable_t) -> Vec<NamedKernel> {
        let mut symbols: Vec<hsa_executable_symbol_t> = Vec::new();
        if let Some(iterate) = self.core.hsa_executable_iterate_symbols_fn {
            // SAFETY: the executable is loaded; the runtime calls `add` with this vector before it returns.
            unsafe { iterate(executable, Some(add::<hsa_executable_symbol_t>), (&raw mut symbols).cast()) };
        }
        symbols.into_iter().filter_map(|symbol| self.kernel(symbol)).collect()
    }

    fn kernel(&self, symbol: hsa_executable_symbol_t) -> Option<NamedKernel> {
        let (mut kind, mut length, mut kernel_object) = (0_u32, 0_u32, 0_u64);
        self.read(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, (&raw mut kind).cast())?;
        if kind != HSA_SYMBOL_KIND_KERNEL {
            return None;
        }
        self.read(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, (&raw mut kernel_object).cast())?;
        self.read(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, (&raw mut length).cast())?;
        let mut name = vec![0_u8; length as usize];
        self.read(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name.as_mut_ptr().cast())?;
        Some(NamedKernel { kernel_object, symbol: name })
    }

    /// Reads an attribute of a symbol into `value`, which must have room for it.
    #[expect(unsafe_code, reason = "calls the runtime")]
    fn read(&self, symbol: hsa_executable_symbol_t, attribute: u32, value: *mut c_void) -> Option<()> {
        let get_info = self.core.hsa_executable_symbol_get_info_fn?;
        // SAFETY: `kernel` passes memory of the attribute's type, for the name as much as the runtime has just said: it writes no
        // terminating zero.
        let status = unsafe { get_info(symbol, attribute, value) };
        (status == HSA_STATUS_SUCCESS).then_some(())
    }
}

/// The runtime's copy of a loaded code object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    host: *const u8,
    size: usize,
}

// SAFETY: the memory belongs to the process, not to a thread, and nobody writes to it once the executable is frozen.
#[expect(unsafe_code, reason = "an address that any thread may read")]
unsafe impl Send for Memory {}

impl Memory {
    /// Finds the memory of a code object, if the runtime has one piece of memory for all of it.
    pub(super) fn find(query: &Query, place: Place) -> Option<Self> {
        let last = place.base.checked_add(place.size.checked_sub(1)?)?;
        let (host, end) = (query.host_address(place.base)?, query.host_address(last)?);
        let size = usize::try_from(place.size).ok().filter(|&size| size <= isize::MAX as usize)?;
        ((end as usize).checked_sub(host as usize) == Some(size - 1)).then_some(Self { host, size })
    }

    /// # Safety
    /// The code object is loaded and frozen, and stays so meanwhile.
    #[expect(unsafe_code, reason = "reads memory of the runtime")]
    pub(super) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the runtime's copy of a code object is one allocation of this size that lives until the executable is
        // destroyed, and is written to only before it is frozen.
        unsafe { std::slice::from_raw_parts(self.host, self.size) }
    }
}

/// Called by the runtime for each item of an executable; adds it to a vector.
#[expect(unsafe_code, reason = "called by the runtime")]
unsafe extern "C" fn add<T>(_: hsa_executable_t, found: T, all: *mut c_void) -> hsa_status_t {
    // SAFETY: this is the vector that `places` or `kernels` passed, which nobody else uses meanwhile.
    let all = unsafe { &mut *all.cast::<Vec<T>>() };
    all.push(found);
    HSA_STATUS_SUCCESS
}
