//! The runtime's functions that the tracer stands in front of. Each does the runtime's work first or last, whatever
//! happens to ours.

#![expect(unsafe_code, reason = "called by the application in place of the runtime")]

mod copies;
mod counted;
mod descriptors;
mod guard;
mod queues;

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicBool;

use hsa_sys::bindings::{
    CoreApiTable, HSA_QUEUE_TYPE_COOPERATIVE, HSA_STATUS_ERROR, HSA_STATUS_SUCCESS, hsa_agent_t,
    hsa_executable_t, hsa_queue_t, hsa_queue_type32_t, hsa_signal_t, hsa_signal_value_t, hsa_status_t,
};
use hsa_sys::function::{QueueCallback, QueueInterceptCreate};
use hsa_sys::table;

use crate::base::api::Tables;
use crate::base::counters::Lost;
use crate::base::headroom;
use crate::base::log;
use crate::collect::shared::Phase;
use crate::intercept::context::{self, Context};
use crate::intercept::cooperative::Leave;
use crate::intercept::hsa;
use crate::intercept::staging::{Cut, Doorbells};
use guard::{caught, guarded, original, release};
use queues::{recorded, unseen};

/// True where the tables have the hooks already, or thunks in front of them. The runtime fills its tables anew whenever it
/// starts; one that did not would have the hooks call themselves.
pub fn are_in(tables: &Tables) -> bool {
    let create = tables.core_now().hsa_queue_create_fn;
    let is_hook = create.is_some_and(|create| {
        std::ptr::fn_addr_eq(create, queue_create as unsafe extern "C" fn(_, _, _, _, _, _, _, _) -> _)
    });
    is_hook || hsa::are_in(tables)
}

/// Puts the hooks into the tables.
pub fn install(tables: &Tables) {
    tables.replace_core(|core| {
        core.hsa_shut_down_fn = Some(shut_down);
        core.hsa_queue_create_fn = Some(queue_create);
        core.hsa_queue_destroy_fn = Some(queue_destroy);
        core.hsa_executable_freeze_fn = Some(executable_freeze);
        core.hsa_executable_destroy_fn = Some(executable_destroy);
        core.hsa_signal_destroy_fn = Some(signal_destroy);
    });
    hsa::init_refcount::install(tables);
    tables.replace(&table::SET_PROFILER_ENABLED, set_profiler_enabled);
    if context::get().is_some_and(|tracer| tracer.doorbells.is_some()) {
        tables.replace_core(|core| {
            core.hsa_signal_store_relaxed_fn = Some(signal_store_relaxed);
            core.hsa_signal_store_screlease_fn = Some(signal_store_screlease);
            core.hsa_queue_load_read_index_relaxed_fn = Some(queue_load_read_index_relaxed);
            core.hsa_queue_load_read_index_scacquire_fn = Some(queue_load_read_index_scacquire);
        });
    }
    copies::install(tables);
    copies::batches::install(tables);
    counted::install(tables);
    descriptors::install(tables);
}

/// When this is the last of its calls, the runtime of ROCm 7 answers nothing any more by the time that it unloads its
/// tools: neither what a tick means nor what becomes of a signal. So this is the moment for both.
unsafe extern "C" fn shut_down() -> hsa_status_t {
    let original = || original!(core.hsa_shut_down_fn());
    hsa::init_refcount::shut_down(original, || {
        guarded(Context::runtime_ends);
        let status = original();
        guarded(|tracer| {
            tracer.runtime_goes_on();
            hsa::init_refcount::go_on();
        });
        status
    })
}

