//! One queue of a GPU: a ring in the program's memory, and the packets of it that run.

use std::sync::atomic::Ordering;

use crate::aql::{PACKET, Packet, Work};
use crate::clock;
use crate::device::Doorbell;
use crate::hardware::{DelayedCompletion, Hardware, NEVER, Origin, RunningPacket};
use crate::word::Place;

/// Offsets of `read_dispatch_id` and of `queue_properties` in the runtime's structure of a queue.
const READ_INDEX: u64 = 128;
const PROPERTIES: u64 = 180;

/// The bit of `queue_properties` that requests timestamps.
const PROFILED: u32 = 1 << 3;

/// The value of an untouched doorbell of such a queue.
pub(crate) const DOORBELL_UNTOUCHED: u64 = u64::MAX;

/// The least time between the beginnings of two packets, in ns: a tick of the GPU's clock.
const TICK: u64 = 1_000_000_000 / clock::TICKS_PER_SECOND;

/// Limit on the packets of one turn, so that other queues have theirs.
const TURN: usize = 256;

/// Addresses of a queue.
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

/// The outcome of a queue's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// There is nothing to do until a doorbell rings.
    Idle,
    /// The queue waits for other work.
    Blocked,
    /// A packet ends at this time, in ns of the system clock.
    Busy(u64),
    /// Everything that was there is done, and more may follow soon.
    Worked,
    /// There is more to do.
    More,
}

/// A queue of AQL packets, which begin in their order.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) id: u32,
    pub(crate) doorbell: Doorbell,
    ring: u64,
    slots: u64,
    read_index: Place,
    write_index: Place,
    properties: Place,
    rung: Place,
    last_doorbell: u64,
    /// The index of the next packet; `published` is the one that the program knows.
    next: u64,
    published: u64,
    /// Number of packets in the ring when the doorbell last rang.
    limit: u64,
    /// Time at which the next packet can begin, in ns of the system clock.
    time: u64,
    /// True if the next packet had no header when it was last looked at.
    stalled: bool,
    /// A packet that cannot begin yet, with its index.
    held: Option<(u64, Packet)>,
    /// A barrier that has begun.
    barrier: Option<RunningPacket>,
    running: Vec<RunningPacket>,
    late: Vec<DelayedCompletion>,
}

