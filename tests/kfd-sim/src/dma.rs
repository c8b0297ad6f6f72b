//! Commands of a DMA engine's ring: 32-bit words, the operation in the low 8 bits of the first.

use crate::clock::Clocks;
use crate::events::Events;
use crate::memory::Memory;
use crate::movement::{Extent, Movement, Pattern, Region};
use crate::word::Place;

/// Words of the longest command that is decoded.
pub(crate) const LONGEST: usize = 16;

/// A decoded command. Addresses are the GPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Move(Movement),
    /// Writes a word once everything before is done.
    Fence {
        at: u64,
        value: u32,
    },
    Trap {
        event: u32,
    },
    /// Waits until a word, under a mask, has a relation to a value.
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
    /// Writes the time in ticks.
    Time {
        at: u64,
    },
    /// Has no effect in the simulator.
    Other,
}

/// The first version of a target whose rectangles have wider fields.
const GFX12: u32 = 120_000;

/// Decodes the first command of these words for a GPU of this version; returns it with the number of its words.
pub(crate) fn decode(words: &[u32; LONGEST], version: u32) -> (Command, usize) {
    let wide = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    match (words[0] & 0xff, words[0] >> 8 & 0xff) {
        (0, _) => (Command::Other, 1 + (words[0] >> 16 & 0x3fff) as usize),
        (1, 0) => {
            let bytes = u64::from(words[1] & 0x3fff_ffff) + 1;
            (Command::Move(Movement::copy(wide(3), wide(5), bytes)), 7)
        }
        (1, 4) => (Command::Move(rectangle(words, version)), 13),
        (5, _) => (Command::Fence { at: wide(1), value: words[3] }, 4),
        (6, _) => (Command::Trap { event: words[1] & 0x0fff_ffff }, 2),
        // Without the top bit the operation flushes a cache.
        (8, _) if words[0] >> 31 == 0 => (Command::Other, 6),
        (8, _) => {
            let relation = words[0] >> 28 & 7;
            (Command::Poll { at: wide(1), value: words[3], mask: words[4], relation }, 6)
        }
        (10, _) => (Command::Add { at: wide(1), value: wide(3) }, 8),
        (11, _) => {
            let bytes = u64::from(words[4] & 0x3fff_ffff) + 1;
            let to = Region::linear(wide(1));
            let (extent, pattern) = (Extent::linear(bytes & !3), Pattern::Word(words[3]));
            (Command::Move(Movement::Fill { to, extent, pattern }), 5)
        }
        (13, _) => (Command::Time { at: wide(1) }, 3),
        (17, _) => (Command::Other, 5),
        _ => (Command::Other, 1),
    }
}

/// A copy of rows and slices: pitches, offsets and extents in elements; all but the offsets are stored less one.
fn rectangle(words: &[u32; LONGEST], version: u32) -> Movement {
    let element = 1 << (words[0] >> 29);
    let field = |at: usize, shift: u32, bits: u32| u64::from(words[at]) >> shift & ((1 << bits) - 1);
    // These are the bits of a position along a row, of one across, of a pitch, which is above, and of a slice's pitch.
    let (along, across, pitch, slice) = if version < GFX12 { (14, 11, 19, 28) } else { (16, 14, 16, 32) };
    let region = |at: usize| {
        let row_pitch = (field(at + 3, 32 - pitch, pitch) + 1) * element;
        let slice_pitch = (field(at + 4, 0, slice) + 1) * element;
        let (x, y, z) = (field(at + 2, 0, along), field(at + 2, 16, along), field(at + 3, 0, across));
        let first = u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        Region { at: first + x * element + y * row_pitch + z * slice_pitch, row_pitch, slice_pitch }
    };
    let extent = Extent {
        bytes: (field(11, 0, along) + 1) * element,
        rows: field(11, 16, along) + 1,
        slices: field(12, 0, across) + 1,
    };
    Movement::Copy { from: region(1), to: region(6), extent }
}

/// The engine on which a command is executed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Engine<'a> {
    pub(crate) node: u32,
    pub(crate) clocks: Clocks,
    /// Time of the execution, in ns of the system clock.
    pub(crate) time: u64,
    pub(crate) memory: &'a Memory,
    pub(crate) events: &'a Events,
}

impl Command {
    /// Executes the command; false if it has to wait.
    pub(crate) fn execute(self, engine: Engine<'_>) -> bool {
        let Engine { node, clocks, time, memory, events } = engine;
        match self {
            Self::Move(movement) => {
                // SAFETY: the program is responsible for the addresses in its commands, as with the hardware.
                unsafe { movement.perform(memory) };
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
            Self::Time { at } => place(memory, at).store(clocks.ticks(node, time)),
            Self::Other => {}
        }
        true
    }
}

fn place(memory: &Memory, address: u64) -> Place {
    // SAFETY: the program is responsible for the addresses in its commands, as with the hardware.
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
        let command = Command::Move(Movement::copy(0x1_0000_0010, 0x2_0000_0020, 100));
        assert_eq!(decode(&copy, GFX12), (command, 7));
    }

    #[test]
    fn padding_is_passed_over_word_by_word_or_at_once() {
        assert_eq!(decode(&words(&[0]), GFX12), (Command::Other, 1));
        assert_eq!(decode(&words(&[5 << 16]), GFX12), (Command::Other, 6));
    }

    #[test]
    fn a_rectangle_counts_elements_less_one() {
        // 3 x 2 x 1 elements of 4 bytes go from row 1 of pitch 8 to column 1 of pitch 5.
        let mut copy = words(&[
            1 | 4 << 8 | 2 << 29,
            0x1000,
            0,
            1 << 16,
            7 << 13,
            63,
            0x2000,
            0,
            1,
            4 << 13,
            24,
            2 | 1 << 16,
        ]);
        let expected = Movement::Copy {
            from: Region { at: 0x1020, row_pitch: 32, slice_pitch: 256 },
            to: Region { at: 0x2004, row_pitch: 20, slice_pitch: 100 },
            extent: Extent { bytes: 12, rows: 2, slices: 1 },
        };
        assert_eq!(decode(&copy, 90_010), (Command::Move(expected), 13));
        // Pitches are three bits higher since gfx12.
        copy[4] = 7 << 16;
        copy[9] = 4 << 16;
        assert_eq!(decode(&copy, GFX12), (Command::Move(expected), 13));
    }

    #[test]
    fn a_poll_holds_the_ring_until_the_value_is_there() {
        let (memory, events) = (Memory::new(), Events::new(8));
        let engine =
            Engine { node: 1, clocks: Clocks { drift: 0 }, time: 1, memory: &memory, events: &events };
        let mut value = 1_u64;
        let at = (&raw mut value) as u64;
        let poll = Command::Poll { at, value: 0, mask: u32::MAX, relation: 3 };
        assert!(!poll.execute(engine));
        assert!(Command::Add { at, value: u64::MAX }.execute(engine));
        assert!(poll.execute(engine));
    }
}
