//! Perfetto's own format: track events on explicit tracks, each slice with a packet at its begin and one at its end.

pub mod descriptors;
pub mod fields;
pub mod interning;
pub mod proto;
mod render;
pub mod stages;

use fields::{SEQUENCE, clock, clock_snapshot, packet, packet_defaults, sequence_flags, trace, track_event};
use interning::Interning;
use proto::Message;
use render::{Batch, Placed, Renderings};
use stages::Specifications;

use crate::counter_tracks::CounterTrack;
use crate::event::Event;
use crate::event_args::EventArgs;
use crate::flows::End;
use crate::format::Format;
use crate::layout::{EventWriter, TimelineLayout};
use crate::tracks::{self, TrackGroup};
use crate::{utilization, viewer};

pub const FORMAT: Format = Format {
    name: "pftrace",
    aliases: &["perfetto-trace"],
    help: "Perfetto's own format",
    endings: &[".pftrace", ".pftrace.gz", ".perfetto-trace", ".perfetto-trace.gz"],
    default_ending: ".pftrace",
    partitioned: false,
    has_operators: true,
    write: viewer::write::<Pftrace>,
};

/// Perfetto's number of CLOCK_BOOTTIME.
const BOOTTIME: u64 = 6;

/// An incremental clock of the sequence: times count from the previous packet.
const STEPS: u64 = 64;

/// The length of the packets of most events in bytes.
const EVENT: usize = 120;

/// Renders what is beside the events, and passes these on with their numbers in the file.
pub struct Pftrace {
    batch: Batch,
    interning: Interning,
    args: EventArgs,
    /// Entries that GPU ops as render stages refer to, if requested.
    specifications: Option<Specifications>,
    stages: u64,
    /// By track and lane.
    lanes: Vec<Vec<u32>>,
    uuids: u32,
}

impl Pftrace {
    fn begin(&mut self, start: u64) {
        Message(&mut self.batch.beginning).message(trace::PACKET, |out| {
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.number(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            out.number(packet::FIRST_PACKET_ON_SEQUENCE, 1);
            out.message(packet::TRACE_PACKET_DEFAULTS, |defaults| {
                defaults.number(packet_defaults::TIMESTAMP_CLOCK_ID, STEPS);
            });
            self.interning.bring(out);
        });
        Message(&mut self.batch.beginning).message(trace::PACKET, |out| {
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::CLOCK_SNAPSHOT, |snapshot| {
                for id in [BOOTTIME, STEPS] {
                    snapshot.message(clock_snapshot::CLOCKS, |out| {
                        out.number(clock::CLOCK_ID, id);
                        out.number(clock::TIMESTAMP, start);
                        out.number(clock::IS_INCREMENTAL, u64::from(id == STEPS));
                    });
                }
            });
        });
    }

    fn uuid(&mut self) -> u32 {
        self.uuids += 1;
        self.uuids
    }

    fn describe(&mut self, write: impl FnOnce(&mut Message<'_>)) {
        Message(&mut self.batch.beginning).message(trace::PACKET, |out| {
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::TRACK_DESCRIPTOR, write);
        });
    }

    /// The uuid of a lane; the first use writes its descriptor.
    fn lane(&mut self, track: usize, lane: usize, layout: &TimelineLayout<'_>) -> u32 {
        if let Some(&uuid) = self.lanes[track].get(lane) {
            return uuid;
        }
        let uuid = self.uuid();
        let at = &layout.tracks[track];
        match (at.tid(), self.lanes[track].first()) {
            (Some(tid), None) => {
                self.describe(|out| descriptors::thread(uuid.into(), tid, track, layout, out));
            }
            (Some(_), Some(&thread)) => {
                self.describe(|out| descriptors::lane(uuid.into(), thread.into(), track, layout, out));
            }
            (None, _) => {
                let parent = parent(at.group, layout);
                self.describe(|out| descriptors::lane(uuid.into(), parent, track, layout, out));
            }
        }
        self.lanes[track].push(uuid);
        uuid
    }
}

impl EventWriter for Pftrace {
    type Batch = Batch;
    type Renderings = Renderings;

    fn renderings(layout: &TimelineLayout<'_>) -> Renderings {
        Renderings::new(layout)
    }

    fn render(batch: Batch, renderings: &Renderings, layout: &TimelineLayout<'_>) -> Vec<u8> {
        batch.render(renderings, layout)
    }

