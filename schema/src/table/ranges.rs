use super::row;
use crate::{Id, NameId, ProcessId};

/// How a range was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum RangeKind {
    /// Push and pop on one thread, properly nested.
    Thread,
    /// Start and stop, from any thread.
    Process,
    /// A marker: an instant.
    Marker,
    /// Not stated; `start == end` is a marker.
    #[default]
    Unknown,
}

row! {
    /// A user annotation: a range with length, or a marker without.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Range {
        /// The id of the source, which [`super::Dispatch::range`] refers to where a dialect stores that.
        pub id: Id,
        /// The annotating process.
        pub process: ProcessId,
        /// The annotating thread.
        pub tid: Option<i64>,
        /// The text the user gave.
        pub name: NameId,
        /// The source's own class of annotation, `NONE` where it has none.
        pub category: NameId,
        /// How it was made.
        pub kind: RangeKind,
        /// Start in ns.
        pub start: i64,
        /// End minus start in ns; 0 for a marker.
        pub duration: Option<i64>,
        /// The correlation id; 0 is unknown.
        pub correlation: Id,
    }
}

impl Range {
    /// True for an instant, which has no duration.
    pub fn is_marker(&self) -> bool {
        self.kind == RangeKind::Marker || (self.kind == RangeKind::Unknown && self.duration == Some(0))
    }
}

/// All ranges and markers of a trace, in the order of the source.
pub type Ranges = Vec<Range>;
