//! One queue of a GPU: a ring in the program's memory, and what runs of it.

use std::time::Duration;

use crate::aql::{self, PACKET, Packet, Work};
use crate::clock;
use crate::device::Doorbell;
use crate::events::Events;
use crate::log::{Executed, Log};
use crate::word::Place;

/// The place of `read_dispatch_id` and of `queue_properties` in the runtime's structure of a queue.
const READ_INDEX: u64 = 128;
const PROPERTIES: u64 = 180;

/// The bit of `queue_properties` that asks for timestamps.
const PROFILED: u32 = 1 << 3;

/// What an untouched doorbell of such a queue shows.
pub(crate) const DOORBELL_UNTOUCHED: u64 = u64::MAX;

/// Packets of a queue done in one go, so that the others have their turn.
const TURN: usize = 256;

/// Where a queue lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) ring: u64,
    pub(crate) bytes: u64,
    /// Address of the index that the queue advances; the runtime's structure is around it.
    pub(crate) read_index: u64,
    pub(crate) write_index: u64,
    /// Address of the doorbell in the simulator's own mapping.
    pub(crate) doorbell: u64,
}

/// What packets are executed with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hardware<'a> {
    pub(crate) kernel: Duration,
    pub(crate) events: &'a Events,
    pub(crate) log: &'a Log,
}

/// What became of a queue's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing to do until a doorbell rings.
    Idle,
    /// Waits for other work.
    Blocked,
    /// Something ends at this time, in ns of the system clock; now, if it is over.
    Busy(u64),
}

#[derive(Debug)]
struct Running {
    index: u64,
    packet: Packet,
    work: Work,
    start: u64,
    /// When it is over, for what takes time.
    end: Option<u64>,
}

/// A queue of AQL packets. They run one after another.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) id: u32,
    /// Which doorbell it has, and of which GPU.
    pub(crate) doorbell: Doorbell,
    ring: u64,
    slots: u64,
    read_index: Place,
    write_index: Place,
    properties: Place,
    rung: Place,
    last_doorbell: u64,
    /// How far the ring was filled when the doorbell last rang.
    limit: u64,
    running: Option<Running>,
}

impl Queue {
    /// # Safety
    /// All of the layout stays mapped until the queue is dropped, and is used as the runtime uses queues.
    pub(crate) unsafe fn new(id: u32, doorbell: Doorbell, layout: Layout) -> Self {
        // SAFETY: of the layout.
        let read_index = unsafe { Place::at(layout.read_index) };
        // SAFETY: of the layout.
        let write_index = unsafe { Place::at(layout.write_index) };
        // SAFETY: in the runtime's structure around the read index.
        let properties = unsafe { Place::at(layout.read_index - READ_INDEX + PROPERTIES) };
        // SAFETY: of the layout.
        let rung = unsafe { Place::at(layout.doorbell) };
        rung.store(DOORBELL_UNTOUCHED);
        Self {
            id,
            doorbell,
            ring: layout.ring,
            slots: (layout.bytes / PACKET).max(1),
            read_index,
            write_index,
            properties,
            rung,
            last_doorbell: DOORBELL_UNTOUCHED,
            limit: 0,
            running: None,
        }
    }

    /// Ends what is over and begins what can begin.
    pub(crate) fn advance(&mut self, hardware: Hardware<'_>) -> Turn {
        for _ in 0..TURN {
            let Some(running) = self.running.take().or_else(|| self.begin(hardware.kernel)) else {
                return Turn::Idle;
            };
            let now = clock::now();
            let end = match running.end {
                Some(end) if now < end => {
                    self.running = Some(running);
                    return Turn::Busy(end);
                }
                None if !running.work.is_satisfied() => {
                    self.running = Some(running);
                    return Turn::Blocked;
                }
                end => end.unwrap_or(now),
            };
            self.finish(&running, end, hardware);
        }
        Turn::Busy(0)
    }

    fn begin(&mut self, kernel: Duration) -> Option<Running> {
        let doorbell = self.rung.load();
        if doorbell != self.last_doorbell {
            self.last_doorbell = doorbell;
            // With several producers the doorbell may show less than what is written.
            self.limit = self.write_index.load();
        }
        let index = self.read_index.load();
        if index >= self.limit {
            return None;
        }
        let packet = Packet::take(self.slot(index))?;
        self.read_index.store(index + 1);
        let work = packet.work();
        let start = clock::now();
        let end = matches!(work, Work::Kernel(_)).then(|| start.saturating_add(kernel.as_nanos() as u64));
        Some(Running { index, packet, work, start, end })
    }

    fn slot(&self, index: u64) -> [Place; 8] {
        let first = self.ring + index % self.slots * PACKET;
        [0, 1, 2, 3, 4, 5, 6, 7].map(|word| {
            // SAFETY: within the ring, which the layout says is mapped.
            unsafe { Place::at(first + word * 8) }
        })
    }

