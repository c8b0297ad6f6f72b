//! The driver's calls: one arm per call, its argument decoded here and the work done elsewhere.

use std::time::Duration;

use libc::{EINVAL, ENOMEM, ENOSPC, EPERM, c_int};

use crate::abi::{
    AllocateGws, AllocateMemory, Aperture, AvailableMemory, CreateEvent, CreateQueue, DestroyQueue,
    EventData, FreeMemory, GetApertures, GetClockCounters, GetTileConfig, GetVersion, MapMemory, OneEvent,
    Plain, SetMask, UpdateQueue, WaitEvents, XnackMode,
};
use crate::clock;
use crate::device::EVENT_PAGE;
use crate::events::{EventWait, Outcome};
use crate::memory::USER_POINTER;
use crate::queue::Layout;
use crate::simulator::{Kind, Simulator};
use crate::topology::{self, LDS_APERTURE, SCRATCH_APERTURE};

/// The version of the interface; from 14 on events have ages.
const VERSION: GetVersion = GetVersion { major: 1, minor: 14 };

/// The letter of the driver's calls.
const LETTER: u64 = b'K' as u64;

/// Addresses that a GPU can have memory at: all that a process has.
const LOWEST_ADDRESS: u64 = 0x4000;
const HIGHEST_ADDRESS: u64 = (1 << 47) - 1;

/// Bytes of the apertures for local memory and scratch, less one.
const APERTURE_LIMIT: u64 = 0xffff_ffff;

/// Kinds of queues: of a DMA engine, with AQL packets, of a DMA engine for links between GPUs.
const QUEUE_DMA: u32 = 1;
const QUEUE_AQL: u32 = 2;
const QUEUE_DMA_LINK: u32 = 3;

/// Results of a wait.
const WAIT_COMPLETE: u32 = 0;
const WAIT_TIMEOUT: u32 = 1;
const WAIT_FAILED: u32 = 2;

/// Timeouts from here on are for ever.
const FOR_EVER: u32 = u32::MAX - 1;

/// Limit on the length of a wait. ROCr stores a signal's value and then looks for waiting threads without a fence between the two
/// (`InterruptSignal::SetEvent`): if the thread that begins to wait reads the old value, no event is set, and with a driver that
/// waits for ever the program hangs. Here the thread reads the value again.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The error is the kernel's number.
type Answer = Result<(), c_int>;

/// The number of a driver's call, and the bytes of its argument; `None` for a call of another driver.
fn decode(request: u64) -> Option<(u64, usize)> {
    (request >> 8 & 0xff == LETTER).then_some((request & 0xff, (request >> 16 & 0x3fff) as usize))
}

/// Answers a call on one of the driver's files.
///
/// # Safety
/// `argument` was passed to ioctl for this request, under the kernel's contract.
pub(crate) unsafe fn answer(simulator: &'static Simulator, request: u64, argument: *mut u8) -> Answer {
    let (number, bytes) = decode(request).ok_or(EINVAL)?;
    let call = Call { argument, bytes };
    match number {
        0x01 => call.with(|version| {
            *version = VERSION;
            Ok(())
        }),
        0x02 => call.with(|queue| create_queue(simulator, queue)),
        0x03 => call.with(|queue: &mut DestroyQueue| found(simulator.destroy_queue(queue.queue_id))),
        0x05 => call.with(|counters| clock_counters(simulator, counters)),
        0x08 => call.with(|event| create_event(simulator, event)),
        0x09 => call.with(|event: &mut OneEvent| found(simulator.events.destroy(event.event_id))),
        0x0a => call.with(|event: &mut OneEvent| found(simulator.events.fire(event.event_id))),
        0x0b => call.with(|event: &mut OneEvent| found(simulator.events.reset(event.event_id))),
        0x0c => call.with(|wait| wait_events(simulator, wait)),
        0x12 => call.with(|config: &mut GetTileConfig| {
            config.tile_count = 0;
            config.macro_tile_count = 0;
            Ok(())
        }),
        0x14 => call.with(|request| apertures(simulator, request)),
        0x16 => call.with(|allocation| allocate(simulator, allocation)),
        0x17 => call.with(|one: &mut FreeMemory| found(simulator.free(one.handle))),
        0x18 | 0x19 => call.with(|map: &mut MapMemory| {
            map.done = map.count;
            found(simulator.memory().knows(map.handle))
        }),
        0x1e => call.with(|gws: &mut AllocateGws| {
            gws.first = 0;
            Ok(())
        }),
        0x21 => call.with(|mode: &mut XnackMode| {
            // A negative value only reads the mode; there is nothing to enable.
            if mode.enabled >= 0 {
                return Err(EPERM);
            }
            mode.enabled = 0;
            Ok(())
        }),
        0x23 => call.with(|memory| available_memory(simulator, memory)),
        // The next two have no effect here except in the log.
        0x07 => call.with(|update: &mut UpdateQueue| {
            found(simulator.log_request(update.queue_id, "priority", &[update.priority]))
        }),
        0x1a => call.with(|wanted: &mut SetMask| {
            let words = (wanted.bits / u32::BITS) as usize;
            // SAFETY: the caller has this many bits there, in whole words as the driver requires.
            let mask = unsafe { std::slice::from_raw_parts(wanted.mask as *const u32, words) };
            found(simulator.log_request(wanted.queue_id, "mask", mask))
        }),
        // Policies, scratch, trap handlers and the virtual memory of a GPU have no effect here.
        0x04 | 0x11 | 0x13 | 0x15 => Ok(()),
        _ => Err(EINVAL),
    }
}

