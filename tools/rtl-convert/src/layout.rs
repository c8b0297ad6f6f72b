//! The layout that viewer formats share: events on lanes of tracks, flow arrows, counter tracks. A format implements
//! [`EventWriter`].

use std::collections::HashSet;
use std::io;

use cli::Progress;
use rtl_schema::table::MemoryEvent;
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::flows::{End, Flows};
use crate::lanes::Lanes;
use crate::launched_kernels::LaunchedKernels;
use crate::names::EventNames;
use crate::page_writer::PageSender;
use crate::render_options::RenderOptions;
use crate::sort::Sorted;
use crate::tracks::{self, PerfettoTrack, TrackGroup, TrackNames};
use crate::utilization::Utilization;

/// Bytes of a page: as many as a file takes without buffering them once more.
pub const PAGE: usize = 1 << 18;

/// Bytes of a page of counter tracks, which only a trace of very many GPUs has several of.
const COUNTERS: usize = PAGE << 2;

/// The tracks, groups and names of a trace.
#[derive(Debug)]
pub struct TimelineLayout<'a> {
    /// The trace without its rows.
    pub tables: &'a Tables,
    pub tracks: Vec<PerfettoTrack>,
    /// The position of each track in its group.
    pub ranks: Vec<usize>,
    pub track_names: TrackNames<'a>,
    pub groups: Vec<TrackGroup>,
    pub event_names: EventNames<'a>,
    pub options: RenderOptions,
    /// The first start and the last end in ns; 0 without events.
    pub span: (i64, i64),
    /// The trace has operators or steps of a framework: then ranges are no operators.
    pub of_framework: bool,
    /// The position of each group, and its pid.
    places: FxHashMap<TrackGroup, (usize, u64)>,
}

/// The events in time order, with all that is written beside them.
#[derive(Debug)]
pub struct EventStream {
    /// The events by start.
    pub events: Sorted<Event>,
    pub flows: Flows,
    pub launched: LaunchedKernels,
    /// The counter tracks that do not follow from the events.
    pub counter_tracks: Vec<CounterTrack>,
    pub memory_events: Vec<MemoryEvent>,
}

impl<'a> TimelineLayout<'a> {
    pub fn new(
        tracks: Vec<PerfettoTrack>,
        span: (i64, i64),
        kernels: &[NameId],
        counter_tracks: &[CounterTrack],
        tables: &'a Tables,
        options: RenderOptions,
    ) -> Self {
        let mut sorted: Vec<usize> = (0..tracks.len()).collect();
        sorted.sort_unstable_by_key(|&track| tracks[track]);
        let mut ranks = vec![0; tracks.len()];
        sorted.into_iter().enumerate().for_each(|(rank, track)| ranks[track] = rank);
        let counted = counter_tracks.iter().map(|counter_track| counter_track.group);
        let groups = tracks::groups(tracks.iter().map(|track| track.group).chain(counted), tables);
        Self {
            tables,
            tracks,
            ranks,
            track_names: TrackNames::new(tables),
            places: places(&groups, tables),
            groups,
            event_names: EventNames::new(&tables.strings, options.names, kernels),
            options,
            span,
            of_framework: false,
        }
    }

    pub fn pid(&self, group: TrackGroup) -> u64 {
        self.places.get(&group).map_or(0, |&(_, pid)| pid)
    }

    /// The position of a group among all groups.
    pub fn rank_of(&self, group: TrackGroup) -> Option<usize> {
        self.places.get(&group).map(|&(rank, _)| rank)
    }

    /// Numbers from 1 that are neither a pid nor a tid of the trace.
    pub fn free_ids(&self) -> impl Iterator<Item = u64> + use<> {
        let threads = self.tracks.iter().filter_map(PerfettoTrack::tid);
        let taken: HashSet<u64> = self.places.values().map(|&(_, pid)| pid).chain(threads).collect();
        (1..).filter(move |id| !taken.contains(id))
    }
}

