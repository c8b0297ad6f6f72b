//! A trace as viewers draw it: its events in order of time, on tracks. Memory does not grow with the ops.

use std::io;
use std::path::Path;

use schema::table::Direction;
use schema::{LaneId, NameId, ProcessId, Tables};

use crate::event::{Event, Kind};
use crate::flows::Flows;
use crate::rows::Rows;
use crate::sort::{Sorted, Sorter};
use crate::tracks::{Group, Place, Track, Tracks};

/// Events in memory at once: 28 MB.
const RUN: usize = 1 << 18;

/// Takes the rows of a trace, piece by piece.
#[derive(Debug)]
pub struct Gather<'a> {
    sorter: Sorter<'a, Event>,
    tracks: Tracks,
    flows: Option<Flows>,
    rows: Rows,
    span: Option<(i64, i64)>,
}

/// Everything that an exporter needs.
#[derive(Debug)]
pub struct Timeline {
    /// The events by start.
    pub events: Sorted<Event>,
    /// Their tracks.
    pub tracks: Tracks,
    /// Their flows.
    pub flows: Flows,
    /// What was left out.
    pub rows: Rows,
    /// First start and last end in ns; 0 without events.
    pub span: (i64, i64),
}

impl<'a> Gather<'a> {
    /// Nothing yet; what memory should not hold goes to a temporary file in `folder`.
    pub fn new(folder: &'a Path) -> Self {
        Self {
            sorter: Sorter::new(folder, RUN),
            tracks: Tracks::default(),
            flows: None,
            rows: Rows::default(),
            span: None,
        }
    }

    /// Adds the rows of a piece; the calls must come with the first one.
    ///
    /// # Errors
    /// Where the temporary file cannot grow.
    pub fn add(&mut self, tables: &Tables) -> io::Result<()> {
        let mut flows = self.flows.take().unwrap_or_else(|| Flows::of(tables));
        self.dispatches(tables, &mut flows)?;
        self.other_ops(tables, &mut flows)?;
        self.calls(tables, &flows)?;
        self.ranges(tables)?;
        self.flows = Some(flows);
        Ok(())
    }

    /// The events in order.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn finish(self) -> io::Result<Timeline> {
        Ok(Timeline {
            events: self.sorter.finish()?,
            tracks: self.tracks,
            flows: self.flows.unwrap_or_default(),
            rows: self.rows,
            span: self.span.unwrap_or_default(),
        })
    }

    fn dispatches(&mut self, tables: &Tables, flows: &mut Flows) -> io::Result<()> {
        let rows = &tables.dispatches;
        for row in 0..rows.len() {
            let lane = rows.lane[row];
            let correlation = rows.correlation.get(row);
            let event = Event {
                flow: flows.into_op(tables.lanes.get(lane).process, correlation, tables),
                correlation,
                tid: rows.tid.get(row),
                range: rows.range.get(row),
                shape: rows.shape.get(row),
                symbol: rows.symbol.get(row),
                ..bare(Kind::Kernel, rows.name[row], rows.start[row])
            };
            self.op(event, lane, rows.duration.get(row), tables)?;
        }
        Ok(())
    }

    fn other_ops(&mut self, tables: &Tables, flows: &mut Flows) -> io::Result<()> {
        for copy in &tables.copies {
            let event = Event {
                flow: flows.into_op(tables.lanes.get(copy.lane).process, copy.correlation, tables),
                correlation: copy.correlation,
                tid: copy.tid,
                range: copy.range,
                bytes: copy.bytes,
                symbol: None,
                // What the source calls a copy is often empty; its direction is known more often than not.
                text: NameId(direction_number(copy.direction)),
                ..bare(Kind::Copy, copy.name, copy.start)
            };
            self.op(event, copy.lane, copy.duration, tables)?;
        }
        for barrier in &tables.barriers {
            let process = tables.lanes.get(barrier.lane).process;
            let event = Event {
                flow: flows.into_op(process, barrier.correlation, tables),
                correlation: barrier.correlation,
                ..bare(Kind::Barrier, barrier.name, barrier.start)
            };
            self.op(event, barrier.lane, barrier.duration, tables)?;
        }
        Ok(())
    }

    fn calls(&mut self, tables: &Tables, flows: &Flows) -> io::Result<()> {
        for call in tables.api_calls.iter() {
            let place = call.tid.map_or(Place::Unknown, Place::Thread);
            let event = Event {
                flow: match call.correlation {
                    0 => 0,
                    correlation => flows.number(call.process, correlation, tables),
                },
                correlation: call.correlation,
                text: call.args,
                ..bare(Kind::Call, call.name, call.start)
            };
            self.host(event, call.process, place, call.duration)?;
        }
        Ok(())
    }

    fn ranges(&mut self, tables: &Tables) -> io::Result<()> {
        for range in &tables.ranges {
            let kind = if range.is_marker() { Kind::Marker } else { Kind::Range };
            let place = range.tid.map_or(Place::Ranges, Place::Thread);
            // A marker is an instant whether its end is known or not.
            let duration = if kind == Kind::Marker { Some(0) } else { range.duration };
            self.host(bare(kind, range.name, range.start), range.process, place, duration)?;
        }
        Ok(())
    }

    #[inline]
    fn op(&mut self, event: Event, lane: LaneId, duration: Option<i64>, tables: &Tables) -> io::Result<()> {
        let track = self.tracks.of_op(event.kind, lane, tables);
        self.push(Event { track, ..event }, duration)
    }

    fn host(
        &mut self,
        event: Event,
        process: ProcessId,
        place: Place,
        duration: Option<i64>,
    ) -> io::Result<()> {
        let track = self.tracks.intern(Track { group: Group::Process(process), place });
        self.push(Event { track, ..event }, duration)
    }

    #[inline]
    fn push(&mut self, event: Event, duration: Option<i64>) -> io::Result<()> {
        self.rows.all += 1;
        let Some(duration) = duration else {
            self.rows.without_end += 1;
            return Ok(());
        };
        // An end that no clock can show counts as one before the start, as its arithmetic does.
        let Some(end) = event.start.checked_add(duration).filter(|_| duration >= 0) else {
            self.rows.negative += 1;
            return Ok(());
        };
        let (first, last) = self.span.unwrap_or((event.start, end));
        self.span = Some((first.min(event.start), last.max(end)));
        let order = self.tracks.rows()[event.track as usize].stacking().order(duration);
        self.sorter.push(Event { order, duration, ..event })
    }
}

/// An event of which only this is known.
fn bare(kind: Kind, name: NameId, start: i64) -> Event {
    Event {
        start,
        order: 0,
        track: 0,
        kind,
        name,
        duration: 0,
        flow: 0,
        tid: None,
        range: 0,
        correlation: 0,
        bytes: None,
        shape: None,
        symbol: None,
        text: NameId::NONE,
    }
}

const DIRECTIONS: [Direction; 6] = [
    Direction::HostToDevice,
    Direction::DeviceToHost,
    Direction::DeviceToDevice,
    Direction::HostToHost,
    Direction::Fill,
    Direction::Unknown,
];

fn direction_number(direction: Direction) -> u32 {
    DIRECTIONS.iter().position(|known| *known == direction).unwrap_or(DIRECTIONS.len() - 1) as u32
}

/// The direction of a copy's event.
pub fn direction(event: &Event) -> Direction {
    DIRECTIONS.get(event.text.index()).copied().unwrap_or_default()
}