struct Call {
    argument: *mut u8,
    bytes: usize,
}

impl Call {
    /// Passes a copy of the argument to a handler. Callers of other versions have structures that are longer or shorter at the
    /// end: as in the kernel, missing fields are 0.
    fn with<T: Plain>(&self, handler: impl FnOnce(&mut T) -> Answer) -> Answer {
        let mut value = T::default();
        let bytes = self.bytes.min(size_of::<T>());
        let copy = (&raw mut value).cast::<u8>();
        // SAFETY: the request says that the caller has this many bytes there; any bytes are a `T`.
        unsafe { std::ptr::copy_nonoverlapping(self.argument.cast_const(), copy, bytes) };
        let answer = handler(&mut value);
        let copy = (&raw const value).cast::<u8>();
        // SAFETY: the caller has this many bytes there, and the copy too.
        unsafe { std::ptr::copy_nonoverlapping(copy, self.argument, bytes) };
        answer
    }
}

fn found(existed: bool) -> Answer {
    if existed { Ok(()) } else { Err(EINVAL) }
}

fn node(simulator: &Simulator, gpu_id: u32) -> Result<u32, c_int> {
    topology::node(&simulator.settings, gpu_id).ok_or(EINVAL)
}

fn create_queue(simulator: &'static Simulator, queue: &mut CreateQueue) -> Answer {
    let node = node(simulator, queue.gpu_id)?;
    let kind = match queue.kind {
        QUEUE_AQL => Kind::Aql,
        QUEUE_DMA | QUEUE_DMA_LINK => Kind::Dma,
        _ => return Err(EINVAL),
    };
    let layout = Layout {
        ring: queue.ring,
        bytes: queue.ring_size.into(),
        read_index: queue.read_pointer,
        write_index: queue.write_pointer,
        doorbell: 0,
    };
    // SAFETY: the program leaves these places to the driver until it destroys the queue.
    let created = unsafe { simulator.create_queue(node, kind, layout) }.ok_or(ENOMEM)?;
    queue.queue_id = created.id;
    queue.doorbell_offset = created.doorbell.file_offset();
    Ok(())
}

fn clock_counters(simulator: &Simulator, counters: &mut GetClockCounters) -> Answer {
    // The CPU's node has clocks, too.
    let node = if counters.gpu_id == 0 { 0 } else { node(simulator, counters.gpu_id)? };
    counters.system = clock::now();
    counters.cpu = clock::cpu();
    counters.gpu = simulator.clocks().ticks(node, counters.system);
    counters.system_frequency = 1_000_000_000;
    Ok(())
}

fn create_event(simulator: &Simulator, event: &mut CreateEvent) -> Answer {
    let id = simulator.events.create(event.kind, event.auto_reset != 0).ok_or(ENOSPC)?;
    event.event_id = id;
    event.trigger_data = id;
    event.slot = id;
    if event.page_offset == 0 {
        // A zero here, for any event, would mean an event without a slot, which no packet could fire.
        event.page_offset = EVENT_PAGE;
    }
    Ok(())
}

