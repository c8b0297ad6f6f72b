//! Commands of a DMA engine's ring: 32-bit words, the operation in the low 8 bits of the first.

use crate::clock;
use crate::events::Events;
use crate::memory::Memory;
use crate::word::Place;

/// Words of the longest command that is decoded.
pub(crate) const LONGEST: usize = 16;

/// What a command asks for. Addresses are the GPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Copy {
        from: u64,
        to: u64,
        bytes: u64,
    },
    Fill {
        at: u64,
        value: u32,
        bytes: u64,
    },
    /// To write a word once everything before is done.
    Fence {
        at: u64,
        value: u32,
    },
    Trap {
        event: u32,
    },
    /// To wait until a word, under a mask, has a relation to a value.
    Poll {
        at: u64,
        value: u32,
        mask: u32,
        relation: u32,
    },
    Add {
        at: u64,
        value: u64,
    },
    /// To write the time in ticks.
    Time {
        at: u64,
    },
    /// Something that leaves no trace here.
    Other,
}

/// The first command of these words, and how many of them it takes.
pub(crate) fn decode(words: &[u32; LONGEST]) -> (Command, usize) {
    let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    match (words[0] & 0xff, words[0] >> 8 & 0xff) {
        (0, _) => (Command::Other, 1 + (words[0] >> 16 & 0x3fff) as usize),
        (1, 0) => {
            let bytes = u64::from(words[1] & 0x3fff_ffff) + 1;
            (Command::Copy { from: wide(3), to: wide(5), bytes }, 7)
        }
        (1, 4) => (Command::Other, 13),
        (5, _) => (Command::Fence { at: wide(1), value: words[3] }, 4),
        (6, _) => (Command::Trap { event: words[1] & 0x0fff_ffff }, 2),
        // Without the top bit it flushes a cache.
        (8, _) if words[0] >> 31 == 0 => (Command::Other, 6),
        (8, _) => {
            let relation = words[0] >> 28 & 7;
            (Command::Poll { at: wide(1), value: words[3], mask: words[4], relation }, 6)
        }
        (10, _) => (Command::Add { at: wide(1), value: wide(3) }, 8),
        (11, _) => {
            let bytes = u64::from(words[4] & 0x3fff_ffff) + 1;
            (Command::Fill { at: wide(1), value: words[3], bytes }, 5)
        }
        (13, _) => (Command::Time { at: wide(1) }, 3),
        (17, _) => (Command::Other, 5),
        _ => (Command::Other, 1),
    }
}

impl Command {
    /// Does it, unless it has to wait: then the answer is `false`.
    pub(crate) fn execute(self, node: u32, memory: &Memory, events: &Events) -> bool {
        match self {
            Self::Copy { from, to, bytes } => {
                let (from, to) = (memory.host_address(from) as *const u8, memory.host_address(to) as *mut u8);
                // SAFETY: the program vouches for what it has copied, as to the hardware.
                unsafe { std::ptr::copy(from, to, bytes as usize) };
            }
            Self::Fill { at, value, bytes } => {
                for word in 0..bytes / 4 {
                    place(memory, at + word * 4).half().store(value, std::sync::atomic::Ordering::Relaxed);
                }
            }
            Self::Fence { at, value } => {
                place(memory, at).half().store(value, std::sync::atomic::Ordering::Release);
            }
            Self::Trap { event } => {
                events.fire(event);
            }
            Self::Poll { at, value, mask, relation } => {
                let now = place(memory, at).half().load(std::sync::atomic::Ordering::Acquire) & mask;
                return match relation {
                    1 => now < value,
                    2 => now <= value,
                    3 => now == value,
                    4 => now != value,
                    5 => now >= value,
                    6 => now > value,
                    _ => true,
                };
            }
            Self::Add { at, value } => place(memory, at).add(value),
            Self::Time { at } => place(memory, at).store(clock::ticks(node, clock::now())),
            Self::Other => {}
        }
        true
    }
}

fn place(memory: &Memory, address: u64) -> Place {
    // SAFETY: the program vouches for the addresses in its commands, as to the hardware.
    unsafe { Place::at(memory.host_address(address)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(first: &[u32]) -> [u32; LONGEST] {
        let mut words = [0; LONGEST];
        words[..first.len()].copy_from_slice(first);
        words
    }

    #[test]
    fn a_copy_says_its_bytes_less_one() {
        let copy = words(&[1, 99, 0, 0x10, 1, 0x20, 2]);
        let command = Command::Copy { from: 0x1_0000_0010, to: 0x2_0000_0020, bytes: 100 };
        assert_eq!(decode(&copy), (command, 7));
    }

    #[test]
    fn padding_is_passed_over_word_by_word_or_at_once() {
        assert_eq!(decode(&words(&[0])), (Command::Other, 1));
        assert_eq!(decode(&words(&[5 << 16])), (Command::Other, 6));
    }

    #[test]
    fn a_poll_holds_the_ring_until_the_value_is_there() {
        let (memory, events) = (Memory::new(), Events::new(8));
        let mut value = 1_u64;
        let at = (&raw mut value) as u64;
        let poll = Command::Poll { at, value: 0, mask: u32::MAX, relation: 3 };
        assert!(!poll.execute(1, &memory, &events));
        assert!(Command::Add { at, value: u64::MAX }.execute(1, &memory, &events));
        assert!(poll.execute(1, &memory, &events));
    }

    #[test]
    fn bytes_arrive_where_they_are_sent() {
        let (memory, events) = (Memory::new(), Events::new(8));
        let (from, mut to) = ([1_u8, 2, 3, 4], [0_u8; 4]);
        let copy = Command::Copy { from: from.as_ptr() as u64, to: to.as_mut_ptr() as u64, bytes: 3 };
        assert!(copy.execute(1, &memory, &events));
        assert_eq!(to, [1, 2, 3, 0]);
    }
}
