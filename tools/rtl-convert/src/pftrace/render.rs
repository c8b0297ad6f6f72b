//! Renders events as packets, on any thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::fields::{SEQUENCE, packet, sequence_flags, trace, track_event};
use super::interning::{self, TextNumbers};
use super::proto::Message;
use super::stages;
use crate::event::{Event, Kind};
use crate::event_args::EventArgs;
use crate::flows::End;
use crate::layout::TimelineLayout;

/// Room for the packets of an event in bytes, which most do not fill.
const EVENT: usize = 160;

/// Events in turn, with all that depends on those before them.
#[derive(Debug, Default)]
pub struct Batch {
    /// Packets of entries that those of the events refer to.
    pub(super) beginning: Vec<u8>,
    pub(super) events: Vec<Placed>,
    /// The time of the packet before in ns.
    pub(super) now: i64,
    /// The ends and lanes of slices that are open where the batch begins.
    pub(super) open: Vec<OpenSlice>,
    /// The number of render stages before.
    pub(super) stages: u64,
    /// No event comes after the batch.
    pub(super) is_last: bool,
}

/// The end of a slice in ns, and its lane.
pub(super) type OpenSlice = (i64, u32);

#[derive(Debug)]
pub(super) struct Placed {
    pub(super) event: Event,
    pub(super) uuid: u32,
    pub(super) name: u32,
    pub(super) end: Option<End>,
}

impl Placed {
    /// The slice, unless the event is an instant or a render stage.
    #[inline]
    pub(super) fn slice(&self) -> Option<OpenSlice> {
        let is_slice = self.uuid > 0 && self.event.kind != Kind::Marker;
        is_slice.then_some((self.event.start + self.event.duration, self.uuid))
    }
}

#[derive(Debug)]
pub struct Renderings {
    args: EventArgs,
    pub(super) texts: Arc<TextNumbers>,
}

impl Renderings {
    pub(super) fn new(layout: &TimelineLayout<'_>) -> Self {
        let texts = Arc::new(TextNumbers::new(layout.tables.strings.len()));
        Self { args: EventArgs::new(layout.tables), texts }
    }
}

/// Packets that grow.
struct Page<'a> {
    page: Vec<u8>,
    open: BinaryHeap<Reverse<OpenSlice>>,
    now: i64,
    stages: u64,
    renderings: &'a Renderings,
    layout: &'a TimelineLayout<'a>,
}

impl Batch {
    pub(super) fn render(self, renderings: &Renderings, layout: &TimelineLayout<'_>) -> Vec<u8> {
        let Self { beginning: mut page, events, now, open, stages, is_last } = self;
        page.reserve_exact(events.len() * EVENT);
        let open = open.into_iter().map(Reverse).collect();
        let mut page = Page { page, open, now, stages, renderings, layout };
        for placed in &events {
            page.end_until(placed.event.start);
            page.event(placed);
        }
        // What is open then is what the next batch begins with.
        page.end_until(if is_last { i64::MAX } else { page.now });
        page.page
    }
}

impl Page<'_> {
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
                    out.number(track_event::TRACK_UUID, uuid.into());
                });
                out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
            });
        }
    }

    fn event(&mut self, placed: &Placed) {
        let (layout, renderings) = (self.layout, self.renderings);
        let Placed { event, uuid, name, end } = placed;
        let step = self.step(event.start);
        if stages::is_stage(event, layout) {
            self.stages += 1;
            return stages::write(event, self.stages, step, layout, &mut self.page);
        }
        Message(&mut self.page).message(trace::PACKET, |out| {
            out.number(packet::TIMESTAMP, step);
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::TRACK_EVENT, |out| {
                let marker = event.kind == Kind::Marker;
                out.number(
                    track_event::TYPE,
                    if marker { track_event::INSTANT } else { track_event::SLICE_BEGIN },
                );
                out.number(track_event::TRACK_UUID, (*uuid).into());
                out.number(track_event::CATEGORY_IIDS, interning::category(event.kind));
                out.number(track_event::NAME_IID, (*name).into());
                match end {
                    Some(End::Leaves { ops, .. }) => {
                        ops.clone().for_each(|op| out.fixed(track_event::FLOW_IDS, u64::from(op) + 1));
                    }
                    Some(End::Arrives { op, .. }) => {
                        out.fixed(track_event::TERMINATING_FLOW_IDS, u64::from(*op) + 1);
                    }
                    None => {}
                }
                if !layout.options.no_args {
                    renderings.args.write(event, layout.tables, &mut &*renderings.texts, out.0);
                }
            });
            out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
        });
        if let Some(slice) = placed.slice() {
            self.open.push(Reverse(slice));
        }
    }

    #[inline]
    fn step(&mut self, time: i64) -> u64 {
        let step = time.abs_diff(self.now);
        self.now = time;
        step
    }
}
