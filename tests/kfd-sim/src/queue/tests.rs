//! Tests of a queue of four slots in memory of the test.

use super::*;
use crate::settings::Settings;
use crate::simulator::Simulator;

/// Memory of a queue of four slots, as the runtime would own it.
#[repr(align(64))]
struct Program {
    structure: [u64; 32],
    ring: [[u64; 8]; 4],
    doorbell: u64,
    signals: [[u64; 8]; 4],
}

const WRITE: usize = 7;
const READ: usize = 16;

/// Headers of a kernel's packet, with and without the barrier bit.
const ALONE: u64 = 0x102;
const BESIDE: u64 = 0x002;

struct Machine {
    program: Box<Program>,
    queue: Queue,
    hardware: Hardware,
}

fn machine(settings: &[(&str, &str)]) -> Machine {
    let settings = Settings::read(|name| {
        let given = settings.iter().find(|(given, _)| name.strip_prefix("KFD_SIM_") == Some(given));
        given.map(|(_, value)| (*value).to_owned())
    });
    // The engine's thread, for which the simulator is made, never ends, so it is leaked.
    let simulator = Box::leak(Box::new(Simulator::new(settings.unwrap()).unwrap()));
    let mut program =
        Box::new(Program { structure: [0; 32], ring: [[1; 8]; 4], doorbell: 0, signals: [[0; 8]; 4] });
    // `queue_properties` is the upper half of the word at 176.
    program.structure[22] = u64::from(PROFILED) << 32;
    let structure = program.structure.as_mut_ptr() as u64;
    let layout = Layout {
        ring: program.ring.as_mut_ptr() as u64,
        bytes: 256,
        read_index: structure + READ_INDEX,
        write_index: structure + 8 * WRITE as u64,
        doorbell: (&raw mut program.doorbell) as u64,
    };
    // SAFETY: the machine keeps the program as long as the queue.
    let queue = unsafe { Queue::new(1, Doorbell { node: 1, slot: 0 }, layout) };
    Machine { program, queue, hardware: Hardware::new(simulator) }
}

impl Machine {
    /// Writes a kernel's packet, with the object 0x40, 0x80 and so on, and a signal of its own.
    fn write(&mut self, at: usize, header: u64) {
        self.program.signals[at % 4] = [1, 1, 0, 0, 0, 0, 0, 0];
        let signal = self.program.signals[at % 4].as_mut_ptr() as u64;
        self.program.ring[at % 4] = [header, 0, 0, 0, 64 * (at as u64 + 1), 0, 0, signal];
    }

    fn ring(&mut self, written: u64) {
        self.program.structure[WRITE] = written;
        self.program.doorbell = written - 1;
    }

    fn dispatch(&mut self, headers: &[u64]) {
        for (at, header) in headers.iter().enumerate() {
            self.write(at, *header);
        }
        self.ring(headers.len() as u64);
    }

    /// Turns until one has done nothing.
    fn advance(&mut self) -> Turn {
        loop {
            let turn = self.queue.advance(&mut self.hardware);
            if turn != Turn::Worked && turn != Turn::More {
                return turn;
            }
        }
    }

    fn wait_until(&self, end: u64) {
        while clock::now() < end {
            std::thread::yield_now();
        }
    }

    fn signal(&self, at: usize) -> u64 {
        self.program.signals[at][1]
    }

    fn times(&self, at: usize) -> (u64, u64) {
        (self.program.signals[at][4], self.program.signals[at][5])
    }
}

const NO_TIME: (&str, &str) = ("KERNEL_NS", "0");

#[test]
fn nothing_runs_before_the_doorbell_rings() {
    let mut machine = machine(&[NO_TIME]);
    machine.write(0, ALONE);
    machine.program.structure[WRITE] = 1;
    assert_eq!(machine.advance(), Turn::Idle);
    machine.ring(1);
    assert_eq!(machine.advance(), Turn::Idle);
    assert_eq!((machine.signal(0), machine.program.structure[READ]), (0, 1));
}

#[test]
fn a_kernel_keeps_its_queue_busy_until_its_end() {
    let mut machine = machine(&[("KERNEL_NS", "20000000")]);
    machine.dispatch(&[ALONE]);
    let Turn::Busy(end) = machine.advance() else { panic!("not busy") };
    assert_eq!(machine.signal(0), 1);
    machine.wait_until(end);
    assert_eq!(machine.advance(), Turn::Idle);
    assert_eq!(machine.signal(0), 0);
    let (start, end) = machine.times(0);
    assert_eq!(end - start, 2_000_000, "ticks of 10 ns");
}