    fn new(layout: &TimelineLayout<'_>, renderings: &Renderings) -> Self {
        let mut pftrace = Self {
            batch: Batch { now: layout.span.0, ..Batch::default() },
            interning: Interning::new(renderings.texts.clone()),
            args: EventArgs::new(layout.tables),
            specifications: layout.options.gpu_events.then(|| Specifications::new(layout)),
            stages: 0,
            lanes: vec![Vec::new(); layout.tracks.len()],
            uuids: layout.groups.len() as u32,
        };
        pftrace.begin(time_of(layout.span.0, layout));
        let gpus = layout.groups.iter().filter(|group| matches!(group, TrackGroup::Agent(_)));
        let parent = (!gpus.map(|&gpu| tracks::group_name(gpu, layout.tables)).is_sorted()).then(|| {
            let uuid = pftrace.uuid().into();
            pftrace.describe(|out| descriptors::gpus(uuid, out));
            uuid
        });
        for (rank, &group) in layout.groups.iter().enumerate() {
            pftrace.describe(|out| descriptors::group(rank as u64 + 1, parent, group, rank, layout, out));
        }
        pftrace
    }

    #[inline]
    fn event(&mut self, layout: &TimelineLayout<'_>, event: &Event, lane: usize, end: Option<End>) {
        let (mut uuid, mut name) = (0, 0);
        if let Some(specifications) = self.specifications.as_mut().filter(|_| stages::is_stage(event, layout))
        {
            specifications.add(event, layout, &mut self.interning);
            self.stages += 1;
        } else {
            uuid = self.lane(event.track as usize, lane, layout);
            let number = layout.event_names.number(event);
            name = self.interning.event_name(number, || layout.event_names.text(number));
            if !layout.options.no_args {
                self.args.texts(event, layout.tables, &mut self.interning);
            }
        }
        self.batch.events.push(Placed { event: *event, uuid, name, end });
    }

    fn counter_track(&mut self, layout: &TimelineLayout<'_>, counter_track: &CounterTrack) {
        let (uuid, parent) = (u64::from(self.uuid()), parent(counter_track.group, layout));
        let rank = layout.tracks.len() + uuid as usize;
        self.describe(|out| descriptors::counter_track(uuid, parent, rank, counter_track, out));
        // A group that is closed shows its own track only.
        let is_shown =
            matches!(counter_track.group, TrackGroup::Agent(_)) && counter_track.name == utilization::BUSY;
        for (time, value) in counter_track.changes() {
            let time = time_of(time, layout);
            for uuid in std::iter::once(uuid).chain(is_shown.then_some(parent)) {
                Message(&mut self.batch.beginning).message(trace::PACKET, |out| {
                    out.number(packet::TIMESTAMP, time);
                    out.number(packet::TIMESTAMP_CLOCK_ID, BOOTTIME);
                    out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
                    out.message(packet::TRACK_EVENT, |out| {
                        out.number(track_event::TYPE, track_event::COUNTER_VALUE);
                        out.number(track_event::TRACK_UUID, uuid);
                        out.double(track_event::DOUBLE_COUNTER_VALUE, value);
                    });
                });
            }
        }
    }

    fn close(&mut self) {
        self.batch.is_last = true;
    }

    fn length(&self) -> usize {
        self.batch.events.len() * EVENT + self.batch.beginning.len()
    }

    fn take(&mut self) -> Batch {
        if self.interning.is_fresh() {
            Message(&mut self.batch.beginning).message(trace::PACKET, |out| {
                out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
                self.interning.bring(out);
            });
        }
        let Batch { events, open, now, .. } = &self.batch;
        let now = events.last().map_or(*now, |placed| placed.event.start);
        let slices = open.iter().copied().chain(events.iter().filter_map(Placed::slice));
        let next = Batch {
            // Batches have about as many events.
            events: Vec::with_capacity(events.len() * 5 / 4),
            now,
            open: slices.filter(|&(end, _)| end > now).collect(),
            stages: self.stages,
            ..Batch::default()
        };
        std::mem::replace(&mut self.batch, next)
    }

    fn take_counters(&mut self) -> Batch {
        let Batch { beginning, now, stages, .. } = &mut self.batch;
        Batch { beginning: std::mem::take(beginning), now: *now, stages: *stages, ..Batch::default() }
    }
}

