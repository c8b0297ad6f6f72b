//! Executes the packets of all queues, from the beginning of each to its end.

use crate::aql::{self, Packet, Work};
use crate::behaviour::Timestamps;
use crate::blit::{ARGUMENTS, Blit};
use crate::kernels::{KernelId, Kernels};
use crate::log::{Lines, MovementLine, PacketLine};
use crate::simulator::Simulator;
use crate::word::Place;

/// A time that never comes, in ns of the system clock.
pub(crate) const NEVER: u64 = u64::MAX;

/// Purposes of random numbers.
const KERNEL_TIME: u64 = 0;
const DELAY: u64 = 1;
const GARBAGE: [u64; 2] = [2, 3];

/// The queue of a packet, and the node of its GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) node: u32,
    pub(crate) queue: u32,
}

/// A packet that has begun.
#[derive(Debug)]
pub(crate) struct RunningPacket {
    index: u64,
    /// 0 is none.
    pub(crate) signal: u64,
    pub(crate) work: Work,
    kernel: KernelId,
    /// In ns of the system clock.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// The values that the end of a packet writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completion {
    signal: u64,
    /// Start and end in ticks, if the queue is profiled.
    times: Option<(u64, u64)>,
}

/// A signal that changes later than the end of its packet.
#[derive(Debug)]
pub(crate) struct DelayedCompletion {
    pub(crate) due: u64,
    pub(crate) completion: Completion,
}

/// The part of the simulator that only the engine's thread uses.
#[derive(Debug)]
pub(crate) struct Hardware {
    pub(crate) simulator: &'static Simulator,
    kernels: Kernels,
    /// Lines of completed packets, while there is a log; `over` has the signals that change after them.
    lines: Lines,
    over: Vec<Completion>,
}

impl Hardware {
    pub(crate) fn new(simulator: &'static Simulator) -> Self {
        let kernels = Kernels::new(&simulator.settings.behaviour);
        Self { simulator, kernels, lines: Lines::new(), over: Vec::new() }
    }

    /// Begins a packet. The end of a kernel is known from then on; other packets end when their condition holds.
    pub(crate) fn begin(&mut self, origin: Origin, index: u64, packet: &Packet, start: u64) -> RunningPacket {
        let (work, signal) = (packet.work(), packet.completion_signal());
        let mut running = RunningPacket { index, signal, work, kernel: Kernels::UNKNOWN, start, end: start };
        if let Work::Kernel { object, arguments, .. } = work {
            running.kernel = self.kernels.find(object, self.simulator);
            let kernel = self.kernels.get(running.kernel);
            let lot = || self.simulator.settings.behaviour.lot(origin.queue, index, KERNEL_TIME);
            running.end = kernel.time.draw(lot).map_or(NEVER, |time| start + time);
            if let Some(blit) = kernel.blit {
                running.end = running.end.max(self.perform(blit, arguments, origin, start));
            }
        }
        running
    }

    /// Moves the bytes of a runtime's kernel; returns the time at which that is over.
    fn perform(&mut self, blit: Blit, arguments: u64, origin: Origin, start: u64) -> u64 {
        let Origin { node, queue } = origin;
        let memory = self.simulator.memory();
        if !memory.has(arguments, blit.arguments() as u64 * 8) {
            return start;
        }
        let mut words = [0; ARGUMENTS];
        for (at, word) in words.iter_mut().enumerate().take(blit.arguments()) {
            let address = memory.host_address(arguments + at as u64 * 8);
            // SAFETY: the arguments of a kernel stay there until it is over.
            *word = unsafe { Place::at(address) }.load();
        }
        let movement = blit.movement(&words).filter(|movement| movement.is_within(&memory));
        let Some(movement) = movement else { return start };
        // SAFETY: the program is responsible for the memory that its kernel reads and writes, as with the hardware.
        unsafe { movement.perform(&memory) };
        let end = self.simulator.end_of_movement(&movement, start);
        if self.simulator.log.is_on() {
            self.lines.moved(&MovementLine { node, queue, movement, start, end }, &memory);
        }
        end
    }

    /// Ends a packet. Returns its signal if that changes later.
    pub(crate) fn end(
        &mut self,
        origin: Origin,
        running: &RunningPacket,
        is_profiled: bool,
    ) -> Option<DelayedCompletion> {
        let &RunningPacket { index, signal, work, start, end, .. } = running;
        let kernel = self.kernels.get(running.kernel);
        if self.simulator.log.is_on() {
            self.lines.executed(&PacketLine {
                kind: work.kind(),
                node: origin.node,
                queue: origin.queue,
                index,
                kernel_object: if let Work::Kernel { object, .. } = work { object } else { 0 },
                start,
                end,
                signal,
                name: kernel.name.as_deref(),
            });
        }
        let lot = |purpose| self.simulator.settings.behaviour.lot(origin.queue, index, purpose);
        let times = is_profiled.then(|| {
            let clocks = self.simulator.clocks();
            let first = clocks.ticks(origin.node, start);
            // Hardware never reports work that took no time.
            let last = clocks.ticks(origin.node, end).max(first + 1);
            match kernel.timestamps {
                Timestamps::True => (first, last),
                Timestamps::Zero => (0, 0),
                Timestamps::Inverted => (last, first),
                Timestamps::Garbage => GARBAGE.map(lot).into(),
            }
        });
        let completion = Completion { signal, times };
        let delay = kernel.delay.draw(|| lot(DELAY))?;
        if delay == 0 {
            self.complete(completion);
            return None;
        }
        Some(DelayedCompletion { due: end.saturating_add(delay), completion })
    }

    /// Changes a signal, after the lines if there is a log.
    pub(crate) fn complete(&mut self, completion: Completion) {
        if self.simulator.log.is_on() {
            self.over.push(completion);
        } else {
            aql::complete(completion.signal, completion.times, &self.simulator.events);
        }
    }

    /// Writes the lines, then changes the signals; false if there were none.
    pub(crate) fn settle(&mut self) -> bool {
        self.simulator.log.write(&mut self.lines);
        let any = !self.over.is_empty();
        for completion in self.over.drain(..) {
            aql::complete(completion.signal, completion.times, &self.simulator.events);
        }
        any
    }
}
