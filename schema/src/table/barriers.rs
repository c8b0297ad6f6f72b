use super::{Details, row};
use crate::{Id, NameId, TrackId};

row! {
    /// One barrier packet, timed by the device: waiting, not work.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Barrier {
        /// The id of the source.
        pub id: Id,
        /// The source's name for it, usually empty.
        pub name: NameId,
        /// The track it waited on.
        pub track: TrackId,
        /// Start in ns.
        pub start: i64,
        /// End minus start in ns: negative as stored, `None` where the end is missing.
        pub duration: Option<i64>,
        /// Ties it to the call; 0 is unknown.
        pub correlation: Id,
        /// The columns that our own formats pass on.
        pub details: Details,
    }
}

/// All barriers of a trace, in the order of the source.
pub type Barriers = Vec<Barrier>;
