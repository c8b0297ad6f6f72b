//! A call, its parameters, and its arguments in pieces that fit a queue.

use crate::base::call_interface::{CallDetails, CallKind, Function};

use super::open::OpenCall;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME; 0 where it has not returned.
    pub end: i64,
    /// The number of the call.
    pub correlation: u64,
    /// The number of the call that it was made from; 0 for none.
    pub parent: u64,
    /// The stream among its arguments; 0 for none.
    pub stream: u64,
    pub function: Function,
    /// The returned status, where the function returns one; 0 is success.
    pub status: i32,
}

impl Call {
    #[must_use]
    pub const fn unfinished(call: &OpenCall) -> Self {
        let &OpenCall { correlation, parent, start, function } = call;
        Self { start, end: 0, correlation, parent, stream: 0, function, status: 0 }
    }

    /// In ns; `None` where it has not returned.
    #[inline]
    #[must_use]
    pub fn duration(&self) -> Option<i64> {
        (self.end != 0).then(|| self.end - self.start)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallParams {
    Launch {
        /// Work-groups.
        groups: [u32; 3],
        /// Work-items of a work-group.
        items: [u32; 3],
        /// Dynamic LDS in bytes.
        lds: u64,
    },
    /// A fill is a copy without a source.
    Copy {
        /// Address of the memory.
        destination: u64,
        /// Address of the memory; `None` for a fill.
        source: Option<u64>,
        bytes: u64,
        /// Bytes of a row and number of rows, both below 2^32; 0 where the copy is not in rows.
        extent: [u32; 2],
        /// `hipMemcpyKind`; -1 where the function has no such parameter.
        kind: i32,
    },
}

impl CallParams {
    /// `None` for calls without recorded parameters.
    #[must_use]
    pub fn from_details(details: &CallDetails) -> Option<Self> {
        let &CallDetails { groups, items, lds, destination, source, bytes, extent, kind, .. } = details;
        let extent = extent.map(|size| u32::try_from(size).unwrap_or(0));
        match details.call {
            CallKind::Other => None,
            CallKind::Launch => Some(Self::Launch { groups, items, lds }),
            CallKind::Copy => Some(Self::Copy { destination, source: Some(source), bytes, extent, kind }),
            CallKind::Fill => Some(Self::Copy { destination, source: None, bytes, extent, kind }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    length: u8,
    bytes: [u8; Self::LONGEST],
}

impl Piece {
    const LONGEST: usize = 54;

    /// Limit on the pieces of a text; the rest is cut off.
    pub const MOST: usize = 64;

    pub fn split(text: &[u8]) -> impl ExactSizeIterator<Item = Self> {
        text[..text.len().min(Self::MOST * Self::LONGEST)].chunks(Self::LONGEST).map(|part| {
            let mut bytes = [0; Self::LONGEST];
            bytes[..part.len()].copy_from_slice(part);
            Self { length: part.len() as u8, bytes }
        })
    }

    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_sum_of_its_pieces() {
        for length in [0, 1, Piece::LONGEST, Piece::LONGEST + 1, 1000, Piece::MOST * Piece::LONGEST] {
            let text: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let pieces = Piece::split(&text);
            assert_eq!(pieces.len(), length.div_ceil(Piece::LONGEST));
            assert_eq!(pieces.flat_map(|piece| piece.bytes().to_vec()).collect::<Vec<_>>(), text);
        }
    }

    #[test]
    fn a_text_is_cut_where_it_has_too_many_pieces() {
        let text = vec![b'x'; 1 << 20];
        assert_eq!(Piece::split(&text).len(), Piece::MOST);
        assert_eq!(Piece::split(&text).map(|piece| piece.bytes().len()).sum::<usize>(), 3456);
    }
}