/// A file whose first moment is negative counts from there, because times have no sign.
fn time_of(time: i64, layout: &TimelineLayout<'_>) -> u64 {
    time.abs_diff(layout.span.0.min(0))
}

fn parent(group: TrackGroup, layout: &TimelineLayout<'_>) -> u64 {
    layout.rank_of(group).map_or(0, |rank| rank as u64 + 1)
}

#[cfg(test)]
mod tests {
    use rtl_schema::Tables;
    use rtl_schema::table::{Agent, ApiCall, Copy, Dispatch, Process, Range, RangeKind, Track};

    use super::*;
    use crate::event::Kind;
    use crate::lanes::Lanes;
    use crate::render_options::RenderOptions;
    use crate::timeline::TimelineBuilder;
    use crate::tracks::GroupBy;

    fn tables() -> Tables {
        let mut tables = Tables::default();
        tables.processes.push(Process::default());
        tables.agents.push(Agent::default());
        let names = ["gemm", "add", "launch", "step"].map(|name| tables.strings.intern(name));
        let range = Range { name: names[3], tid: Some(7), ..Range::default() };
        tables.ranges.push(Range { start: 0, duration: Some(900), kind: RangeKind::Thread, ..range });
        for row in 0..60_i64 {
            let track = tables.tracks.intern(Track { queue: row / 20, ..Track::default() });
            let (start, duration, correlation) = (row * 10, Some(row % 7 * 5), row % 30 + 1);
            let name = names[row as usize % 2];
            let op = Dispatch { id: row, name, track, start, duration, correlation, ..Dispatch::default() };
            tables.dispatches.push(op);
            if row % 5 == 0 {
                tables.copies.push(Copy { track, start, duration: Some(45), ..Copy::default() });
                tables.ranges.push(Range { start, kind: RangeKind::Marker, ..range });
            }
            let call = ApiCall { name: names[2], args: names[row as usize % 3], ..ApiCall::default() };
            tables.api_calls.push(ApiCall { start, duration: Some(8), tid: Some(7), correlation, ..call });
        }
        tables
    }

    fn file(length: usize, gpu_events: bool) -> (Vec<u8>, usize) {
        let tables = tables();
        let folder = tempfile::tempdir().unwrap();
        let mut builder = TimelineBuilder::new(folder.path(), GroupBy::default(), false);
        builder.add(&tables).unwrap();
        let options = RenderOptions { gpu_events, ..RenderOptions::default() };
        let (layout, stream) = builder.finish(&tables, options).unwrap();
        let mut arrows = stream.flows.arrows();
        let renderings = Pftrace::renderings(&layout);
        let mut pftrace = Pftrace::new(&layout, &renderings);
        let mut lanes: Vec<Lanes> = layout.tracks.iter().map(|track| Lanes::new(track.stacking())).collect();
        let (mut file, mut others) = (Vec::new(), 0);
        let mut add = |batch: Batch| {
            let beginning = batch.beginning.clone();
            let page = Pftrace::render(batch, &renderings, &layout);
            file.extend_from_slice(page.strip_prefix(&*beginning).unwrap());
            others += beginning.len();
        };
        for (number, event) in stream.events.enumerate() {
            let event = event.unwrap();
            let end = match event.kind {
                Kind::Call => arrows.leaving(event.flow),
                _ => arrows.arriving(event.flow),
            };
            let lane = lanes[event.track as usize].place(event.start, event.start + event.duration);
            pftrace.event(&layout, &event, lane, end);
            if (number + 1) % length == 0 {
                add(pftrace.take());
            }
        }
        pftrace.close();
        add(pftrace.take());
        (file, others)
    }

    #[test]
    fn batches_of_any_length_have_the_same_events() {
        for gpu_events in [false, true] {
            let (one, others) = file(1_000, gpu_events);
            assert!(one.len() > 60 * 40, "{} bytes", one.len());
            for length in [1, 2, 7, 60] {
                let (events, more) = file(length, gpu_events);
                assert!(events == one, "batches of {length}, gpu_events: {gpu_events}");
                // A packet has few bytes besides its entries: no entry comes twice.
                assert!(more < others + 160 / length * 8 + 300, "{more} bytes and not {others}");
            }
        }
    }
}
