//! The runtime's functions, as they were when the library was loaded.
//!
//! They are copied from the tables that `OnLoad` receives, before any of them is replaced, so that the tracer's own calls never
//! pass through its hooks. Nothing of the runtime is linked.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use hsa_sys::bindings::{
    ApiTableVersion, CoreApiTable, HSA_AGENT_INFO_DEVICE, HSA_DEVICE_TYPE_GPU, HSA_STATUS_SUCCESS,
    HsaApiTable, hsa_agent_t, hsa_device_type_t, hsa_status_t,
};
use hsa_sys::function::{
    AsyncCopyEnable, ConvertTick, CountedQueueAcquire, CountedQueueRelease, GetAsyncCopyTime,
    MemoryAsyncBatchCopy, MemoryAsyncCopy, MemoryAsyncCopyOnEngine, MemoryAsyncCopyRect, PointerInfo,
    QueueCreate, QueueCuSetMask, QueueGetInfo, QueueInterceptCreate, QueueInterceptRegister,
    QueueSetPriority, SetProfilerEnabled,
};
use hsa_sys::table::{self, AmdTable, Entry, Function, Kind, UnknownTable};

#[derive(Clone)]
pub struct Api {
    /// The functions of hsa.h.
    pub core: CoreApiTable,
    /// The layout of AMD's extension table.
    pub layout: AmdTable,
    pub intercept_create: QueueInterceptCreate,
    pub intercept_register: QueueInterceptRegister,
    pub queue_create: Option<QueueCreate>,
    pub queue_get_info: Option<QueueGetInfo>,
    pub queue_set_priority: Option<QueueSetPriority>,
    pub queue_cu_set_mask: Option<QueueCuSetMask>,
    pub set_profiler_enabled: SetProfilerEnabled,
    /// Converts a GPU's clock to CLOCK_BOOTTIME.
    pub convert_tick: ConvertTick,
    pub async_copy_enable: Option<AsyncCopyEnable>,
    pub get_async_copy_time: Option<GetAsyncCopyTime>,
    pub pointer_info: Option<PointerInfo>,
    pub async_copy: Option<MemoryAsyncCopy>,
    pub async_copy_on_engine: Option<MemoryAsyncCopyOnEngine>,
    pub async_copy_rect: Option<MemoryAsyncCopyRect>,
    pub async_batch_copy: Option<MemoryAsyncBatchCopy>,
    pub counted_queue_acquire: Option<CountedQueueAcquire>,
    pub counted_queue_release: Option<CountedQueueRelease>,
}

/// The reason why a process is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A table has a layout that nobody has looked at yet.
    #[error(transparent)]
    Unknown(#[from] UnknownTable),
    /// A function that the tracer needs is not in the table.
    #[error("this ROCm runtime has no {0}")]
    Missing(&'static str),
    /// `OnLoad` was called without a table.
    #[error("the ROCm runtime handed over no table of functions")]
    NoTable,
    /// The program's environment comes from someone with fewer rights (docs/guide/processes.md).
    #[error("the program has rights that its caller has not (set-user-ID)")]
    Privileged,
}

/// The tables that `OnLoad` received, in which functions are read and replaced.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    core: *mut CoreApiTable,
    extension: *mut u8,
    layout: AmdTable,
}

impl Tables {
    /// Checks the versions of all tables before it reads anything else.
    ///
    /// # Errors
    /// [`Unusable`] when a table is missing or unknown.
    ///
    /// # Safety
    /// `root` is null or points to an `HsaApiTable` of the runtime, which lives as long as the process.
    #[expect(unsafe_code, reason = "reads the runtime's tables")]
    pub unsafe fn from_root(root: *mut HsaApiTable) -> Result<Self, Unusable> {
        if root.is_null() {
            return Err(Unusable::NoTable);
        }
        // SAFETY: every table begins with its version, in all generations.
        table::check(Kind::Root, unsafe { &*root.cast::<ApiTableVersion>() })?;
        // SAFETY: the root's version says that its fields are where the type has them.
        let core = unsafe { (*root).core_ };
        // SAFETY: the root's fields are where the type has them, as above.
        let extension = unsafe { (*root).amd_ext_ };
        if core.is_null() || extension.is_null() {
            return Err(Unusable::NoTable);
        }
        // SAFETY: the pointer is not null, and the table begins with its version.
        table::check(Kind::Core, unsafe { &*core.cast::<ApiTableVersion>() })?;
        // SAFETY: the pointer is not null, and the table begins with its version.
        let layout = AmdTable::for_version(unsafe { &*extension.cast::<ApiTableVersion>() })?;
        Ok(Self { core, extension: extension.cast(), layout })
    }

