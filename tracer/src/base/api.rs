//! The runtime's functions, as they were when the library was loaded.
//!
//! Copied from the tables that `OnLoad` receives, before anything is replaced in them: what the tracer calls itself
//! never passes through its own hooks. Nothing of the runtime is linked.

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

/// The runtime's functions that the tracer calls, copied before any of them is replaced.
#[derive(Clone)]
pub struct Api {
    /// Everything in hsa.h.
    pub core: CoreApiTable,
    /// The layout of AMD's extension table.
    pub layout: AmdTable,
    /// Creates a queue whose packets pass a handler.
    pub intercept_create: QueueInterceptCreate,
    pub intercept_register: QueueInterceptRegister,
    pub queue_create: Option<QueueCreate>,
    pub queue_get_info: Option<QueueGetInfo>,
    /// How urgent a queue is.
    pub queue_set_priority: Option<QueueSetPriority>,
    /// The compute units of a queue.
    pub queue_cu_set_mask: Option<QueueCuSetMask>,
    /// Times for the packets of a queue.
    pub set_profiler_enabled: SetProfilerEnabled,
    /// From a GPU's clock to CLOCK_BOOTTIME.
    pub convert_tick: ConvertTick,
    pub async_copy_enable: Option<AsyncCopyEnable>,
    /// The times of a copy.
    pub get_async_copy_time: Option<GetAsyncCopyTime>,
    /// Whose memory an address is.
    pub pointer_info: Option<PointerInfo>,
    pub async_copy: Option<MemoryAsyncCopy>,
    /// A copy on a given engine.
    pub async_copy_on_engine: Option<MemoryAsyncCopyOnEngine>,
    /// A copy of a box.
    pub async_copy_rect: Option<MemoryAsyncCopyRect>,
    pub async_batch_copy: Option<MemoryAsyncBatchCopy>,
    /// A queue that may be shared.
    pub counted_queue_acquire: Option<CountedQueueAcquire>,
    /// The end of its use.
    pub counted_queue_release: Option<CountedQueueRelease>,
}