#[test]
fn a_packet_without_a_header_stalls_the_queue_until_it_has_one() {
    let mut machine = machine(&[NO_TIME]);
    machine.write(1, ALONE);
    machine.ring(2);
    assert_eq!(machine.advance(), Turn::Idle);
    assert_eq!(machine.program.structure[READ], 0);
    let written = clock::now();
    machine.write(0, ALONE);
    machine.advance();
    assert_eq!(machine.program.structure[READ], 2);
    assert!(machine.times(0).0 > clock::Clocks { drift: 0 }.ticks(1, written), "not before it was there");
}

#[test]
fn a_queue_that_is_not_profiled_gets_no_times() {
    let mut machine = machine(&[NO_TIME]);
    machine.program.structure[22] = 0;
    machine.dispatch(&[ALONE]);
    machine.advance();
    assert_eq!((machine.signal(0), machine.times(0)), (0, (0, 0)));
}

#[test]
fn the_ring_wraps() {
    let mut machine = machine(&[NO_TIME]);
    for written in 1..=9 {
        machine.write(written - 1, ALONE);
        machine.ring(written as u64);
        machine.advance();
    }
    assert_eq!(machine.program.structure[READ], 9);
}

#[test]
fn kernels_overlap_up_to_the_next_barrier_bit_and_as_many_as_may() {
    let mut machine = machine(&[("KERNEL_NS", "never"), ("OVERLAP", "3")]);
    machine.dispatch(&[BESIDE, BESIDE, ALONE]);
    assert_eq!(machine.advance(), Turn::Idle, "none of them ever ends");
    assert_eq!(machine.queue.running.len(), 2);

    let mut machine = self::machine(&[("KERNEL_NS", "never"), ("OVERLAP", "3")]);
    machine.dispatch(&[BESIDE; 4]);
    machine.advance();
    assert_eq!(machine.queue.running.len(), 3);
}

#[test]
fn of_overlapping_kernels_the_shorter_ends_first() {
    let mut machine = machine(&[("KERNEL_NS", "0x40=never,0"), ("OVERLAP", "2")]);
    machine.dispatch(&[BESIDE, BESIDE]);
    machine.advance();
    assert_eq!((machine.signal(0), machine.signal(1)), (1, 0));
}

#[test]
fn a_late_signal_does_not_hold_up_the_queue() {
    let mut machine = machine(&[NO_TIME, ("DELAY_NS", "0x40=20000000,0")]);
    machine.dispatch(&[ALONE, ALONE]);
    let Turn::Busy(due) = machine.advance() else { panic!("not busy") };
    assert_eq!((machine.signal(0), machine.signal(1)), (1, 0));
    machine.wait_until(due);
    machine.advance();
    assert_eq!(machine.signal(0), 0);
    assert!(machine.times(0) < machine.times(1), "it ended when it ended");
}

#[test]
fn a_kernel_without_end_keeps_what_must_wait_for_it_waiting() {
    let mut machine = machine(&[("KERNEL_NS", "0x80=never,0"), ("OVERLAP", "4")]);
    machine.dispatch(&[ALONE, ALONE, BESIDE, ALONE]);
    machine.advance();
    assert_eq!([0, 1, 2, 3].map(|at| machine.signal(at)), [0, 1, 0, 1]);
}

#[test]
fn timestamps_lie_as_they_are_told() {
    let times = |kind| {
        let mut machine = machine(&[("KERNEL_NS", "1000"), ("TIMESTAMPS", kind)]);
        machine.dispatch(&[ALONE]);
        while machine.signal(0) == 1 {
            machine.advance();
        }
        machine.times(0)
    };
    let (start, end) = times("true");
    assert_eq!(end - start, 100);
    let (start, end) = times("inverted");
    assert_eq!(start - end, 100);
    assert_eq!(times("zero"), (0, 0));
    let (start, end) = times("garbage");
    assert_eq!((start, end), times("garbage"), "the same seed");
    assert!(start.abs_diff(end) > 1 << 32, "{start} {end}");
}

#[test]
fn every_packet_of_a_queue_begins_at_a_tick_of_its_own() {
    let mut machine = machine(&[NO_TIME]);
    machine.dispatch(&[ALONE; 4]);
    machine.advance();
    let starts = [0, 1, 2, 3].map(|at| machine.times(at).0);
    assert_eq!([starts[1] - starts[0], starts[2] - starts[1], starts[3] - starts[2]], [1, 1, 1]);
}