unsafe extern "C" fn queue_create(
    agent: hsa_agent_t,
    size: u32,
    kind: hsa_queue_type32_t,
    callback: QueueCallback,
    data: *mut c_void,
    private_segment_size: u32,
    group_segment_size: u32,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    let create = |create: QueueInterceptCreate, queue| {
        // SAFETY: the arguments are the caller's; the result goes where our caller wants it.
        unsafe { create(agent, size, kind, callback, data, private_segment_size, group_segment_size, queue) }
    };
    let _turn = guarded(|tracer| tracer.creations.take());
    let created = guarded(|tracer| {
        let gpu = tracer.gpu(agent.handle).filter(|_| !queue.is_null() && !tracer.settings.no_kernels)?;
        if headroom::is_gone() {
            static SAID: AtomicBool = AtomicBool::new(false);
            log::warn_once(&SAID, format_args!("a queue is not recorded: the process had no more memory"));
            return None;
        }
        let created = recorded(tracer, gpu, kind, |queue| create(tracer.api.intercept_create, queue)).ok()?;
        // SAFETY: the caller wants the queue there.
        unsafe { *queue = created };
        Some(HSA_STATUS_SUCCESS)
    });
    // What cannot be intercepted is left to the runtime, and so is the error of a call that is wrong.
    let original = || {
        context::get()
            .and_then(|tracer| tracer.api.core.hsa_queue_create_fn)
            .map(|original| create(original, queue))
    };
    if let Some(Some(status)) = created {
        return status;
    }
    let status = original().unwrap_or(HSA_STATUS_ERROR);
    if status == HSA_STATUS_SUCCESS {
        // SAFETY: the runtime has just put a queue there.
        let queue = unsafe { *queue };
        // SAFETY: as above.
        unsafe { unseen(agent, queue, Lost::Unintercepted) };
    }
    status
}

/// The effect of the destruction of this queue; `None` when it is not cooperative. HIP destroys its own at the end of the
/// process, after the recording: the runtime must not get at it then either.
fn leave_cooperative(queue: u64) -> Option<Leave> {
    let tracer = context::get()?;
    if tracer.shared.is_recording() {
        guarded(|tracer| tracer.cooperative.leave(queue)).flatten()
    } else {
        caught(tracer, || tracer.cooperative.leave_at_once(queue))
    }
}

/// Tells the runtime that nobody uses a GPU's cooperative queue any more, without destroying the interceptible one: asks
/// for the queue itself, which makes two users, and sends both away.
fn release_cooperative(agent: hsa_agent_t) {
    let mut queue = std::ptr::null_mut();
    let created = original!(core.hsa_queue_create_fn(
        agent,
        64,
        HSA_QUEUE_TYPE_COOPERATIVE,
        None,
        std::ptr::null_mut(),
        0,
        0,
        &raw mut queue
    ));
    if created == HSA_STATUS_SUCCESS {
        for _ in 0..2 {
            original!(core.hsa_queue_destroy_fn(queue));
        }
    }
}

unsafe extern "C" fn queue_destroy(queue: *mut hsa_queue_t) -> hsa_status_t {
    // Also after the recording: another queue may have the same address.
    let hide = || context::get().and_then(|tracer| caught(tracer, || doorbells(tracer)?.hide(queue as u64)));
    if let Some(leave) = leave_cooperative(queue as u64) {
        if let Leave::Last(gpu) = leave {
            if let Some(hidden) = hide() {
                hidden.destroyed();
            }
            // The interceptible queue stays, and so does the data of its interceptor.
            guarded(|tracer| tracer.queue_ends(queue as u64).map(|leaving| tracer.queue_left(&leaving)));
            if let Some(agent) = context::get().and_then(|tracer| tracer.agent(gpu)) {
                release_cooperative(hsa_agent_t { handle: agent });
            }
        }
        return HSA_STATUS_SUCCESS;
    }
    guarded(|tracer| tracer.unseen_ends(queue as u64));
    // Its address may belong to another thread's new queue as soon as the runtime has destroyed it.
    let leaving = guarded(|tracer| tracer.queue_ends(queue as u64)).flatten();
    let hidden = hide();
    let status = original!(core.hsa_queue_destroy_fn(queue));
    match (hidden, status) {
        (Some(hidden), HSA_STATUS_SUCCESS) => hidden.destroyed(),
        (Some(hidden), _) => hidden.stays(),
        (None, _) => (),
    }
    if let Some(leaving) = leaving {
        guarded(|tracer| match status {
            HSA_STATUS_SUCCESS => tracer.queue_destroyed(leaving),
            _ => tracer.queue_stays(queue as u64, leaving),
        });
    }
    status
}

unsafe extern "C" fn executable_freeze(
    executable: hsa_executable_t,
    options: *const std::ffi::c_char,
) -> hsa_status_t {
    let status = original!(core.hsa_executable_freeze_fn(executable, options));
    if status == HSA_STATUS_SUCCESS {
        guarded(|tracer| tracer.shared.names.freeze(executable));
    }
    status
}