/// A process keeps its pid if no other process has it; other groups get small unused numbers.
fn places(groups: &[TrackGroup], tables: &Tables) -> FxHashMap<TrackGroup, (usize, u64)> {
    let mut count: FxHashMap<Option<i64>, usize> = FxHashMap::default();
    tables.processes.iter().for_each(|process| *count.entry(process.pid).or_default() += 1);
    let own = |group: &TrackGroup| {
        let TrackGroup::Process(id) = *group else { return None };
        let pid = tables.process(id).pid?;
        let alone = count.get(&Some(pid)) == Some(&1);
        u64::try_from(pid).ok().filter(|&pid| alone && pid > 0 && i32::try_from(pid).is_ok())
    };
    let taken: HashSet<u64> = groups.iter().filter_map(own).collect();
    let mut free = (1..).filter(|pid| !taken.contains(pid));
    let pid = |group| own(group).or_else(|| free.next()).unwrap_or_default();
    groups.iter().map(pid).enumerate().zip(groups).map(|(place, group)| (*group, place)).collect()
}

/// A viewer format. What depends on the events before is done in their order; the rest may be done apart.
pub trait EventWriter {
    /// Events in turn, on their way to a page.
    type Batch: Send;
    /// State that batches share, so that their rendering needs no order.
    type Renderings: Sync;

    fn renderings(layout: &TimelineLayout<'_>) -> Self::Renderings;

    /// Called on any thread.
    fn render(batch: Self::Batch, renderings: &Self::Renderings, layout: &TimelineLayout<'_>) -> Vec<u8>;

    fn new(layout: &TimelineLayout<'_>, renderings: &Self::Renderings) -> Self;

    /// Starts ascend.
    fn event(&mut self, layout: &TimelineLayout<'_>, event: &Event, lane: usize, end: Option<End>);

    fn counter_track(&mut self, layout: &TimelineLayout<'_>, counter_track: &CounterTrack);

    /// Writes a memory event of a framework, where the format has more of it than a counter track.
    fn memory_event(&mut self, _layout: &TimelineLayout<'_>, _event: &MemoryEvent) {}

    fn close(&mut self);

    /// About the bytes of the batch.
    fn length(&self) -> usize;

    /// Takes the batch and begins the next one.
    fn take(&mut self) -> Self::Batch;

    /// Takes the counter tracks, and the events where these come before them.
    fn take_counters(&mut self) -> Self::Batch {
        self.take()
    }
}

impl EventStream {
    /// Writes the events with their flow arrows, and all counter tracks.
    pub fn write<W: EventWriter>(
        self,
        layout: &TimelineLayout<'_>,
        renderings: &W::Renderings,
        pages: &mut PageSender<'_, W::Batch>,
        progress: &Progress,
    ) -> io::Result<()> {
        let mut writer = W::new(layout, renderings);
        let mut lanes: Vec<Lanes> = layout.tracks.iter().map(|track| Lanes::new(track.stacking())).collect();
        let mut utilization = Utilization::new(layout.span);
        let mut arrows = self.flows.arrows();
        let mut count = 0_u64;
        for event in self.events {
            let mut event = event?;
            if event.kind == Kind::Call
                && let Some(kernel) = self.launched.kernel(event.name, event.flow)
            {
                (event.function, event.name) = (event.name, kernel);
            }
            let track = event.track as usize;
            if let TrackGroup::Agent(agent) = layout.tracks[track].group {
                utilization.add(agent, &event, arrows.returned(event.flow));
            }
            let end = match event.kind {
                Kind::Call => arrows.leaving(event.flow),
                _ => arrows.arriving(event.flow),
            };
            let lane = lanes[track].place(event.start, event.start + event.duration);
            writer.event(layout, &event, lane, end);
            if writer.length() >= PAGE {
                pages.send(writer.take())?;
            }
            count += 1;
            if count.is_multiple_of(1 << 16) {
                progress.advance(1 << 16);
            }
        }
        for counter in utilization.counter_tracks() {
            writer.counter_track(layout, &counter);
            if writer.length() >= COUNTERS {
                pages.send(writer.take_counters())?;
            }
        }
        for counter in &self.counter_tracks {
            writer.counter_track(layout, counter);
        }
        for event in &self.memory_events {
            writer.memory_event(layout, event);
            if writer.length() >= PAGE {
                pages.send(writer.take())?;
            }
        }
        writer.close();
        pages.send(writer.take())
    }
}
