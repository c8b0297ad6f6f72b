//! Packets of the architected queuing language and the signals that they complete, as amd_signal.h and amd_queue.h lay them out.

use crate::events::Events;
use crate::word::Place;

pub(crate) const PACKET: u64 = 64;

/// Types of packets, in the low 8 bits of a header.
const VENDOR: u64 = 0;
const INVALID: u64 = 1;
const KERNEL: u64 = 2;
const BARRIER_AND: u64 = 3;
const BARRIER_OR: u64 = 5;

/// Makes a packet wait for all before it.
const BARRIER_BIT: u64 = 1 << 8;

/// Format of the vendor's packet that waits for a signal's value.
const BARRIER_VALUE: u64 = 2;

/// Format of the vendor's packet that launches a kernel in clusters, once a signal is 0.
const EXT_KERNEL: u64 = 3;

/// A packet taken from the ring.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet([u64; 8]);

/// The work of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Runs the kernel at this address, with its arguments at another, once a signal is 0; a signal 0 is none.
    Kernel { object: u64, arguments: u64, after: u64 },
    /// Waits until all signals, or one of them, are 0; a signal 0 is none.
    Barrier { signals: [u64; 5], any: bool },
    /// Waits until a signal's value has a relation to another.
    Value { signal: u64, value: i64, mask: i64, relation: u32 },
    /// Has no effect in the simulator.
    Other,
}

impl Packet {
    /// Takes the packet out of a slot, unless its header is not there yet.
    pub(crate) fn take(slot: [Place; 8]) -> Option<Self> {
        let header = slot[0].load();
        if header & 0xff == INVALID {
            return None;
        }
        let mut words = slot.map(Place::load);
        words[0] = header;
        slot[0].store(header & !0xff | INVALID);
        Some(Self(words))
    }

    pub(crate) fn work(&self) -> Work {
        let words = &self.0;
        let signals = [words[1], words[2], words[3], words[4], words[5]];
        match words[0] & 0xff {
            KERNEL => Work::Kernel { object: words[4], arguments: words[5], after: 0 },
            VENDOR if words[0] >> 16 & 0xff == EXT_KERNEL => {
                Work::Kernel { object: words[4], arguments: words[5], after: words[6] }
            }
            BARRIER_AND => Work::Barrier { signals, any: false },
            BARRIER_OR => Work::Barrier { signals, any: true },
            VENDOR if words[0] >> 16 & 0xff == BARRIER_VALUE => Work::Value {
                signal: words[1],
                value: words[2] as i64,
                mask: words[3] as i64,
                relation: words[4] as u32,
            },
            _ => Work::Other,
        }
    }

    /// True if it may begin only when everything before it in its queue is over.
    pub(crate) fn waits_for_all_before(&self) -> bool {
        self.0[0] & BARRIER_BIT != 0
    }

    /// The signal to decrement at the packet's end; 0 is none.
    pub(crate) fn completion_signal(&self) -> u64 {
        self.0[7]
    }
}

impl Work {
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Kernel { .. } => "dispatch",
            Self::Barrier { .. } | Self::Value { .. } => "barrier",
            Self::Other => "other",
        }
    }

    /// True if the condition that the packet waits for holds.
    pub(crate) fn is_satisfied(&self) -> bool {
        match *self {
            Self::Kernel { after: 0, .. } | Self::Other => true,
            Self::Kernel { after, .. } => value(after) == 0,
            Self::Barrier { signals, any } => {
                let mut zero = signals.into_iter().filter(|signal| *signal != 0).map(|at| value(at) == 0);
                if any { zero.any(|zero| zero) || signals == [0; 5] } else { zero.all(|zero| zero) }
            }
            Self::Value { signal: 0, .. } => true,
            Self::Value { signal, value: wanted, mask, relation } => {
                let value = value(signal) & mask;
                match relation {
                    0 => value == wanted,
                    1 => value != wanted,
                    2 => value < wanted,
                    _ => value >= wanted,
                }
            }
        }
    }
}

/// A field of a signal that a packet names.
fn field(signal: u64, offset: u64) -> Place {
    // SAFETY: by the contract of the queue, a packet's signals exist until the packet is done.
    unsafe { Place::at(signal + offset) }
}

