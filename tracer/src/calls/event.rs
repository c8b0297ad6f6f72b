//! What a thread hands to the recorder of its calls.

use calls::{Details, Function, What};

/// A call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME.
    pub end: i64,
    /// Its number.
    pub correlation: u64,
    /// The number of the call that it was made from; 0 for none.
    pub parent: u64,
    /// The stream that it was given; 0 for none.
    pub stream: u64,
    /// What was called.
    pub function: Function,
    /// What it returned, where that is a status; 0 is success.
    pub status: i32,
}

/// What a call asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A kernel.
    Launch {
        /// Work-groups.
        groups: [u32; 3],
        /// Work-items of a work-group.
        items: [u32; 3],
        /// Dynamic LDS in bytes.
        lds: u64,
    },
    /// A copy, or a fill, which has no source.
    Copy {
        /// An address.
        destination: u64,
        /// An address.
        source: Option<u64>,
        /// How much.
        bytes: u64,
        /// Bytes of a row and rows below 2^32, 0 where it is not in rows.
        extent: [u32; 2],
        /// hipMemcpyKind, -1 where it is not said.
        kind: i32,
    },
}

impl Asked {
    /// What is kept of it; of a kernel only with the arguments, because its dispatch says the same.
    #[must_use]
    pub fn of(details: &Details, with_arguments: bool) -> Option<Self> {
        let &Details { groups, items, lds, destination, source, bytes, extent, kind, .. } = details;
        let extent = extent.map(|size| u32::try_from(size).unwrap_or(0));
        match details.what {
            What::Other => None,
            What::Launch => with_arguments.then_some(Self::Launch { groups, items, lds }),
            What::Copy => Some(Self::Copy { destination, source: Some(source), bytes, extent, kind }),
            What::Fill => Some(Self::Copy { destination, source: None, bytes, extent, kind }),
        }
    }
}

/// One entry of a thread's queue.
#[derive(Debug)]
pub enum Entry {
    /// Belongs to the call behind it.
    Asked(Asked),
    /// Belongs to the call behind it.
    Arguments(Box<str>),
    /// A call.
    Call(Call),
}

// Queues hold thousands of them.
const _: () = assert!(size_of::<Entry>() <= 56);
