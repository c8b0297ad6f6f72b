//! Perfetto's own format: track events on explicit tracks, each slice with a packet at its begin and one at its end.

pub mod descriptors;
pub mod fields;
pub mod interning;
pub mod proto;
pub mod stages;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fields::{SEQUENCE, clock, clock_snapshot, packet, packet_defaults, sequence_flags, trace, track_event};
use interning::Interning;
use proto::Message;
use stages::Stages;

use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::event_args::EventArgs;
use crate::flows::End;
use crate::format::Format;
use crate::layout::{EventWriter, PAGE, TimelineLayout};
use crate::tracks::{self, TrackGroup};
use crate::{utilization, viewer};

/// The format.
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

/// Renders events as packets.
pub struct Pftrace {
    page: Vec<u8>,
    interning: Interning,
    args: EventArgs,
    /// GPU ops as render stages, if requested.
    stages: Option<Stages>,
    /// The uuid of every lane of every track.
    lanes: Vec<Vec<u64>>,
    uuids: u64,
    /// The ends and tracks of open slices.
    open: BinaryHeap<Reverse<(i64, u64)>>,
    /// The time of the previous packet in ns.
    now: i64,
}

impl Pftrace {
    fn begin(&mut self, start: u64) {
        Message(&mut self.page).message(trace::PACKET, |out| {
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.number(packet::SEQUENCE_FLAGS, sequence_flags::INCREMENTAL_STATE_CLEARED);
            out.number(packet::FIRST_PACKET_ON_SEQUENCE, 1);
            out.message(packet::TRACE_PACKET_DEFAULTS, |defaults| {
                defaults.number(packet_defaults::TIMESTAMP_CLOCK_ID, STEPS);
            });
            self.interning.bring(out);
        });
        Message(&mut self.page).message(trace::PACKET, |out| {
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

    fn uuid(&mut self) -> u64 {
        self.uuids += 1;
        self.uuids
    }

    fn describe(&mut self, write: impl FnOnce(&mut Message<'_>)) {
        Message(&mut self.page).message(trace::PACKET, |out| {
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::TRACK_DESCRIPTOR, write);
        });
    }

    /// The uuid of a lane; the first use writes its descriptor.
    fn lane(&mut self, track: usize, lane: usize, layout: &TimelineLayout<'_>) -> u64 {
        if let Some(&uuid) = self.lanes[track].get(lane) {
            return uuid;
        }
        let uuid = self.uuid();
        let at = &layout.tracks[track];
        match (at.tid(), self.lanes[track].first()) {
            (Some(tid), None) => self.describe(|out| descriptors::thread(uuid, tid, track, layout, out)),
            (Some(_), Some(&thread)) => {
                self.describe(|out| descriptors::lane(uuid, thread, track, layout, out));
            }
            (None, _) => {
                let parent = parent(at.group, layout);
                self.describe(|out| descriptors::lane(uuid, parent, track, layout, out));
            }
        }
        self.lanes[track].push(uuid);
        uuid
    }

    /// Ends the slices that end no later than `time`.
    #[inline]
    fn end_until(&mut self, time: i64) {
        while let Some(&Reverse((end, uuid))) = self.open.peek() {
            if end > time {
                break;
            }
            self.open.pop();
            let step = self.step(end);
            Message(&mut self.page).message(trace::PACKET, |out| {
                out.number(packet::TIMESTAMP, step);
                out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
                out.message(packet::TRACK_EVENT, |out| {
                    out.number(track_event::TYPE, track_event::SLICE_END);
                    out.number(track_event::TRACK_UUID, uuid);
                });
                out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
            });
        }
    }

    /// The time since the previous packet.
    #[inline]
    fn step(&mut self, time: i64) -> u64 {
        let step = time.abs_diff(self.now);
        self.now = time;
        step
    }
}

impl EventWriter for Pftrace {
    /// A page: packets refer to those before them.
    type Batch = Vec<u8>;
    type Renderings = ();
    const IS_RENDERED_APART: bool = false;

    fn renderings(_: &TimelineLayout<'_>) {}

    fn render(page: Vec<u8>, (): &(), _: &TimelineLayout<'_>) -> Vec<u8> {
        page
    }

    fn new(layout: &TimelineLayout<'_>) -> Self {
        let mut pftrace = Self {
            page: Vec::new(),
            interning: Interning::new(),
            args: EventArgs::new(layout.tables),
            stages: layout.options.gpu_events.then(|| Stages::new(layout)),
            lanes: vec![Vec::new(); layout.tracks.len()],
            uuids: layout.groups.len() as u64,
            open: BinaryHeap::new(),
            now: layout.span.0,
        };
        pftrace.begin(time_of(layout.span.0, layout));
        let gpus = layout.groups.iter().filter(|group| matches!(group, TrackGroup::Agent(_)));
        let parent = (!gpus.map(|&gpu| tracks::group_name(gpu, layout.tables)).is_sorted()).then(|| {
            let uuid = pftrace.uuid();
            pftrace.describe(|out| descriptors::gpus(uuid, out));
            uuid
        });
        for (rank, &group) in layout.groups.iter().enumerate() {
            pftrace.describe(|out| descriptors::group(rank as u64 + 1, parent, group, rank, layout, out));
        }
        pftrace
    }

    fn event(&mut self, layout: &TimelineLayout<'_>, event: &Event, lane: usize, end: Option<End>) {
        self.end_until(event.start);
        let track = event.track as usize;
        if let Some(stages) = &mut self.stages
            && event.kind != Kind::Idle
            && matches!(layout.tracks[track].group, TrackGroup::Agent(_))
        {
            let step = event.start.abs_diff(self.now);
            self.now = event.start;
            return stages.event(event, step, layout, &mut self.interning, &mut self.page);
        }
        let uuid = self.lane(track, lane, layout);
        let number = layout.event_names.number(event);
        let name = self.interning.event_name(number, || layout.event_names.text(number));
        let step = self.step(event.start);
        Message(&mut self.page).message(trace::PACKET, |out| {
            out.number(packet::TIMESTAMP, step);
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::TRACK_EVENT, |out| {
                let marker = event.kind == Kind::Marker;
                out.number(
                    track_event::TYPE,
                    if marker { track_event::INSTANT } else { track_event::SLICE_BEGIN },
                );
                out.number(track_event::TRACK_UUID, uuid);
                out.number(track_event::CATEGORY_IIDS, interning::category(event.kind));
                out.number(track_event::NAME_IID, name);
                match end {
                    Some(End::Leaves { ops, .. }) => {
                        ops.for_each(|op| out.fixed(track_event::FLOW_IDS, u64::from(op) + 1));
                    }
                    Some(End::Arrives { op, .. }) => {
                        out.fixed(track_event::TERMINATING_FLOW_IDS, u64::from(op) + 1);
                    }
                    None => {}
                }
                if !layout.options.no_args {
                    self.args.write(event, layout.tables, &mut self.interning, out.0);
                }
            });
            self.interning.bring(out);
            out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
        });
        if event.kind != Kind::Marker {
            self.open.push(Reverse((event.start + event.duration, uuid)));
        }
    }

    fn counter_track(&mut self, layout: &TimelineLayout<'_>, counter_track: &CounterTrack) {
        let (uuid, parent) = (self.uuid(), parent(counter_track.group, layout));
        let rank = layout.tracks.len() + uuid as usize;
        self.describe(|out| descriptors::counter_track(uuid, parent, rank, counter_track, out));
        // A group that is closed shows its own track only.
        let is_shown =
            matches!(counter_track.group, TrackGroup::Agent(_)) && counter_track.name == utilization::BUSY;
        for (time, value) in counter_track.changes() {
            let time = time_of(time, layout);
            for uuid in std::iter::once(uuid).chain(is_shown.then_some(parent)) {
                Message(&mut self.page).message(trace::PACKET, |out| {
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
        self.end_until(i64::MAX);
    }

    fn is_full(&self) -> bool {
        self.page.len() >= PAGE
    }

    fn take(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.page.capacity());
        std::mem::replace(&mut self.page, next)
    }
}

/// The time in the file: that of the trace, or from its first moment if that is negative.
fn time_of(time: i64, layout: &TimelineLayout<'_>) -> u64 {
    time.abs_diff(layout.span.0.min(0))
}

/// The uuid of a group.
fn parent(group: TrackGroup, layout: &TimelineLayout<'_>) -> u64 {
    layout.groups.iter().position(|known| *known == group).map_or(0, |rank| rank as u64 + 1)
}
