//! Turns rows into events in time order, on tracks. Memory does not grow with the ops.

use std::io;
use std::path::Path;

use rtl_schema::table::{MemoryEvent, SpanKind};
use rtl_schema::{NameId, ProcessId, ShapeId, SymbolId, Tables, TrackId};

use crate::counter_tracks::{self, CounterTrack};
use crate::event::{Event, Kind};
use crate::flows::Flows;
use crate::idle_causes::IdleCauses;
use crate::launched_kernels::LaunchedKernels;
use crate::layout::{EventStream, TimelineLayout};
use crate::render_options::RenderOptions;
use crate::rows::RowCounts;
use crate::sort::{SortedRun, Sorter, UnsortedRun};
use crate::tracks::{GroupBy, PerfettoTrack, PerfettoTracks, TrackGroup, TrackKind};

/// Events that are sorted at once: 8 MB.
const RUN: usize = 1 << 16;

/// The beginning of the category of a step, which has its number (torch.profiler).
const STEP: &str = "ProfilerStep#";

/// Collects the rows of a trace in batches.
#[derive(Debug)]
pub struct TimelineBuilder<'a> {
    sorter: Sorter<'a, Event>,
    tracks: PerfettoTracks,
    flows: Flows,
    launched: Option<LaunchedKernels>,
    kernel_names: bool,
    is_empty: bool,
    of_framework: bool,
    counter_tracks: Vec<CounterTrack>,
    memory_events: Vec<MemoryEvent>,
    idle_causes: IdleCauses,
    /// True for strings that name a kernel.
    kernels: Vec<bool>,
    /// Rows that became events.
    pub rows: RowCounts,
    span: Option<(i64, i64)>,
}

impl<'a> TimelineBuilder<'a> {
    /// Sorted runs go to a temporary file in `folder`. With `kernel_names` launching calls are named after their kernels.
    pub fn new(folder: &'a Path, group_by: GroupBy, kernel_names: bool) -> Self {
        Self {
            sorter: Sorter::new(folder, RUN),
            tracks: PerfettoTracks::new(group_by),
            flows: Flows::default(),
            launched: None,
            kernel_names,
            is_empty: true,
            of_framework: false,
            counter_tracks: Vec::new(),
            memory_events: Vec::new(),
            idle_causes: IdleCauses::default(),
            kernels: Vec::new(),
            rows: RowCounts::default(),
            span: None,
        }
    }

    /// All calls must be in the first batch.
    pub fn add(&mut self, tables: &Tables) -> io::Result<()> {
        self.kernels.resize(tables.strings.len(), false);
        if std::mem::take(&mut self.is_empty) {
            self.flows = Flows::new(tables);
            self.launched = self.kernel_names.then(|| LaunchedKernels::new(tables));
        }
        self.dispatches(tables)?;
        self.other_ops(tables)?;
        self.calls(tables)?;
        self.ranges(tables)?;
        self.operators(tables)?;
        self.spans(tables)?;
        self.counter_tracks(counter_tracks::from_tables(tables));
        self.idle_causes.add(tables);
        for event in &tables.memory_events {
            self.stretch(event.time, event.time);
        }
        self.rows.all += tables.memory_events.len() as u64;
        self.memory_events.extend_from_slice(&tables.memory_events);
        Ok(())
    }

    /// Takes the runs of events that are full. They are sorted on any thread, then [`Self::add_sorted`] takes them back.
    pub fn take_full(&mut self) -> Vec<UnsortedRun<Event>> {
        self.sorter.take_full()
    }

    pub fn add_sorted(&mut self, run: SortedRun<Event>) -> io::Result<()> {
        self.sorter.add(run)
    }

    pub fn counter_tracks(&mut self, counter_tracks: Vec<CounterTrack>) {
        for &(time, _) in counter_tracks.iter().flat_map(|counter_track| &counter_track.samples) {
            self.stretch(time, time);
        }
        self.counter_tracks.extend(counter_tracks);
    }