fn wait_events(simulator: &Simulator, wait: &mut WaitEvents) -> Answer {
    let count = wait.count as usize;
    let data = Array::<EventData>::new(wait.events, count);
    let mut awaited: Vec<EventWait> = (0..count)
        .map(|at| data.get(at))
        .map(|event| EventWait { event: event.event_id, age: event.age })
        .collect();
    let timeout = match wait.timeout {
        FOR_EVER.. => LONGEST_WAIT,
        timeout => Duration::from_millis(timeout.into()).min(LONGEST_WAIT),
    };
    let outcome = simulator.events.wait(&mut awaited, wait.all != 0, Some(timeout));
    wait.result = match outcome {
        Outcome::Complete => WAIT_COMPLETE,
        Outcome::Timeout => WAIT_TIMEOUT,
        Outcome::Gone => WAIT_FAILED,
    };
    if outcome == Outcome::Gone {
        return Err(EINVAL);
    }
    for (at, one) in awaited.iter().enumerate() {
        let before = data.get(at);
        if before.age != one.age {
            data.set(at, EventData { age: one.age, ..before });
        }
    }
    Ok(())
}

fn apertures(simulator: &Simulator, request: &mut GetApertures) -> Answer {
    let gpus = simulator.settings.gpus;
    if request.count > 0 {
        let count = gpus.min(request.count);
        let array = Array::new(request.apertures, count as usize);
        for node in 1..=count {
            let aperture = Aperture {
                lds_base: LDS_APERTURE,
                lds_limit: LDS_APERTURE + APERTURE_LIMIT,
                scratch_base: SCRATCH_APERTURE,
                scratch_limit: SCRATCH_APERTURE + APERTURE_LIMIT,
                gpuvm_base: LOWEST_ADDRESS,
                gpuvm_limit: HIGHEST_ADDRESS,
                gpu_id: topology::gpu_id(node),
                pad: 0,
            };
            array.set(node as usize - 1, aperture);
        }
    }
    request.count = gpus;
    Ok(())
}

fn allocate(simulator: &Simulator, allocation: &mut AllocateMemory) -> Answer {
    let node = node(simulator, allocation.gpu_id)?;
    let mut memory = simulator.memory();
    let allocated = memory.allocate(node, allocation.address, allocation.size, allocation.flags);
    allocation.handle = allocated.handle;
    if allocation.flags & USER_POINTER == 0 {
        allocation.offset = allocated.offset.unwrap_or(0);
    } else {
        // For memory of the program this field has its address, and stays.
        memory.alias(allocated.handle, allocation.address, allocation.offset);
    }
    Ok(())
}

fn available_memory(simulator: &Simulator, memory: &mut AvailableMemory) -> Answer {
    let used = simulator.memory().used(node(simulator, memory.gpu_id)?);
    memory.bytes = simulator.settings.model.memory_bytes.saturating_sub(used);
    Ok(())
}

/// An array in the caller's memory that an argument points to.
struct Array<T> {
    first: *mut T,
    count: usize,
}

impl<T: Plain> Array<T> {
    fn new(address: u64, count: usize) -> Self {
        Self { first: address as *mut T, count }
    }

    fn element(&self, at: usize) -> *mut T {
        assert!(at < self.count, "beyond the caller's array");
        self.first.wrapping_add(at)
    }

    fn get(&self, at: usize) -> T {
        let element = self.element(at);
        // SAFETY: the argument says that the caller has this many elements there; any bytes are a `T`.
        unsafe { element.read_unaligned() }
    }

    fn set(&self, at: usize, value: T) {
        let element = self.element(at);
        // SAFETY: the argument says that the caller has this many elements there.
        unsafe { element.write_unaligned(value) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_a_letter_a_number_and_a_size() {
        // These are _IOWR('K', 0x02, 88 bytes) and the terminal's TCGETS.
        assert_eq!(decode(0xc058_4b02), Some((2, 88)));
        assert_eq!(decode(0x5401), None);
    }

    #[test]
    fn a_caller_with_a_shorter_structure_keeps_what_lies_behind_it() {
        let mut memory = [0xff_u8; 8];
        let call = Call { argument: memory.as_mut_ptr(), bytes: 4 };
        call.with(|version: &mut GetVersion| {
            assert_eq!((version.major, version.minor), (u32::MAX, 0));
            *version = VERSION;
            Ok(())
        })
        .unwrap();
        assert_eq!(memory, [1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    }
}