impl Queue {
    /// # Safety
    /// All of the layout stays mapped until the queue is dropped, and is used as the runtime uses queues.
    pub(crate) unsafe fn new(id: u32, doorbell: Doorbell, layout: Layout) -> Self {
        // SAFETY: the caller promised the layout's addresses.
        let read_index = unsafe { Place::at(layout.read_index) };
        // SAFETY: the caller promised the layout's addresses.
        let write_index = unsafe { Place::at(layout.write_index) };
        // SAFETY: the place is in the runtime's structure around the read index.
        let properties = unsafe { Place::at(layout.read_index - READ_INDEX + PROPERTIES) };
        // SAFETY: the caller promised the layout's addresses.
        let rung = unsafe { Place::at(layout.doorbell) };
        rung.store(DOORBELL_UNTOUCHED);
        let next = read_index.load();
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
            next,
            published: next,
            limit: next,
            time: 0,
            stalled: false,
            held: None,
            barrier: None,
            running: Vec::new(),
            late: Vec::new(),
        }
    }

    /// Ends packets that are over and begins those that can begin.
    pub(crate) fn advance(&mut self, hardware: &mut Hardware) -> Turn {
        let before = self.next;
        let turn = self.turn(hardware);
        self.publish();
        // A barrier of this queue may wait for one of the signals, and after new work more may follow.
        let worked = hardware.settle() || self.next != before;
        match turn {
            Turn::Idle | Turn::Blocked if worked => Turn::Worked,
            turn => turn,
        }
    }

    fn turn(&mut self, hardware: &mut Hardware) -> Turn {
        if !self.running.is_empty() || !self.late.is_empty() {
            self.end_what_is_over(hardware);
        }
        for _ in 0..TURN {
            if let Some(mut barrier) = self.barrier.take() {
                if !barrier.work.is_satisfied() {
                    self.barrier = Some(barrier);
                    return self.or_sooner(Turn::Blocked);
                }
                self.time = self.time.max(clock::now());
                barrier.end = self.time;
                self.finish(&barrier, hardware);
            }
            let Some((index, packet)) = self.held.take().or_else(|| self.fetch()) else {
                return self.or_sooner(Turn::Idle);
            };
            let behaviour = &hardware.simulator.settings.behaviour;
            let waits = packet.waits_for_all_before() && !self.running.is_empty();
            if waits || self.running.len() >= behaviour.overlap {
                self.held = Some((index, packet));
                return self.or_sooner(Turn::Idle);
            }
            self.begin(index, &packet, hardware);
        }
        Turn::More
    }

    /// Reduces this turn's outcome to the time at which a running packet ends, if that is sooner.
    fn or_sooner(&self, turn: Turn) -> Turn {
        let ends = self.running.iter().map(|running| running.end);
        let first = ends.chain(self.late.iter().map(|late| late.due)).min().unwrap_or(NEVER);
        if first == NEVER { turn } else { Turn::Busy(first) }
    }

    fn end_what_is_over(&mut self, hardware: &mut Hardware) {
        let now = clock::now();
        self.time = self.time.max(now);
        // Packets end in the order of their times, which the program may check.
        while let Some(at) = (0..self.running.len()).min_by_key(|at| self.running[*at].end)
            && self.running[at].end <= now
        {
            let running = self.running.remove(at);
            self.finish(&running, hardware);
        }
        while let Some(at) = (0..self.late.len()).min_by_key(|at| self.late[*at].due)
            && self.late[at].due <= now
        {
            hardware.complete(self.late.remove(at).completion);
        }
    }

    /// The next packet, if its doorbell rang and its header is there.
    fn fetch(&mut self) -> Option<(u64, Packet)> {
        if self.next >= self.limit {
            let doorbell = self.rung.load();
            if doorbell == self.last_doorbell {
                return None;
            }
            self.last_doorbell = doorbell;
            // With several producers the doorbell may show less than what is written.
            self.limit = self.write_index.load();
            // A packet cannot begin before it was submitted.
            self.time = self.time.max(clock::now());
            if self.next >= self.limit {
                return None;
            }
        }
        let index = self.next;
        let Some(packet) = Packet::take(self.slot(index)) else {
            self.stalled = true;
            return None;
        };
        if std::mem::take(&mut self.stalled) {
            self.time = self.time.max(clock::now());
        }
        self.next = index + 1;
        Some((index, packet))
    }

    /// Begins a packet; one that takes no time is over at once.
    fn begin(&mut self, index: u64, packet: &Packet, hardware: &mut Hardware) {
        // The clock is not read for every packet, because handling one takes longer than a tick.
        self.time += TICK;
        let running = hardware.begin(self.origin(), index, packet, self.time);
        match running.work {
            Work::Barrier { .. } | Work::Value { .. } => self.barrier = Some(running),
            Work::Kernel { .. } if running.end > running.start => self.running.push(running),
            Work::Kernel { .. } | Work::Other => self.finish(&running, hardware),
        }
    }

    /// Publishes the read index. This is not done for every packet, because the program reads the index, and the two would wait
    /// for each other's caches.
    fn publish(&mut self) {
        if self.published != self.next {
            self.published = self.next;
            self.read_index.store(self.next);
        }
    }

    fn finish(&mut self, running: &RunningPacket, hardware: &mut Hardware) {
        if running.signal != 0 {
            // A program that sees the signal may rely on the slot being free.
            self.publish();
        }
        let is_profiled = self.properties.half().load(Ordering::Relaxed) & PROFILED != 0;
        self.late.extend(hardware.end(self.origin(), running, is_profiled));
    }

    fn origin(&self) -> Origin {
        Origin { node: self.doorbell.node, queue: self.id }
    }

    fn slot(&self, index: u64) -> [Place; 8] {
        let first = self.ring + index % self.slots * PACKET;
        [0, 1, 2, 3, 4, 5, 6, 7].map(|word| {
            // SAFETY: the word is within the ring, which stays mapped as the caller of `new` promised.
            unsafe { Place::at(first + word * 8) }
        })
    }
}

#[cfg(test)]
mod tests;