    /// The layout of all events, and the events in order.
    pub fn finish(
        mut self,
        tables: &Tables,
        options: RenderOptions,
    ) -> io::Result<(TimelineLayout<'_>, EventStream)> {
        for event in std::mem::take(&mut self.idle_causes).events(tables, &mut self.tracks) {
            self.sorter.push(event)?;
        }
        let kernels: Vec<NameId> =
            (0..).zip(self.kernels).filter_map(|(id, is)| is.then_some(NameId(id))).collect();
        let (tracks, span) = (self.tracks.rows, self.span.unwrap_or_default());
        let stream = EventStream {
            events: self.sorter.finish()?,
            flows: self.flows,
            launched: self.launched.unwrap_or_default(),
            counter_tracks: self.counter_tracks,
            memory_events: self.memory_events,
        };
        let mut layout = TimelineLayout::new(tracks, span, &kernels, &stream.counter_tracks, tables, options);
        layout.of_framework = self.of_framework;
        Ok((layout, stream))
    }

    fn dispatches(&mut self, tables: &Tables) -> io::Result<()> {
        let rows = &tables.dispatches;
        for row in 0..rows.len() {
            let name = rows.name[row];
            if let Some(kernel) = self.kernels.get_mut(name.index()) {
                *kernel = true;
            }
            let event = Event {
                correlation: rows.correlation.get(row),
                tid: rows.tid.get(row),
                range: rows.range.get(row),
                detail: latency(rows.start[row], rows.details.enqueued.get(row)),
                shape: rows.shape.get(row),
                symbol: rows.symbol.get(row),
                function: rows.collective.get(row).map_or(NameId::NONE, |id| NameId(id.0)),
                ..Event::bare(Kind::Kernel, name, rows.start[row])
            };
            self.op(event, rows.track[row], rows.duration.get(row), tables)?;
        }
        Ok(())
    }

    fn other_ops(&mut self, tables: &Tables) -> io::Result<()> {
        for copy in &tables.copies {
            let event = Event {
                correlation: copy.correlation,
                tid: copy.tid,
                range: copy.range,
                detail: latency(copy.start, copy.details.enqueued),
                bytes: copy.bytes,
                // The name of a copy is often empty, its direction usually known.
                text: NameId(copy.direction as u32),
                function: NameId(copy.track.0),
                ..Event::bare(Kind::Copy, copy.name, copy.start)
            };
            self.op(event, copy.track, copy.duration, tables)?;
        }
        for barrier in &tables.barriers {
            let event = Event {
                correlation: barrier.correlation,
                detail: latency(barrier.start, barrier.details.enqueued),
                ..Event::bare(Kind::Barrier, barrier.name, barrier.start)
            };
            self.op(event, barrier.track, barrier.duration, tables)?;
        }
        Ok(())
    }

    fn calls(&mut self, tables: &Tables) -> io::Result<()> {
        let calls = &tables.api_calls;
        let mut launches = calls.launches.iter().peekable();
        for (row, call) in calls.iter().enumerate() {
            let track_kind = call.tid.map_or(TrackKind::Unknown, TrackKind::Thread);
            let mut event = Event {
                flow: self.flows.number(call.process, call.correlation, tables),
                correlation: call.correlation,
                text: call.args,
                detail: Some(call.result).filter(|&result| result != 0),
                ..Event::bare(Kind::Call, call.name, call.start)
            };
            while let Some(launch) = launches.next_if(|launch| launch.call as usize <= row) {
                event.shape = event.shape.or(launch.shape);
                event.bytes = event.bytes.or(launch.bytes);
                let launched = self.launched.as_ref().filter(|launched| launched.is_launch(call.name));
                let named = launch.kernel.is_some() && !tables.strings.get(launch.kernel).is_empty();
                if launched.is_some() && named {
                    (event.name, event.function) = (launch.kernel, call.name);
                    if let Some(is) = self.kernels.get_mut(launch.kernel.index()) {
                        *is = true;
                    }
                }
            }
            self.host(event, call.process, track_kind, call.duration)?;
        }
        Ok(())
    }