/// Why a process runs untraced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A table of a layout that nobody has looked at yet.
    #[error(transparent)]
    Unknown(#[from] UnknownTable),
    /// A table without a function that cannot be done without.
    #[error("this ROCm runtime has no {0}")]
    Missing(&'static str),
    /// `OnLoad` was called without a table.
    #[error("the ROCm runtime handed over no table of functions")]
    NoTable,
    /// The environment of such a program is that of someone with fewer rights (docs/guide/processes.md).
    #[error("the program has rights that its caller has not (set-user-ID)")]
    Privileged,
}

/// The tables that `OnLoad` received: where functions are read from and replaced.
#[derive(Clone, Copy, Debug)]
pub struct Tables {
    core: *mut CoreApiTable,
    extension: *mut u8,
    layout: AmdTable,
}

impl Tables {
    /// Looks at the versions of all tables before it looks at anything else.
    ///
    /// # Errors
    /// [`Unusable`] when a table is missing or unknown.
    ///
    /// # Safety
    /// `root` is null or points to an `HsaApiTable` of the runtime, which lives as long as the process.
    #[expect(unsafe_code, reason = "reads the runtime's tables")]
    pub unsafe fn of(root: *mut HsaApiTable) -> Result<Self, Unusable> {
        if root.is_null() {
            return Err(Unusable::NoTable);
        }
        // SAFETY: every table begins with its version, whatever its generation.
        table::check(Kind::Root, unsafe { &*root.cast::<ApiTableVersion>() })?;
        // SAFETY: the root's version says that its fields are where the type has them.
        let core = unsafe { (*root).core_ };
        // SAFETY: as above.
        let extension = unsafe { (*root).amd_ext_ };
        if core.is_null() || extension.is_null() {
            return Err(Unusable::NoTable);
        }
        // SAFETY: not null, and it begins with its version.
        table::check(Kind::Core, unsafe { &*core.cast::<ApiTableVersion>() })?;
        // SAFETY: not null, and it begins with its version.
        let layout = AmdTable::of(unsafe { &*extension.cast::<ApiTableVersion>() })?;
        Ok(Self { core, extension: extension.cast(), layout })
    }

    /// A copy of every function.
    ///
    /// # Errors
    /// [`Unusable::Missing`] when one is not there that cannot be done without.
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
        // SAFETY: `of` has checked that the core table is of this type.
        unsafe { *self.core }
    }

    /// Where the pointer of any function is, in a generation that has it.
    #[expect(unsafe_code, reason = "points into the runtime's tables")]
    pub(crate) fn place(&self, function: &Function) -> Option<*mut *mut c_void> {
        let offset = function.offset(self.layout)?;
        let table = match function.table {
            Kind::Core => self.core.cast(),
            Kind::AmdExtension => self.extension,
            Kind::Root => return None,
        };
        // SAFETY: `of` has checked the version of the table, and offsets are within its size.
        Some(unsafe { table.add(offset) }.cast())
    }

    /// Replaces a function of AMD's extension table, where it has one.
    #[expect(unsafe_code, reason = "writes to the runtime's tables")]
    pub(crate) fn replace<F: Copy>(&self, entry: &Entry<F>, with: F) {
        if let Some(place) = self.entry(entry).filter(|_| self.get(entry).is_some()) {
            // SAFETY: entries are declared with types of functions, which are pointers.
            let with = unsafe { std::mem::transmute_copy::<F, *mut c_void>(&with) };
            // SAFETY: as for `entry`, with a function of its type.
            unsafe { publish(place.cast(), with) };
        }
    }

    /// Replaces functions of the core table.
    #[expect(unsafe_code, reason = "writes to the runtime's tables")]
    pub(crate) fn replace_core(&self, replace: impl FnOnce(&mut CoreApiTable)) {
        const WORDS: usize = size_of::<CoreApiTable>() / size_of::<*mut c_void>();
        let before = self.core_now();
        let mut after = before;
        replace(&mut after);
        // SAFETY: a version of two words, and pointers behind it: words without anything between them.
        let [before, after] = [before, after]
            .map(|table| unsafe { std::mem::transmute::<CoreApiTable, [*mut c_void; WORDS]>(table) });
        for (at, &function) in after.iter().enumerate().filter(|&(at, function)| before[at] != *function) {
            // SAFETY: within the table, which `of` has checked to be of this type.
            let place = unsafe { self.core.cast::<*mut c_void>().add(at) };
            // SAFETY: what has changed is a function of the same type.
            unsafe { publish(place, function) };
        }
    }

    fn needed<F: Copy>(&self, entry: &Entry<F>) -> Result<F, Unusable> {
        self.get(entry).ok_or(Unusable::Missing(entry.name()))
    }

    /// The function in AMD's extension table now.
    #[expect(unsafe_code, reason = "reads the runtime's tables")]
    pub(crate) fn get<F: Copy>(&self, entry: &Entry<F>) -> Option<F> {
        // SAFETY: as for `entry`.
        unsafe { *self.entry(entry)? }
    }

    /// Where AMD's extension table has the function, an `Option` of its type.
    #[expect(unsafe_code, reason = "points into the runtime's tables")]
    fn entry<F>(&self, entry: &Entry<F>) -> Option<*mut Option<F>> {
        let offset = self.layout.offset(entry)?;
        // SAFETY: the layout is that of the table's own version, and offsets are within its size.
        Some(unsafe { self.extension.add(offset) }.cast())
    }
}

/// Puts a function into a table that is in use: a thread that starts the runtime at the same moment calls through it, and
/// finds the function before or this one, with everything that was done for it.
///
/// # Safety
/// `place` is that of a function of the same type in a table of the runtime.
#[expect(unsafe_code, reason = "writes to the runtime's tables")]
pub(crate) unsafe fn publish(place: *mut *mut c_void, function: *mut c_void) {
    // SAFETY: as the caller promised; the runtime reads the pointer as a whole.
    unsafe { AtomicPtr::from_ptr(place) }.store(function, Ordering::Release);
}

/// The data of the callback of [`Api::gpus`].
struct Search<'a> {
    core: &'a CoreApiTable,
    found: Vec<u64>,
}

impl Api {
    /// The handles of all GPUs, in the order in which the runtime lists them.
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

/// Keeps an agent that is a GPU.
#[expect(unsafe_code, reason = "called by the runtime")]
unsafe extern "C" fn look_at(agent: hsa_agent_t, search: *mut c_void) -> hsa_status_t {
    // SAFETY: the data that `Api::gpus` passed, which nobody else uses meanwhile.
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
