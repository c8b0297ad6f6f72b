//! Hooks of the functions that copy, and of those for the times of copies.

use std::ffi::{c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering;

use hsa_sys::bindings::{
    HSA_STATUS_ERROR, HSA_STATUS_SUCCESS, hsa_agent_t, hsa_amd_copy_direction_t, hsa_amd_pointer_info_t,
    hsa_amd_profiling_async_copy_time_t, hsa_dim3_t, hsa_pitched_ptr_t, hsa_signal_t, hsa_status_t,
    hsaDeviceToHost, hsaHostToDevice,
};
use hsa_sys::table;

use super::guard::{guarded, original, release};
use crate::base::api::Tables;
use crate::base::log;
use crate::collect::copies::{Copies, StartedCopy};
use crate::collect::copy_or_barrier::Copy;
use crate::collect::signals::Signal;
use crate::intercept::context::{self, Context};

pub(super) mod batches;

/// Installs the hooks of the functions that the runtime has.
pub(super) fn install(tables: &Tables) {
    tables.replace(&table::MEMORY_ASYNC_COPY, async_copy);
    tables.replace(&table::MEMORY_ASYNC_COPY_ON_ENGINE, async_copy_on_engine);
    tables.replace(&table::MEMORY_ASYNC_COPY_RECT, async_copy_rect);
    let Some(tracer) = context::get().filter(|tracer| tracer.copies.is_some()) else { return };
    let (Some(enable), Some(_)) = (tracer.api.async_copy_enable, tracer.api.get_async_copy_time) else {
        return;
    };
    // SAFETY: the runtime is initialised when it loads tools.
    let status = unsafe { enable(true) };
    if status != HSA_STATUS_SUCCESS {
        log::debug(format_args!("copies without times ({status:#x})"));
    }
    tables.replace(&table::ASYNC_COPY_ENABLE, async_copy_enable);
    tables.replace(&table::GET_ASYNC_COPY_TIME, get_async_copy_time);
}

/// The context that records copies, even after its recording has ended.
fn recording() -> Option<(&'static Context, &'static Copies)> {
    let tracer = context::get()?;
    Some((tracer, tracer.copies.as_ref()?))
}

/// One end of a copy: the agent that the program names for the memory, and the address.
type End = (hsa_agent_t, *const c_void);

/// The GPUs that are read from and written to. Programs may name one agent for both ends, regardless of the owner of the memory
/// (HIP does so for large copies between GPUs); newer runtimes then look the owner up, and so does this.
fn between(tracer: &Context, ends: [End; 2]) -> [Option<u16>; 2] {
    let is_said = ends[0].0.handle != ends[1].0.handle;
    ends.map(|(agent, address)| {
        let owner = if is_said { None } else { owner(tracer, address) };
        tracer.gpu(owner.unwrap_or(agent.handle))
    })
}

/// Handle of the agent that owns the memory, if the runtime knows it.
fn owner(tracer: &Context, address: *const c_void) -> Option<u64> {
    let pointer_info = tracer.api.pointer_info?;
    let size = u32::try_from(size_of::<hsa_amd_pointer_info_t>()).ok()?;
    let mut info = hsa_amd_pointer_info_t {
        size,
        type_: 0,
        agentBaseAddress: null_mut(),
        hostBaseAddress: null_mut(),
        sizeInBytes: 0,
        userData: null_mut(),
        agentOwner: hsa_agent_t { handle: 0 },
        global_flags: 0,
    };
    // SAFETY: any address may be looked up; `info` has its size in it and outlives the call, and no list is requested.
    let status = unsafe { pointer_info(address, &raw mut info, None, null_mut(), null_mut()) };
    (status == HSA_STATUS_SUCCESS && info.agentOwner.handle != 0).then_some(info.agentOwner.handle)
}

/// Makes the runtime copy `bytes` by `run`, with the application's signal or one of ours. `between` returns the GPUs at both
/// ends.
fn copied(
    signal: hsa_signal_t,
    bytes: u64,
    between: impl FnOnce(&Context) -> [Option<u16>; 2],
    run: impl FnOnce(hsa_signal_t) -> hsa_status_t,
) -> hsa_status_t {
    if bytes == 0 {
        // The runtime copies nothing and leaves the signal alone.
        return run(signal);
    }
    let begun = guarded(|tracer| begin(tracer, signal, bytes, between)).flatten();
    let Some((app, begun)) = begun else {
        release(signal);
        return run(signal);
    };
    let status = run(begun.own().map_or(signal, |handle| hsa_signal_t { handle }));
    // This is done even if the recording has ended meanwhile: a thread may wait for a signal that the tracer forwards.
    let finished = catch_unwind(AssertUnwindSafe(|| {
        let Some((tracer, copies)) = recording() else { return };
        match status {
            HSA_STATUS_SUCCESS => copies.submitted(begun, &tracer.shared),
            _ => copies.refused(begun, app, &tracer.shared),
        }
    }));
    if let (Err(_), Some(tracer)) = (finished, context::get()) {
        tracer.shared.fail();
    }
    status
}

/// `None` where copies are not recorded, or this is no signal of the runtime, which refuses such a copy.
fn begin(
    tracer: &'static Context,
    signal: hsa_signal_t,
    bytes: u64,
    between: impl FnOnce(&Context) -> [Option<u16>; 2],
) -> Option<(Signal, StartedCopy)> {
    let copies = tracer.copies()?;
    if signal.handle == 0 {
        return None;
    }
    // SAFETY: the application keeps the signal of a copy alive until the copy has completed.
    let app = unsafe { Signal::new(signal.handle) };
    if !app.has_copy_times() {
        return None;
    }
    let [source, destination] = between(tracer);
    Some((app, copies.begin(Copy { bytes, source, destination }, app, &tracer.shared)))
}

/// Declares the hook of a copy: its parameters, of which the first one named is the signal, the number of bytes, and the GPUs at
/// both ends.
macro_rules! copy {
    ($name:ident, $completion:ident, ($($argument:ident: $type:ty),+ $(,)?), $bytes:expr, $between:expr) => {
        unsafe extern "C" fn $name($($argument: $type),+) -> hsa_status_t {
            copied($completion, $bytes, $between, |$completion| original!($name($($argument),+)))
        }
    };
}

copy!(
    async_copy,
    completion,
    (
        destination: *mut c_void,
        destination_agent: hsa_agent_t,
        source: *const c_void,
        source_agent: hsa_agent_t,
        bytes: usize,
        dependency_count: u32,
        dependencies: *const hsa_signal_t,
        completion: hsa_signal_t,
    ),
    bytes as u64,
    |tracer| between(tracer, [(source_agent, source), (destination_agent, destination)])
);

copy!(
    async_copy_on_engine,
    completion,
    (
        destination: *mut c_void,
        destination_agent: hsa_agent_t,
        source: *const c_void,
        source_agent: hsa_agent_t,
        bytes: usize,
        dependency_count: u32,
        dependencies: *const hsa_signal_t,
        completion: hsa_signal_t,
        engine: c_uint,
        force_sdma: bool,
    ),
    bytes as u64,
    |tracer| between(tracer, [(source_agent, source), (destination_agent, destination)])
);

copy!(
    async_copy_rect,
    completion,
    (
        destination: *const hsa_pitched_ptr_t,
        destination_offset: *const hsa_dim3_t,
        source: *const hsa_pitched_ptr_t,
        source_offset: *const hsa_dim3_t,
        range: *const hsa_dim3_t,
        agent: hsa_agent_t,
        direction: hsa_amd_copy_direction_t,
        dependency_count: u32,
        dependencies: *const hsa_signal_t,
        completion: hsa_signal_t,
    ),
    // SAFETY: the pointer is null or to a range, which the caller passes to the runtime.
    unsafe { range.as_ref() }.map_or(0, |range| [range.x, range.y, range.z].map(u64::from).iter().product()),
    |tracer| {
        let gpu = tracer.gpu(agent.handle);
        let end = |end: *const hsa_pitched_ptr_t| {
            // SAFETY: the pointer is null or to a pitched pointer, which the caller passes to the runtime.
            let base = unsafe { end.as_ref() }.map_or(null(), |end| end.base.cast_const());
            (agent, base)
        };
        match direction {
            _ if direction == hsaHostToDevice => [None, gpu],
            _ if direction == hsaDeviceToHost => [gpu, None],
            _ => between(tracer, [end(source), end(destination)]),
        }
    }
);

/// Copies keep their times, without which they cannot be recorded; the application's request is noted.
unsafe extern "C" fn async_copy_enable(enable: bool) -> hsa_status_t {
    let Some(tracer) = context::get() else { return HSA_STATUS_ERROR };
    if enable {
        tracer.times_copies.store(true, Ordering::Relaxed);
    }
    original!(async_copy_enable(true))
}

/// A program that never enabled times of its copies gets the error that it would get without the tracer.
unsafe extern "C" fn get_async_copy_time(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t {
    let are_enabled = context::get().is_some_and(|tracer| tracer.times_copies.load(Ordering::Relaxed));
    let forwarded = guarded(|tracer| tracer.shared.copies.times(signal.handle)).flatten();
    if let (Some((start, end)), true, false) = (forwarded, are_enabled, time.is_null()) {
        // SAFETY: the caller wants the times there.
        unsafe { *time = hsa_amd_profiling_async_copy_time_t { start: start as u64, end: end as u64 } };
        return HSA_STATUS_SUCCESS;
    }
    if are_enabled || time.is_null() {
        return original!(get_async_copy_time(signal, time));
    }
    let mut unseen = hsa_amd_profiling_async_copy_time_t { start: 0, end: 0 };
    match original!(get_async_copy_time(signal, &raw mut unseen)) {
        HSA_STATUS_SUCCESS => HSA_STATUS_ERROR,
        refused => refused,
    }
}