    fn ranges(&mut self, tables: &Tables) -> io::Result<()> {
        for range in &tables.ranges {
            let kind = if range.is_marker() { Kind::Marker } else { Kind::Range };
            let track_kind = range.tid.map_or(TrackKind::Ranges, TrackKind::Thread);
            // A marker is an instant, whether or not its end is known.
            let duration = if kind == Kind::Marker { Some(0) } else { range.duration };
            let category = range.category;
            let is_step = category.is_some() && tables.strings.get(category).starts_with(STEP);
            self.of_framework |= is_step;
            let name = if is_step { category } else { range.name };
            self.host(Event::bare(kind, name, range.start), range.process, track_kind, duration)?;
        }
        Ok(())
    }

    fn operators(&mut self, tables: &Tables) -> io::Result<()> {
        for operator in tables.operators.iter() {
            self.of_framework = true;
            let track_kind = operator.tid.map_or(TrackKind::Unknown, TrackKind::Thread);
            let event = Event {
                text: operator.shapes,
                function: operator.types,
                shape: Some(operator.strides).filter(|text| text.is_some()).map(|text| ShapeId(text.0)),
                symbol: Some(operator.values).filter(|text| text.is_some()).map(|text| SymbolId(text.0)),
                detail: operator.sequence.map(i64::from),
                range: i64::from(operator.forward_thread),
                ..Event::bare(Kind::Operator, operator.name, operator.start)
            };
            self.host(event, operator.process, track_kind, operator.duration)?;
        }
        for frame in tables.python_frames.iter() {
            let track_kind = frame.tid.map_or(TrackKind::Unknown, TrackKind::Thread);
            let event = Event {
                detail: frame.number.map(i64::from),
                correlation: frame.caller.map_or(-1, i64::from),
                bytes: frame.module.map(u64::from),
                ..Event::bare(Kind::Python, frame.name, frame.start)
            };
            self.host(event, frame.process, track_kind, frame.duration)?;
        }
        Ok(())
    }

    fn spans(&mut self, tables: &Tables) -> io::Result<()> {
        for span in &tables.spans {
            self.of_framework = true;
            let process = span.process;
            let kind = match span.kind {
                SpanKind::GpuRange => Kind::GpuRange,
                SpanKind::Overhead => Kind::Overhead,
            };
            let (group, track_kind) = match span.agent {
                Some(agent) => (TrackGroup::Agent(agent), TrackKind::GpuRanges(span.stream.unwrap_or(0))),
                None => (TrackGroup::Process(process), TrackKind::Profiler),
            };
            let track = self.tracks.intern(PerfettoTrack { group, kind: track_kind, process });
            self.push(Event { track, ..Event::bare(kind, span.name, span.start) }, span.duration)?;
        }
        Ok(())
    }

    #[inline]
    fn op(&mut self, event: Event, place: TrackId, duration: Option<i64>, tables: &Tables) -> io::Result<()> {
        let track = self.tracks.of_op(event.kind, place, tables);
        let flow = self.flows.number(tables.tracks.get(place).process, event.correlation, tables);
        if self.push(Event { track, flow, ..event }, duration)? {
            self.flows.launch(flow);
            if let (Some(launched), Kind::Kernel) = (&mut self.launched, event.kind) {
                launched.add(flow, event.name);
            }
        }
        Ok(())
    }

    fn host(
        &mut self,
        event: Event,
        process: ProcessId,
        kind: TrackKind,
        duration: Option<i64>,
    ) -> io::Result<()> {
        let track = self.tracks.intern(PerfettoTrack { group: TrackGroup::Process(process), kind, process });
        self.push(Event { track, ..event }, duration)?;
        Ok(())
    }

    /// Returns false where the event is omitted, which is counted.
    #[inline]
    fn push(&mut self, event: Event, duration: Option<i64>) -> io::Result<bool> {
        let Some(end) = self.rows.end(event.start, duration) else { return Ok(false) };
        let duration = end - event.start;
        self.stretch(event.start, end);
        let order = self.tracks.rows[event.track as usize].stacking().order(duration);
        self.sorter.push(Event { order, duration, ..event })?;
        Ok(true)
    }

    #[inline]
    fn stretch(&mut self, start: i64, end: i64) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}

/// From enqueueing to start in ns; negative where clocks disagree.
fn latency(start: i64, enqueued: Option<i64>) -> Option<i64> {
    enqueued.and_then(|moment| start.checked_sub(moment))
}