fn value(signal: u64) -> i64 {
    field(signal, 8).load_signed()
}

/// Ends a packet: writes the timestamps, start first, where the queue is profiled, then the value, then the event.
pub(crate) fn complete(signal: u64, times: Option<(u64, u64)>, events: &Events) {
    if signal == 0 {
        return;
    }
    if let Some((start, end)) = times {
        field(signal, 32).store(start);
        field(signal, 40).store(end);
    }
    // The mailbox is read first, because the program may destroy the signal once it sees the value.
    let mailbox = field(signal, 16).load();
    let event = field(signal, 24).half().load(std::sync::atomic::Ordering::Relaxed);
    field(signal, 8).decrement();
    if mailbox != 0 {
        // SAFETY: the mailbox is a slot in the page of events, which lives as long as the runtime.
        unsafe { Place::at(mailbox) }.store(event.into());
        events.fire(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal with the runtime's layout: the value is at 8, the mailbox at 16, the times at 32 and 40.
    fn signal(value: i64) -> Box<[u64; 8]> {
        Box::new([1, value as u64, 0, 0, 0, 0, 0, 0])
    }

    fn address(memory: &mut [u64; 8]) -> u64 {
        memory.as_mut_ptr() as u64
    }

    fn slot(memory: &mut [u64; 8]) -> [Place; 8] {
        let first = address(memory);
        // SAFETY: the places are the eight words of the array.
        [0, 1, 2, 3, 4, 5, 6, 7].map(|word| unsafe { Place::at(first + word * 8) })
    }

    #[test]
    fn a_packet_is_taken_once() {
        let mut memory = [KERNEL | BARRIER_BIT, 0, 0, 0, 0x1234, 0x5678, 0, 7];
        let packet = Packet::take(slot(&mut memory)).unwrap();
        assert_eq!(packet.work(), Work::Kernel { object: 0x1234, arguments: 0x5678, after: 0 });
        assert!(packet.waits_for_all_before());
        assert_eq!(packet.completion_signal(), 7);
        assert!(Packet::take(slot(&mut memory)).is_none());
    }

    #[test]
    fn a_barrier_waits_for_all_or_for_one() {
        let (mut open, mut closed) = (signal(0), signal(1));
        let signals = [address(&mut open), 0, address(&mut closed), 0, 0];
        assert!(Work::Barrier { signals, any: true }.is_satisfied());
        assert!(!Work::Barrier { signals, any: false }.is_satisfied());
        assert!(Work::Barrier { signals: [0; 5], any: true }.is_satisfied());
    }

    #[test]
    fn an_extended_kernel_waits_for_the_signal_that_it_depends_on() {
        let (mut open, mut closed) = (signal(0), signal(1));
        for (after, is_satisfied) in [(0, true), (address(&mut open), true), (address(&mut closed), false)] {
            let mut memory = [EXT_KERNEL << 16 | BARRIER_BIT, 0, 0, 0, 0x1234, 0x5678, after, 0];
            let work = Packet::take(slot(&mut memory)).unwrap().work();
            assert_eq!(work, Work::Kernel { object: 0x1234, arguments: 0x5678, after });
            assert_eq!((work.kind(), work.is_satisfied()), ("dispatch", is_satisfied));
        }
    }

    #[test]
    fn a_value_barrier_compares_under_its_mask() {
        let mut memory = signal(0b110);
        let at = address(&mut memory);
        let satisfied =
            |value, mask, relation| Work::Value { signal: at, value, mask, relation }.is_satisfied();
        assert!(satisfied(0b10, 0b11, 0));
        assert!(!satisfied(0b10, 0b11, 1));
        assert!(satisfied(7, -1, 2));
        assert!(satisfied(6, -1, 3));
    }

    #[test]
    fn the_end_of_a_packet_writes_the_times_and_fires_the_event() {
        let events = Events::new(8);
        let event = events.create(0, false).unwrap();
        let mut mailbox = 0_u64;
        let mut memory = signal(1);
        memory[2] = (&raw mut mailbox) as u64;
        memory[3] = event.into();
        complete(address(&mut memory), Some((10, 20)), &events);
        assert_eq!((memory[1], memory[4], memory[5], mailbox), (0, 10, 20, u64::from(event)));
    }
}
