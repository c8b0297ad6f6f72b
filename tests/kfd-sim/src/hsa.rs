//! Watches the runtime's functions that create queues, to find out which queues are the program's. The driver cannot see that,
//! because it is called in the same way for queues that the runtime keeps for its own copies and cache invalidations. The program
//! gets its queues only from `hsa_queue_create`, or from ROCm 10's `hsa_amd_queue_create`, which the runtime does not call
//! itself. The program's queue is the one whose ring the result of the call shows or, where a tool stands between, the last one
//! of that length: within the call the runtime may make its own first.

use std::cell::RefCell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

use crate::aql::PACKET;
use crate::log::{Log, QueueLine};
use crate::simulator::Simulator;

type QueueCreate =
    unsafe extern "C" fn(u64, u32, u32, *const c_void, *mut c_void, u32, u32, *mut *mut c_void) -> c_int;

type QueueCreateByDescriptor = unsafe extern "C" fn(u64, *mut Descriptor, u32) -> c_int;

/// `hsa_amd_queue_create_desc_t`.
#[repr(C)]
pub struct Descriptor {
    parameters: [u64; 4],
    queue: *mut c_void,
    engine: [u64; 7],
}

/// The beginning of the runtime's `hsa_queue_t`.
#[repr(C)]
struct Queue {
    kind: u32,
    features: u32,
    ring: u64,
    doorbell: u64,
    slots: u32,
}

impl Queue {
    /// Address and number of slots.
    fn ring(&self) -> (u64, u64) {
        (self.ring, self.slots.into())
    }
}

/// The runtime's status before it is initialised.
const NOT_INITIALIZED: c_int = 0x100b;

thread_local! {
    /// Queues that were made within this thread's call, if it is within one.
    static MADE: RefCell<Option<Vec<QueueLine>>> = const { RefCell::new(None) };
}

/// Notes a queue in the log, at once or at the end of the call that shows if it is the program's.
pub(crate) fn created(log: &Log, queue: QueueLine) {
    let left = MADE.with_borrow_mut(|made| match made {
        Some(made) => {
            made.push(queue);
            None
        }
        None => Some(queue),
    });
    if let Some(queue) = left {
        log.queue(&queue);
    }
}

/// The index of the program's queue among those that were made within a call: the one with a ring at this address, or the last
/// one of this length.
fn programs(made: &[QueueLine], ring: u64, bytes: u64) -> Option<usize> {
    made.iter()
        .position(|queue| queue.ring == ring)
        .or_else(|| made.iter().rposition(|queue| queue.kind == "aql" && queue.bytes == bytes))
}

/// The runtime's function of this name: behind this library, or in a runtime that the program loaded for itself.
fn real(name: &CStr) -> Option<usize> {
    // SAFETY: the name is a C string.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() {
        return Some(next as usize);
    }
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
    // SAFETY: the name is a C string.
    let runtime = unsafe { libc::dlopen(c"libhsa-runtime64.so.1".as_ptr(), flags) };
    if runtime.is_null() {
        return None;
    }
    // SAFETY: the library stays loaded, and the name is a C string.
    let function = unsafe { libc::dlsym(runtime, name.as_ptr()) };
    (!function.is_null()).then_some(function as usize)
}

/// Makes a call that creates queues; `queues` returns those that are the program's.
fn watched(call: impl FnOnce() -> c_int, queues: impl FnOnce(c_int) -> Vec<*mut c_void>) -> c_int {
    let outer = MADE.replace(Some(Vec::new()));
    let status = call();
    let mut made = MADE.replace(outer).unwrap_or_default();
    for queue in queues(status).into_iter().filter(|queue| !queue.is_null()) {
        // SAFETY: the runtime has returned the address of a queue.
        let (ring, slots) = unsafe { queue.cast::<Queue>().read() }.ring();
        if let Some(at) = programs(&made, ring, slots * PACKET) {
            made[at].is_programs = true;
        }
    }
    for queue in made {
        created(&Simulator::get().log, queue);
    }
    status
}

/// # Safety
/// The requirements are those of the runtime's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn hsa_queue_create(
    agent: u64,
    size: u32,
    kind: u32,
    callback: *const c_void,
    data: *mut c_void,
    private_segment: u32,
    group_segment: u32,
    queue: *mut *mut c_void,
) -> c_int {
    static REAL: OnceLock<Option<usize>> = OnceLock::new();
    let Some(address) = *REAL.get_or_init(|| real(c"hsa_queue_create")) else { return NOT_INITIALIZED };
    // SAFETY: the function of this name in the runtime has this type in every version.
    let real = unsafe { std::mem::transmute::<usize, QueueCreate>(address) };
    // SAFETY: the arguments are those of the program.
    let call = || unsafe { real(agent, size, kind, callback, data, private_segment, group_segment, queue) };
    watched(call, |status| {
        // SAFETY: the runtime has put a queue's address there.
        if status == 0 { vec![unsafe { queue.read() }] } else { Vec::new() }
    })
}

/// # Safety
/// The requirements are those of the runtime's function.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn hsa_amd_queue_create(agent: u64, descriptors: *mut Descriptor, count: u32) -> c_int {
    static REAL: OnceLock<Option<usize>> = OnceLock::new();
    let Some(address) = *REAL.get_or_init(|| real(c"hsa_amd_queue_create")) else { return NOT_INITIALIZED };
    // SAFETY: the function of this name in the runtime has this type in every version.
    let real = unsafe { std::mem::transmute::<usize, QueueCreateByDescriptor>(address) };
    // SAFETY: the arguments are those of the program.
    let call = || unsafe { real(agent, descriptors, count) };
    watched(call, |_| {
        let count = if descriptors.is_null() { 0 } else { count as usize };
        let queue = |at| {
            // SAFETY: the program has `count` descriptors there.
            let descriptor = unsafe { descriptors.add(at) };
            // SAFETY: the descriptor is the program's, and the runtime has filled in the queue.
            unsafe { (*descriptor).queue }
        };
        (0..count).map(queue).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(ring: u64, bytes: u64) -> QueueLine {
        QueueLine { node: 1, queue: 1, kind: "aql", ring, bytes, is_programs: false }
    }

    #[test]
    fn the_programs_queue_is_the_one_with_its_ring() {
        let made = [made(0x1000, 4096), made(0x2000, 4096), made(0x3000, 4096)];
        assert_eq!(programs(&made, 0x2000, 4096), Some(1));
    }

    #[test]
    fn behind_a_tool_it_is_the_last_one_of_its_length() {
        let made = [made(0x1000, 4096), made(0x2000, 8192), made(0x3000, 8192), made(0x4000, 4096)];
        assert_eq!(programs(&made, 0x9000, 8192), Some(2));
        assert_eq!(programs(&made, 0x9000, 64), None);
    }

    #[test]
    fn the_runtimes_structure_of_a_queue_has_the_right_shape() {
        assert_eq!(std::mem::offset_of!(Queue, ring), 8);
        assert_eq!(std::mem::offset_of!(Queue, slots), 24);
        assert_eq!((std::mem::offset_of!(Descriptor, queue), size_of::<Descriptor>()), (32, 96));
    }
}
