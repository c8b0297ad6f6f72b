//! The tracer's functions in place of the runtime's. Each calls the runtime's function, even when the tracer's part of it fails.

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
use crate::intercept::cooperative::RemainingUsers;
use crate::intercept::hsa;
use crate::intercept::staging::{Cut, Doorbells};
use guard::{caught, guarded, original, release};
use queues::{recorded, unseen};

/// True if the tables have the hooks already, or thunks in front of them. The runtime fills its tables anew whenever it starts;
/// if one did not, the hooks would call themselves.
pub fn are_in(tables: &Tables) -> bool {
    let create = tables.core_now().hsa_queue_create_fn;
    let is_hook = create.is_some_and(|create| {
        std::ptr::fn_addr_eq(create, queue_create as unsafe extern "C" fn(_, _, _, _, _, _, _, _) -> _)
    });
    is_hook || hsa::are_in(tables)
}

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

/// When this is the last of its calls, the runtime of ROCm 7 no longer converts ticks nor serves signals by the time that it
/// unloads its tools. So completed ops are handed over, and signals given back, before it is called.
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
        // SAFETY: the arguments are the caller's, and the result goes to a place for a queue.
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
    // The runtime handles queues that cannot be intercepted, and returns the error of a call that is wrong.
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
        // SAFETY: the queue has just been created.
        unsafe { unseen(agent, queue, Lost::Unintercepted) };
    }
    status
}

/// Removes a user of this queue; `None` if it is not cooperative. HIP destroys its own at the end of the process, after the
/// recording, and even then the runtime must not destroy the interceptible one.
fn leave_cooperative(queue: u64) -> Option<RemainingUsers> {
    let tracer = context::get()?;
    if tracer.shared.is_recording() {
        guarded(|tracer| tracer.cooperative.leave(queue)).flatten()
    } else {
        caught(tracer, || tracer.cooperative.leave_at_once(queue))
    }
}

/// Sets the runtime's count of users of a GPU's cooperative queue to zero without destroying the interceptible one: requests the
/// queue itself, which makes two users, and removes both.
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
    // This is done after the recording too, because another queue may have the same address.
    let hide = || context::get().and_then(|tracer| caught(tracer, || doorbells(tracer)?.hide(queue as u64)));
    if let Some(leave) = leave_cooperative(queue as u64) {
        if let RemainingUsers::Last(gpu) = leave {
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
    // Another thread's new queue may have the same address as soon as the runtime has destroyed this one.
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

/// The doorbells that need care, while this process may touch them. Nothing here takes a lock, before the end or after it.
fn doorbells(tracer: &'static Context) -> Option<&'static Doorbells> {
    tracer.doorbells.as_ref().filter(|_| tracer.shared.phase() != Phase::Forked)
}

/// Stores to a signal, which may be the doorbell of a queue that must not be rung unchanged.
fn ring(signal: hsa_signal_t, value: hsa_signal_value_t, original: impl Fn(&CoreApiTable) -> Option<Store>) {
    let Some(tracer) = context::get() else { return };
    let Some(store) = original(&tracer.api.core) else { return };
    // SAFETY: the arguments are the caller's, passed on unchanged.
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

/// The read index of a queue. For an intercepted queue it is that of the queue of the hardware ([`crate::intercept::wrapped`]).
fn read_index(queue: *const hsa_queue_t, original: impl Fn(&CoreApiTable) -> Option<LoadIndex>) -> u64 {
    let Some(tracer) = context::get() else { return 0 };
    let Some(load) = original(&tracer.api.core) else { return 0 };
    // SAFETY: the queue is the caller's, or the one that it wraps.
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

/// A program may learn the end of its kernels without looking at a signal, from a later packet of their queue. So kernels that
/// the signal still waits for are handed over before it is gone.
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

/// A recorded queue keeps its times: without them nothing can be recorded, and they make no difference to a program that does not
/// use them.
unsafe extern "C" fn set_profiler_enabled(queue: *mut hsa_queue_t, enable: c_int) -> hsa_status_t {
    if guarded(|tracer| enable == 0 && tracer.is_intercepted(queue as u64)) == Some(true) {
        return HSA_STATUS_SUCCESS;
    }
    let Some(tracer) = context::get() else { return HSA_STATUS_ERROR };
    // SAFETY: the arguments are the caller's, passed on unchanged.
    unsafe { (tracer.api.set_profiler_enabled)(queue, enable) }
}