    /// Copies the functions that the tracer calls.
    ///
    /// # Errors
    /// [`Unusable::Missing`] when the runtime lacks one that the tracer needs.
    pub fn functions(&self) -> Result<Api, Unusable> {
        Ok(Api {
            core: self.core_now(),
            layout: self.layout,
            intercept_create: self.needed(&table::QUEUE_INTERCEPT_CREATE)?,
            intercept_register: self.needed(&table::QUEUE_INTERCEPT_REGISTER)?,
            queue_create: self.get(&table::QUEUE_CREATE),
            queue_get_info: self.get(&table::QUEUE_GET_INFO),
            queue_set_priority: self.get(&table::QUEUE_SET_PRIORITY),
            queue_cu_set_mask: self.get(&table::QUEUE_CU_SET_MASK),
            set_profiler_enabled: self.needed(&table::SET_PROFILER_ENABLED)?,
            convert_tick: self.needed(&table::CONVERT_TICK)?,
            async_copy_enable: self.get(&table::ASYNC_COPY_ENABLE),
            get_async_copy_time: self.get(&table::GET_ASYNC_COPY_TIME),
            pointer_info: self.get(&table::POINTER_INFO),
            async_copy: self.get(&table::MEMORY_ASYNC_COPY),
            async_copy_on_engine: self.get(&table::MEMORY_ASYNC_COPY_ON_ENGINE),
            async_copy_rect: self.get(&table::MEMORY_ASYNC_COPY_RECT),
            async_batch_copy: self.get(&table::MEMORY_ASYNC_BATCH_COPY),
            counted_queue_acquire: self.get(&table::COUNTED_QUEUE_ACQUIRE),
            counted_queue_release: self.get(&table::COUNTED_QUEUE_RELEASE),
        })
    }

    /// The core table as it is now.
    #[expect(unsafe_code, reason = "reads the runtime's tables")]
    pub(crate) fn core_now(&self) -> CoreApiTable {
        // SAFETY: `from_root` has checked that the core table is of this type.
        unsafe { *self.core }
    }

    /// The place of a function's pointer, in a generation that has it.
    #[expect(unsafe_code, reason = "points into the runtime's tables")]
    pub(crate) fn place(&self, function: &Function) -> Option<*mut *mut c_void> {
        let offset = function.offset(self.layout)?;
        let table = match function.table {
            Kind::Core => self.core.cast(),
            Kind::AmdExtension => self.extension,
            Kind::Root => return None,
        };
        // SAFETY: `from_root` has checked the version of the table, and offsets are within its size.
        Some(unsafe { table.add(offset) }.cast())
    }

    /// Replaces a function of AMD's extension table, if the table has it.
    #[expect(unsafe_code, reason = "writes to the runtime's tables")]
    pub(crate) fn replace<F: Copy>(&self, entry: &Entry<F>, with: F) {
        if let Some(place) = self.entry(entry).filter(|_| self.get(entry).is_some()) {
            // SAFETY: entries are declared with types of functions, which are pointers.
            let with = unsafe { std::mem::transmute_copy::<F, *mut c_void>(&with) };
            // SAFETY: the place is that of a function of this type in a table of the runtime.
            unsafe { publish(place.cast(), with) };
        }
    }

