use rtl_schema::table::Direction;
use rtl_schema::{CollectiveId, Id, NameId, ShapeId, SymbolId, TrackId};

use crate::labelled_enum::labelled_enum;
use crate::sort::Record;

labelled_enum! {
    /// The kind of an event, with the category that viewers filter by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
    pub enum Kind {
        #[default]
        Kernel = "kernel",
        Copy = "copy",
        Barrier = "barrier",
        Call = "api",
        Range = "range",
        /// A marker: an instant.
        Marker = "marker",
        Operator = "operator",
        Python = "python",
        Idle = "idle",
        GpuRange = "gpu_range",
        Overhead = "overhead",
    }
}

/// A row on a timeline. Fields are in sort order: by start, then so that enclosing events come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Event {
    /// In ns.
    pub start: i64,
    /// Sorts events of a track that start together ([`crate::lanes::Stacking::order`]).
    pub order: i64,
    pub track: u32,
    pub kind: Kind,
    pub name: NameId,
    /// In ns, not negative.
    pub duration: i64,
    /// The number of the flow between a call and its ops; 0 is none.
    pub flow: u32,
    /// The thread that enqueued an op.
    pub tid: Option<i64>,
    /// Of an op, the id of the innermost range around its launch; of an operator, the number of the thread of its forward
    /// operator. 0 is none.
    pub range: Id,
    /// Correlation id; 0 is unknown. Of a Python frame: the number of its caller, -1 where it has none.
    pub correlation: Id,
    /// Bytes of a copy. Of a Python frame: the number of its module. Of idle time: the number of its cause.
    pub bytes: Option<u64>,
    /// Of an op: ns from enqueueing to start. Of a call: the returned status, unless 0. Of an operator: its node of the
    /// autograd graph. Of a Python frame: its number.
    pub detail: Option<i64>,
    /// Launch shape of a kernel; of an operator, the text of its inputs' strides.
    pub shape: Option<ShapeId>,
    /// The loaded kernel; of an operator, the text of its inputs' values.
    pub symbol: Option<SymbolId>,
    /// The arguments of a call as one text; the shapes of an operator's inputs; of a copy, the number of its direction; of
    /// idle time, what its thread was within.
    pub text: NameId,
    /// The function of a call that is named after its kernel; the types of an operator's inputs; of a copy, the number of
    /// its track in the trace; of a kernel, the number of its collective; of idle time, the call of its thread.
    pub function: NameId,
}

impl Event {
    pub fn bare(kind: Kind, name: NameId, start: i64) -> Self {
        Self { start, kind, name, text: NameId::NONE, function: NameId::NONE, ..Self::default() }
    }

    pub fn copy_track(&self) -> TrackId {
        TrackId(self.function.0)
    }

    pub fn collective(&self) -> Option<CollectiveId> {
        (self.kind == Kind::Kernel && self.function.is_some()).then_some(CollectiveId(self.function.0))
    }

    pub fn direction(&self) -> Direction {
        DIRECTIONS.get(self.text.index()).copied().unwrap_or_default()
    }
}

pub const DIRECTIONS: [Direction; 6] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::HostToHost,
    Direction::Fill,
    Direction::Unknown,
];

const ABSENT: u32 = u32::MAX;

impl Record for Event {
    const SIZE: usize = 8 * 8 + 4 * 7 + 4;

    #[inline]
    fn key(&self) -> i64 {
        self.start
    }

    fn encode(&self, bytes: &mut [u8]) {
        let (longs, rest) = bytes.split_at_mut(64);
        let values = [
            self.start,
            self.order,
            self.duration,
            self.tid.unwrap_or(0),
            self.range,
            self.correlation,
            self.bytes.unwrap_or(0) as i64,
            self.detail.unwrap_or(0),
        ];
        for (bytes, value) in longs.as_chunks_mut::<8>().0.iter_mut().zip(values) {
            *bytes = value.to_le_bytes();
        }
        let (shorts, flags) = rest.split_at_mut(28);
        let values = [
            self.track,
            self.name.0,
            self.flow,
            self.shape.map_or(ABSENT, |shape| shape.0),
            self.symbol.map_or(ABSENT, |symbol| symbol.0),
            self.text.0,
            self.function.0,
        ];
        for (bytes, value) in shorts.as_chunks_mut::<4>().0.iter_mut().zip(values) {
            *bytes = value.to_le_bytes();
        }
        flags.copy_from_slice(&[
            self.kind as u8,
            u8::from(self.tid.is_some()),
            u8::from(self.bytes.is_some()),
            u8::from(self.detail.is_some()),
        ]);
    }

    fn decode(bytes: &[u8]) -> Self {
        let (longs, rest) = bytes.split_at(64);
        let (shorts, flags) = rest.split_at(28);
        let long = |at: usize| i64::from_le_bytes(longs.as_chunks::<8>().0[at]);
        let short = |at: usize| u32::from_le_bytes(shorts.as_chunks::<4>().0[at]);
        let present = |at: usize| Some(short(at)).filter(|&value| value != ABSENT);
        Self {
            start: long(0),
            order: long(1),
            track: short(0),
            kind: Kind::ALL[usize::from(flags[0]) % Kind::ALL.len()],
            name: NameId(short(1)),
            duration: long(2),
            flow: short(2),
            tid: (flags[1] == 1).then(|| long(3)),
            range: long(4),
            correlation: long(5),
            bytes: (flags[2] == 1).then(|| long(6) as u64),
            detail: (flags[3] == 1).then(|| long(7)),
            shape: present(3).map(ShapeId),
            symbol: present(4).map(SymbolId),
            text: NameId(short(5)),
            function: NameId(short(6)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_comes_back_from_disk_as_it_was() {
        let full = Event {
            start: -5,
            order: 7,
            track: 3,
            kind: Kind::Marker,
            name: NameId(9),
            duration: i64::MAX,
            flow: 2,
            tid: Some(0),
            range: 11,
            correlation: -1,
            bytes: Some(u64::MAX),
            detail: Some(-7),
            shape: Some(ShapeId(0)),
            symbol: Some(SymbolId(1)),
            text: NameId::NONE,
            function: NameId(4),
        };
        let bare = Event {
            tid: None,
            bytes: None,
            detail: None,
            shape: None,
            symbol: None,
            kind: Kind::Kernel,
            ..full
        };
        for event in [full, bare] {
            let mut bytes = [0; Event::SIZE];
            event.encode(&mut bytes);
            assert_eq!(Event::decode(&bytes), event);
        }
    }
}
