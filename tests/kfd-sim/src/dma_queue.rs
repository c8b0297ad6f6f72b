//! One queue of a DMA engine: a ring of commands that are executed in order.

use crate::clock;
use crate::device::Doorbell;
use crate::dma::{self, Command, Engine, LONGEST};
use crate::log::{Lines, MovementLine};
use crate::queue::{Layout, Turn};
use crate::simulator::Simulator;
use crate::word::Place;

/// Limit on the commands of one turn, so that other queues have theirs.
const TURN: usize = 64;

#[derive(Debug)]
pub(crate) struct DmaQueue {
    pub(crate) id: u32,
    pub(crate) doorbell: Doorbell,
    ring: u64,
    bytes: u64,
    /// Both indices count bytes and never wrap.
    read_index: Place,
    write_index: Place,
    rung: Place,
    last_doorbell: u64,
    limit: u64,
    /// End of the last copy, in ns of the system clock.
    busy_until: u64,
    /// Simulated time of the queue, in ns of the system clock: a command follows upon the one before it, whenever the host lets
    /// the simulator run. 0 while there is nothing to do.
    time: u64,
    /// Commands from this byte on are new since this time.
    fresh: (u64, u64),
}

impl DmaQueue {
    /// # Safety
    /// All of the layout stays mapped until the queue is dropped, and is used as the runtime uses queues.
    pub(crate) unsafe fn new(id: u32, doorbell: Doorbell, layout: Layout) -> Self {
        // SAFETY: the caller promised the layout's addresses.
        let read_index = unsafe { Place::at(layout.read_index) };
        // SAFETY: the caller promised the layout's addresses.
        let write_index = unsafe { Place::at(layout.write_index) };
        // SAFETY: the caller promised the layout's addresses.
        let rung = unsafe { Place::at(layout.doorbell) };
        rung.store(0);
        read_index.store(0);
        write_index.store(0);
        let bytes = layout.bytes.max(4);
        Self {
            id,
            doorbell,
            ring: layout.ring,
            bytes,
            read_index,
            write_index,
            rung,
            last_doorbell: 0,
            limit: 0,
            busy_until: 0,
            time: 0,
            fresh: (0, 0),
        }
    }

    /// Executes the commands that can be executed.
    pub(crate) fn advance(&mut self, simulator: &Simulator) -> Turn {
        let before = self.read_index.load();
        let turn = self.turn(simulator);
        if matches!(turn, Turn::Idle | Turn::Blocked) {
            self.time = 0;
        }
        let worked = self.read_index.load() != before;
        if worked && turn != Turn::More { Turn::Worked } else { turn }
    }

    fn turn(&mut self, simulator: &Simulator) -> Turn {
        let doorbell = self.rung.load();
        if doorbell != self.last_doorbell {
            self.last_doorbell = doorbell;
            self.fresh = (self.limit, clock::now());
            self.limit = self.write_index.load().max(doorbell);
        }
        for _ in 0..TURN {
            if self.busy_until > 0 {
                if clock::now() < self.busy_until {
                    return Turn::Busy(self.busy_until);
                }
                self.busy_until = 0;
            }
            let at = self.read_index.load();
            if at >= self.limit {
                return Turn::Idle;
            }
            if self.time == 0 {
                self.time = clock::now();
            }
            // A command cannot begin before it is there.
            if at >= self.fresh.0 {
                self.time = self.time.max(self.fresh.1);
            }
            let (command, words) = dma::decode(&self.words(at), simulator.settings.model.version);
            if !self.execute(command, simulator) {
                return Turn::Blocked;
            }
            self.read_index.store(at + words as u64 * 4);
        }
        Turn::More
    }

    fn execute(&mut self, command: Command, simulator: &Simulator) -> bool {
        let memory = simulator.memory();
        let (node, clocks, events) = (self.doorbell.node, simulator.clocks(), &simulator.events);
        let start = self.time;
        if !command.execute(Engine { node, clocks, time: start, memory: &memory, events }) {
            return false;
        }
        if let Command::Move(movement) = command {
            let end = simulator.end_of_movement(&movement, start);
            if simulator.log.is_on() {
                let mut line = Lines::new();
                line.moved(&MovementLine { node, queue: self.id, movement, start, end }, &memory);
                simulator.log.write(&mut line);
            }
            self.busy_until = end;
            self.time = end;
        }
        true
    }

    /// The words from `at` on; zeros behind the end of the ring and of the written commands.
    fn words(&self, at: u64) -> [u32; LONGEST] {
        let offset = at % self.bytes;
        let there = (self.limit - at).min(self.bytes - offset) / 4;
        std::array::from_fn(|word| {
            if word as u64 >= there {
                return 0;
            }
            // SAFETY: the place is within the ring, which stays mapped as the caller of `new` promised.
            let place = unsafe { Place::at(self.ring + offset + word as u64 * 4) };
            place.half().load(std::sync::atomic::Ordering::Acquire)
        })
    }
}