    #[expect(unsafe_code, reason = "writes to the runtime's tables")]
    pub(crate) fn replace_core(&self, replace: impl FnOnce(&mut CoreApiTable)) {
        const WORDS: usize = size_of::<CoreApiTable>() / size_of::<*mut c_void>();
        let before = self.core_now();
        let mut after = before;
        replace(&mut after);
        // SAFETY: the table is a version of two words and pointers behind it, so it consists of words without gaps.
        let [before, after] = [before, after]
            .map(|table| unsafe { std::mem::transmute::<CoreApiTable, [*mut c_void; WORDS]>(table) });
        for (at, &function) in after.iter().enumerate().filter(|&(at, function)| before[at] != *function) {
            // SAFETY: the word is within the table, which `from_root` has checked to be of this type.
            let place = unsafe { self.core.cast::<*mut c_void>().add(at) };
            // SAFETY: the word that has changed is a function of the same type.
            unsafe { publish(place, function) };
        }
    }

    fn needed<F: Copy>(&self, entry: &Entry<F>) -> Result<F, Unusable> {
        self.get(entry).ok_or(Unusable::Missing(entry.name()))
    }

    /// The function that AMD's extension table has now.
    #[expect(unsafe_code, reason = "reads the runtime's tables")]
    pub(crate) fn get<F: Copy>(&self, entry: &Entry<F>) -> Option<F> {
        // SAFETY: `entry` points to an `Option<F>` within the table.
        unsafe { *self.entry(entry)? }
    }

    /// The place of an `Option<F>` in AMD's extension table.
    #[expect(unsafe_code, reason = "points into the runtime's tables")]
    fn entry<F>(&self, entry: &Entry<F>) -> Option<*mut Option<F>> {
        let offset = self.layout.offset(entry)?;
        // SAFETY: the layout is that of the table's own version, and offsets are within its size.
        Some(unsafe { self.extension.add(offset) }.cast())
    }
}

/// Puts a function into a table that is in use. A thread that starts the runtime at the same moment calls through the table, and
/// finds the function before or this one with all data that was written for it.
///
/// # Safety
/// `place` holds a function of the same type in a table of the runtime.
#[expect(unsafe_code, reason = "writes to the runtime's tables")]
pub(crate) unsafe fn publish(place: *mut *mut c_void, function: *mut c_void) {
    // SAFETY: the caller promised a place in a table, and the runtime reads a pointer as a whole.
    unsafe { AtomicPtr::from_ptr(place) }.store(function, Ordering::Release);
}

/// The data of the callback of [`Api::gpus`].
struct Search<'a> {
    core: &'a CoreApiTable,
    found: Vec<u64>,
}

impl Api {
    /// Handles of all GPUs, in the runtime's order.
    #[must_use]
    #[expect(unsafe_code, reason = "calls the runtime")]
    pub fn gpus(&self) -> Vec<u64> {
        let mut search = Search { core: &self.core, found: Vec::new() };
        if let Some(iterate) = self.core.hsa_iterate_agents_fn {
            // SAFETY: the runtime is initialised when it loads tools; it calls `look_at` before it returns.
            unsafe { iterate(Some(look_at), (&raw mut search).cast()) };
        }
        search.found
    }
}

/// Adds the agent to the search's result if it is a GPU.
#[expect(unsafe_code, reason = "called by the runtime")]
unsafe extern "C" fn look_at(agent: hsa_agent_t, search: *mut c_void) -> hsa_status_t {
    // SAFETY: the data are those that `Api::gpus` passed, which nobody else uses meanwhile.
    let search = unsafe { &mut *search.cast::<Search<'_>>() };
    let mut kind: hsa_device_type_t = 0;
    if let Some(get_info) = search.core.hsa_agent_get_info_fn {
        // SAFETY: the attribute is of the type of `kind`.
        unsafe { get_info(agent, HSA_AGENT_INFO_DEVICE, (&raw mut kind).cast()) };
        if kind == HSA_DEVICE_TYPE_GPU {
            search.found.push(agent.handle);
        }
    }
    HSA_STATUS_SUCCESS
}
