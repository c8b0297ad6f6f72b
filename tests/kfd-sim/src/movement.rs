//! Moves bytes, for the commands of a DMA engine and for the runtime's own kernels.

use crate::memory::Memory;
use crate::word::Bytes;

/// A box of bytes in the GPU's address space: adjacent bytes make a row, rows a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) at: u64,
    /// Bytes from row to row, and from slice to slice.
    pub(crate) row_pitch: u64,
    pub(crate) slice_pitch: u64,
}

impl Region {
    pub(crate) fn linear(at: u64) -> Self {
        Self { at, row_pitch: 0, slice_pitch: 0 }
    }

    fn row(self, row: u64, slice: u64) -> u64 {
        self.at + row * self.row_pitch + slice * self.slice_pitch
    }

    /// Bytes from the first to the last; `None` when they exceed any address space.
    fn length(self, extent: Extent) -> Option<u64> {
        let rows = extent.rows.saturating_sub(1).checked_mul(self.row_pitch)?;
        let slices = extent.slices.saturating_sub(1).checked_mul(self.slice_pitch)?;
        rows.checked_add(slices)?.checked_add(extent.bytes)
    }
}

/// Size of regions: bytes of a row, rows of a slice, slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
    pub(crate) slices: u64,
}

impl Extent {
    pub(crate) fn linear(bytes: u64) -> Self {
        Self { bytes, rows: 1, slices: 1 }
    }

    fn rows(self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.slices).flat_map(move |slice| (0..self.rows).map(move |row| (row, slice)))
    }
}

/// Content that fills a region, repeated as often as needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    Word(u32),
    /// This number of bytes at a GPU's address.
    At(u64, u64),
}

/// A copy or a fill. All addresses are the GPU's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Movement {
    Copy { from: Region, to: Region, extent: Extent },
    Fill { to: Region, extent: Extent, pattern: Pattern },
}

impl Movement {
    pub(crate) fn copy(from: u64, to: u64, bytes: u64) -> Self {
        Self::Copy { from: Region::linear(from), to: Region::linear(to), extent: Extent::linear(bytes) }
    }

    /// Number of bytes that are written.
    pub(crate) fn bytes(&self) -> u64 {
        let (Self::Copy { extent, .. } | Self::Fill { extent, .. }) = self;
        extent.bytes * extent.rows * extent.slices
    }

    /// Address of the source, unless this is a fill, and address of the target.
    pub(crate) fn ends(&self) -> (Option<u64>, u64) {
        match self {
            Self::Copy { from, to, .. } => (Some(from.at), to.at),
            Self::Fill { to, .. } => (None, to.at),
        }
    }

    /// True if the program has allocated all memory that is read and written. Hardware would report a fault otherwise.
    pub(crate) fn is_within(&self, memory: &Memory) -> bool {
        let has = |region: Region, extent| {
            region.length(extent).is_some_and(|length| length == 0 || memory.has(region.at, length))
        };
        match *self {
            Self::Copy { from, to, extent } => has(from, extent) && has(to, extent),
            Self::Fill { to, extent, pattern: Pattern::At(at, bytes) } => {
                has(to, extent) && has(Region::linear(at), Extent::linear(bytes))
            }
            Self::Fill { to, extent, pattern: Pattern::Word(_) } => has(to, extent),
        }
    }

    /// # Safety
    /// The program is responsible for every address in it, as with hardware: mapped, and touched by nobody else meanwhile.
    pub(crate) unsafe fn perform(&self, memory: &Memory) {
        // SAFETY: the caller promised that these addresses are mapped and nobody else's.
        let bytes = |at: u64, count: u64| unsafe { Bytes::at(memory.host_address(at), count as usize) };
        match *self {
            Self::Copy { from, to, extent } => {
                for (row, slice) in extent.rows() {
                    bytes(to.row(row, slice), extent.bytes)
                        .copy_from(bytes(from.row(row, slice), extent.bytes));
                }
            }
            Self::Fill { to, extent, pattern } => {
                let pattern = match pattern {
                    Pattern::Word(word) => word.to_le_bytes().to_vec(),
                    Pattern::At(at, count) => bytes(at, count).to_vec(),
                };
                for (row, slice) in extent.rows() {
                    bytes(to.row(row, slice), extent.bytes).fill(&pattern);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address<T>(memory: &mut [T]) -> u64 {
        memory.as_mut_ptr() as u64
    }

    fn perform(movement: Movement) {
        // SAFETY: the tests use arrays of their own.
        unsafe { movement.perform(&Memory::new()) };
    }

    #[test]
    fn bytes_arrive_where_they_are_sent() {
        let (mut from, mut to) = ([1_u8, 2, 3, 4], [0_u8; 4]);
        let movement = Movement::copy(address(&mut from), address(&mut to), 3);
        perform(movement);
        assert_eq!((to, movement.bytes()), ([1, 2, 3, 0], 3));
    }

    #[test]
    fn a_box_is_copied_row_by_row_and_slice_by_slice() {
        let (mut from, mut to) = (*b"abcdefghijkl", [b'.'; 12]);
        // These are two slices of two rows of one byte, at distances of 3 and 6 here, of 2 and 4 there.
        let from = Region { at: address(&mut from) + 1, row_pitch: 3, slice_pitch: 6 };
        let region = Region { at: address(&mut to), row_pitch: 2, slice_pitch: 4 };
        let extent = Extent { bytes: 1, rows: 2, slices: 2 };
        let movement = Movement::Copy { from, to: region, extent };
        perform(movement);
        assert_eq!((&to, movement.bytes()), (b"b.e.h.k.....", 4));
    }

    #[test]
    fn what_goes_beyond_an_allocation_is_seen() {
        let mut memory = Memory::new();
        memory.allocate(1, 0x1000, 0x1000, 1);
        memory.allocate(1, 0x8000, 0x1000, 1);
        let is_within = |from, to, bytes| Movement::copy(from, to, bytes).is_within(&memory);
        assert!(is_within(0x1000, 0x8000, 0x1000));
        assert!(!is_within(0x1000, 0x8001, 0x1000));
        assert!(!is_within(0x2000, 0x8000, 1));
        assert!(!is_within(0x1000, 0x8000, u64::MAX - 7));
        let rows = |row_pitch| Movement::Fill {
            to: Region { at: 0x1000, row_pitch, slice_pitch: 0 },
            extent: Extent { bytes: 0x100, rows: 2, slices: 1 },
            pattern: Pattern::Word(0),
        };
        assert!(rows(0xf00).is_within(&memory));
        assert!(!rows(0xf01).is_within(&memory));
    }

    #[test]
    fn a_pattern_begins_again_in_every_row() {
        let (mut pattern, mut to) = (*b"xyz", [b'.'; 10]);
        let region = Region { at: address(&mut to), row_pitch: 5, slice_pitch: 0 };
        let extent = Extent { bytes: 4, rows: 2, slices: 1 };
        perform(Movement::Fill { to: region, extent, pattern: Pattern::At(address(&mut pattern), 3) });
        assert_eq!(&to, b"xyzx.xyzx.");
        let extent = Extent::linear(8);
        perform(Movement::Fill { to: region, extent, pattern: Pattern::Word(0x64_63_62_61) });
        assert_eq!(&to, b"abcdabcdx.");
    }
}