    fn finish(&self, running: &Running, end: u64, hardware: Hardware<'_>) {
        let signal = running.packet.completion_signal();
        hardware.log.executed(&Executed {
            kind: running.work.kind(),
            node: self.doorbell.node,
            queue: self.id,
            index: running.index,
            kernel_object: if let Work::Kernel(object) = running.work { object } else { 0 },
            start: running.start,
            end,
            signal,
        });
        let profiled = self.properties.half().load(std::sync::atomic::Ordering::Relaxed) & PROFILED != 0;
        let times = profiled.then(|| {
            let start = clock::ticks(self.doorbell.node, running.start);
            // Hardware never reports work that took no time.
            (start, clock::ticks(self.doorbell.node, end).max(start + 1))
        });
        aql::complete(signal, times, hardware.events);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory of a queue of four slots, as the runtime would own it.
    #[repr(align(64))]
    struct Program {
        structure: [u64; 32],
        ring: [[u64; 8]; 4],
        doorbell: u64,
        signal: [u64; 8],
    }

    const WRITE: usize = 7;
    const READ: usize = 16;

    fn program() -> Box<Program> {
        let mut program = Program { structure: [0; 32], ring: [[1; 8]; 4], doorbell: 0, signal: [0; 8] };
        // `queue_properties` is the upper half of the word at 176.
        program.structure[22] = u64::from(PROFILED) << 32;
        Box::new(program)
    }

    fn queue(program: &mut Program) -> Queue {
        let structure = program.structure.as_mut_ptr() as u64;
        let layout = Layout {
            ring: program.ring.as_mut_ptr() as u64,
            bytes: 256,
            read_index: structure + READ_INDEX,
            write_index: structure + 8 * WRITE as u64,
            doorbell: (&raw mut program.doorbell) as u64,
        };
        // SAFETY: the tests keep the program until after the queue.
        unsafe { Queue::new(1, Doorbell { node: 1, slot: 0 }, layout) }
    }

    fn dispatch(program: &mut Program, at: usize) {
        program.signal[1] = 1;
        let signal = program.signal.as_mut_ptr() as u64;
        program.ring[at % 4] = [2, 0, 0, 0, 0xabc0, 0, 0, signal];
    }

    fn ring(program: &mut Program, written: u64) {
        program.structure[WRITE] = written;
        program.doorbell = written - 1;
    }

    fn advance(queue: &mut Queue, kernel: Duration) -> Turn {
        let (events, log) = (Events::new(8), Log::open(None).unwrap());
        queue.advance(Hardware { kernel, events: &events, log: &log })
    }

    #[test]
    fn nothing_runs_before_the_doorbell_rings() {
        let mut program = program();
        let mut queue = queue(&mut program);
        dispatch(&mut program, 0);
        program.structure[WRITE] = 1;
        assert_eq!(advance(&mut queue, Duration::ZERO), Turn::Idle);
        ring(&mut program, 1);
        assert_eq!(advance(&mut queue, Duration::ZERO), Turn::Idle);
        assert_eq!((program.signal[1], program.structure[READ]), (0, 1));
    }

    #[test]
    fn a_kernel_keeps_its_queue_busy_until_its_end() {
        let mut program = program();
        let mut queue = queue(&mut program);
        dispatch(&mut program, 0);
        ring(&mut program, 1);
        let Turn::Busy(end) = advance(&mut queue, Duration::from_millis(20)) else { panic!("not busy") };
        assert_eq!(program.signal[1], 1);
        while clock::now() < end {
            std::thread::yield_now();
        }
        assert_eq!(advance(&mut queue, Duration::from_millis(20)), Turn::Idle);
        assert_eq!(program.signal[1], 0);
        assert_eq!(program.signal[5] - program.signal[4], 2_000_000, "ticks of 10 ns");
    }

    #[test]
    fn a_packet_without_a_header_stalls_the_queue_until_it_has_one() {
        let mut program = program();
        let mut queue = queue(&mut program);
        dispatch(&mut program, 1);
        ring(&mut program, 2);
        assert_eq!(advance(&mut queue, Duration::ZERO), Turn::Idle);
        assert_eq!(program.structure[READ], 0);
        dispatch(&mut program, 0);
        advance(&mut queue, Duration::ZERO);
        assert_eq!(program.structure[READ], 2);
    }

    #[test]
    fn a_queue_that_is_not_profiled_gets_no_times() {
        let mut program = program();
        program.structure[22] = 0;
        let mut queue = queue(&mut program);
        dispatch(&mut program, 0);
        ring(&mut program, 1);
        advance(&mut queue, Duration::ZERO);
        assert_eq!((program.signal[1], program.signal[4], program.signal[5]), (0, 0, 0));
    }

    #[test]
    fn the_ring_wraps() {
        let mut program = program();
        let mut queue = queue(&mut program);
        for written in 1..=9 {
            dispatch(&mut program, written - 1);
            ring(&mut program, written as u64);
            advance(&mut queue, Duration::ZERO);
        }
        assert_eq!(program.structure[READ], 9);
    }
}
