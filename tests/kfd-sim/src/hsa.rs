//! The one call of the runtime that is watched on its way. Whose a queue is cannot be seen by the driver, which
//! is asked in the same way for the program's queues and for those that the runtime keeps for its own copies
//! and cache invalidations. The program gets its queues from `hsa_queue_create` and from nowhere else, the
//! runtime does not call that function itself, and the queue that it gives is the one whose ring it shows, or,
//! where a tool stands between, the last of that length: within the call the runtime may make its own first.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

use crate::aql::PACKET;
use crate::log::{Created, Log};
use crate::simulator::Simulator;

type QueueCreate =
    unsafe extern "C" fn(u64, u32, u32, *const c_void, *mut c_void, u32, u32, *mut *mut c_void) -> c_int;

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
    /// Address and slots.
    fn ring(&self) -> (u64, u64) {
        (self.ring, self.slots.into())
    }
}

/// What the runtime answers before it is initialised.
const NOT_INITIALIZED: c_int = 0x100b;

thread_local! {
    /// What was made within this thread's call, if it is within one.
    static MADE: RefCell<Option<Vec<Created>>> = const { RefCell::new(None) };
}

/// Notes a queue in the log: at once, or when it is known whose it is.
pub(crate) fn created(log: &Log, queue: Created) {
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

/// Of queues that were made within a call, the one that the program got: a ring at this address, or the last
/// one of so many bytes.
fn programs(made: &[Created], ring: u64, bytes: u64) -> Option<usize> {
    made.iter()
        .position(|queue| queue.ring == ring)
        .or_else(|| made.iter().rposition(|queue| queue.kind == "aql" && queue.bytes == bytes))
}

/// The runtime's function: behind this library, or in a runtime that the program loaded for itself.
fn real() -> Option<QueueCreate> {
    static REAL: OnceLock<Option<usize>> = OnceLock::new();
    let address = *REAL.get_or_init(|| {
        let name = c"hsa_queue_create".as_ptr();
        // SAFETY: a string with its end.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
        if !next.is_null() {
            return Some(next as usize);
        }
        let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD;
        // SAFETY: a string with its end.
        let runtime = unsafe { libc::dlopen(c"libhsa-runtime64.so.1".as_ptr(), flags) };
        if runtime.is_null() {
            return None;
        }
        // SAFETY: a library that stays loaded, and a string with its end.
        let function = unsafe { libc::dlsym(runtime, name) };
        (!function.is_null()).then_some(function as usize)
    });
    // SAFETY: the function of this name in the runtime has this type in every version.
    address.map(|address| unsafe { std::mem::transmute::<usize, QueueCreate>(address) })
}

/// As in the runtime.
///
/// # Safety
/// The contract of the runtime's function.
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
    let Some(real) = real() else { return NOT_INITIALIZED };
    let outer = MADE.replace(Some(Vec::new()));
    // SAFETY: what the program gave.
    let status = unsafe { real(agent, size, kind, callback, data, private_segment, group_segment, queue) };
    let mut made = MADE.replace(outer).unwrap_or_default();
    if status == 0 {
        // SAFETY: the runtime has put a queue's address there.
        let queue = unsafe { queue.read() };
        // SAFETY: and there is the queue.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn made(ring: u64, bytes: u64) -> Created {
        Created { node: 1, queue: 1, kind: "aql", ring, bytes, is_programs: false }
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
    }
}