unsafe extern "C" fn executable_destroy(executable: hsa_executable_t) -> hsa_status_t {
    guarded(|tracer| tracer.shared.names.destroy(executable));
    original!(core.hsa_executable_destroy_fn(executable))
}

type Store = unsafe extern "C" fn(hsa_signal_t, hsa_signal_value_t);

/// The queues that need care, while this process may touch them. Nothing here takes a lock, before the end or after it.
fn doorbells(tracer: &'static Context) -> Option<&'static Doorbells> {
    tracer.doorbells.as_ref().filter(|_| tracer.shared.phase() != Phase::Forked)
}

/// Stores to a signal, which may be the doorbell of a queue that must not be rung as it is.
fn ring(signal: hsa_signal_t, value: hsa_signal_value_t, original: impl Fn(&CoreApiTable) -> Option<Store>) {
    let Some(tracer) = context::get() else { return };
    let Some(store) = original(&tracer.api.core) else { return };
    // SAFETY: the arguments are the caller's, passed on as they came.
    let store = || unsafe { store(signal, value) };
    let cut = caught(tracer, || doorbells(tracer)?.cut(signal.handle, &tracer.api));
    store();
    if cut.is_some_and(Cut::put_back) {
        store();
    }
}

unsafe extern "C" fn signal_store_relaxed(signal: hsa_signal_t, value: hsa_signal_value_t) {
    ring(signal, value, |core| core.hsa_signal_store_relaxed_fn);
}

unsafe extern "C" fn signal_store_screlease(signal: hsa_signal_t, value: hsa_signal_value_t) {
    ring(signal, value, |core| core.hsa_signal_store_screlease_fn);
}

type LoadIndex = unsafe extern "C" fn(*const hsa_queue_t) -> u64;

/// The read index of a queue, which for one that is intercepted is that of the queue of the hardware ([`crate::intercept::wrapped`]).
fn read_index(queue: *const hsa_queue_t, original: impl Fn(&CoreApiTable) -> Option<LoadIndex>) -> u64 {
    let Some(tracer) = context::get() else { return 0 };
    let Some(load) = original(&tracer.api.core) else { return 0 };
    // SAFETY: the caller's queue, or the one that it wraps.
    let load = |queue| unsafe { load(queue) };
    let taken = load(queue);
    let seen = caught(tracer, || Some(doorbells(tracer)?.wrapped(queue as u64)?.read_index(taken, load)));
    seen.unwrap_or(taken)
}

unsafe extern "C" fn queue_load_read_index_relaxed(queue: *const hsa_queue_t) -> u64 {
    read_index(queue, |core| core.hsa_queue_load_read_index_relaxed_fn)
}

unsafe extern "C" fn queue_load_read_index_scacquire(queue: *const hsa_queue_t) -> u64 {
    read_index(queue, |core| core.hsa_queue_load_read_index_scacquire_fn)
}

/// A program may know without looking at a signal that its kernels have ended: by a later packet of their queue. What
/// the signal still waits for is handed on before it is gone.
unsafe extern "C" fn signal_destroy(signal: hsa_signal_t) -> hsa_status_t {
    release(signal);
    guarded(|tracer| tracer.shared.is_forwarding().then(|| tracer.harvest()));
    if let Some(tracer) = context::get().filter(|tracer| tracer.shared.phase() == Phase::Failed) {
        caught(tracer, || {
            tracer.forward_only();
            Some(())
        });
    }
    original!(core.hsa_signal_destroy_fn(signal))
}

/// A queue of ours keeps its times: without them nothing can be recorded, and with them a program that does not ask
/// sees no difference.
unsafe extern "C" fn set_profiler_enabled(queue: *mut hsa_queue_t, enable: c_int) -> hsa_status_t {
    if guarded(|tracer| enable == 0 && tracer.is_intercepted(queue as u64)) == Some(true) {
        return HSA_STATUS_SUCCESS;
    }
    let Some(tracer) = context::get() else { return HSA_STATUS_ERROR };
    // SAFETY: the arguments are the caller's, passed on as they came.
    unsafe { (tracer.api.set_profiler_enabled)(queue, enable) }
}
