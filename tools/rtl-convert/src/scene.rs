//! What every format draws: events on lanes of tracks, arrows and counters. A format is a [`Pen`].

use std::collections::HashSet;
use std::io;

use rtl_schema::Tables;
use rustc_hash::FxHashMap;

use crate::counters::Counters;
use crate::event::{Event, Kind};
use crate::flows::End;
use crate::gauges::Gauge;
use crate::lanes::Lanes;
use crate::names::{Names, Titles};
use crate::pages::Pages;
use crate::target;
use crate::timeline::{Drawn, Timeline};
use crate::tracks::{self, Group, Track};

/// How much a pen collects before it is written: as much as a file takes without collecting it once more.
const PAGE: usize = target::BUFFER;

/// How the user wants it.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Whether events have arguments.
    pub arguments: bool,
    /// How kernels are called.
    pub names: Names,
}

/// What pens need to know of a trace.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The trace without its rows.
    pub tables: &'a Tables,
    /// Where events are drawn; an event's track is the position.
    pub tracks: &'a [Track],
    /// Where each track stands among those of its group.
    pub ranks: Vec<usize>,
    /// What tracks belong to, in the order in which it is drawn.
    pub groups: Vec<Group>,
    /// What events are called.
    pub titles: Titles<'a>,
    /// Whether events have arguments.
    pub arguments: bool,
    /// First start and last end in ns.
    pub span: (i64, i64),
    pids: FxHashMap<Group, u64>,
}

impl<'a> Scene<'a> {
    /// The scene of a timeline.
    pub fn new(timeline: &'a Timeline, gauges: &[Gauge], tables: &'a Tables, style: Style) -> Self {
        let tracks = timeline.tracks.rows();
        let mut sorted: Vec<usize> = (0..tracks.len()).collect();
        sorted.sort_unstable_by_key(|&track| tracks[track]);
        let mut ranks = vec![0; tracks.len()];
        sorted.into_iter().enumerate().for_each(|(rank, track)| ranks[track] = rank);
        let groups = tracks::groups(
            tracks.iter().map(|track| track.group).chain(gauges.iter().map(|gauge| gauge.group)),
            tables,
        );
        Self {
            tables,
            tracks,
            ranks,
            pids: pids(&groups, tables),
            groups,
            titles: Titles::new(&tables.strings, style.names, &timeline.kernels),
            arguments: style.arguments,
            span: timeline.span,
        }
    }

    /// The pid under which a group is drawn.
    pub fn pid(&self, group: Group) -> u64 {
        self.pids.get(&group).copied().unwrap_or_default()
    }

    /// Numbers from 1 that are no pid and no thread of the trace.
    pub fn free_ids(&self) -> impl Iterator<Item = u64> + use<> {
        let threads = self.tracks.iter().filter_map(Track::tid);
        let taken: HashSet<u64> = self.pids.values().copied().chain(threads).collect();
        (1..).filter(move |id| !taken.contains(id))
    }
}

/// A process keeps its pid if no other has it; all other groups get small numbers that nobody has.
fn pids(groups: &[Group], tables: &Tables) -> FxHashMap<Group, u64> {
    let own = |group: &Group| {
        let Group::Process(id) = *group else { return None };
        let pid = tables.process(id).pid?;
        let alone = tables.processes.iter().filter(|process| process.pid == Some(pid)).count() == 1;
        u64::try_from(pid).ok().filter(|&pid| alone && pid > 0 && i32::try_from(pid).is_ok())
    };
    let taken: HashSet<u64> = groups.iter().filter_map(own).collect();
    let mut free = (1..).filter(|pid| !taken.contains(pid));
    groups.iter().map(|group| (*group, own(group).or_else(|| free.next()).unwrap_or_default())).collect()
}

/// A format: appends what it is told to a page.
pub trait Pen {
    /// Draws an event in a lane of its track. Starts ascend.
    fn event(&mut self, event: &Event, lane: usize, end: Option<End>);

    /// Draws a counter.
    fn gauge(&mut self, gauge: &Gauge);

    /// Draws what is left when all events were told.
    fn close(&mut self);

    /// What was drawn and not yet written.
    fn page(&mut self) -> &mut Vec<u8>;
}

/// Draws events, which must be those of the scene, with their arrows and with all counters; `advance` hears of every
/// 65,536 events.
///
/// # Errors
/// Where nobody takes the pages or the events cannot be read back.
pub fn draw(
    mut pen: impl Pen,
    scene: &Scene<'_>,
    drawn: Drawn,
    pages: &Pages,
    advance: impl Fn(u64),
) -> io::Result<()> {
    let mut lanes: Vec<Lanes> = scene.tracks.iter().map(|track| Lanes::new(track.stacking())).collect();
    let mut counters = Counters::new(scene.span);
    let mut arrows = drawn.flows.arrows();
    let mut count = 0_u64;
    for event in drawn.events {
        let mut event = event?;
        if event.kind == Kind::Call
            && let Some(kernel) = drawn.launched.kernel(event.name, event.flow)
        {
            (event.function, event.name) = (event.name, kernel);
        }
        let track = event.track as usize;
        if let Group::Agent(agent) = scene.tracks[track].group {
            counters.add(agent, &event, arrows.returned(event.flow));
        }
        let end = match event.kind {
            Kind::Call => arrows.leaving(event.flow),
            _ => arrows.arriving(event.flow),
        };
        let lane = lanes[track].place(event.start, event.start + event.duration);
        pen.event(&event, lane, end);
        if pen.page().len() >= PAGE {
            pages.turn(pen.page())?;
        }
        count += 1;
        if count.is_multiple_of(1 << 16) {
            advance(1 << 16);
        }
    }
    for gauge in counters.gauges().iter().chain(&drawn.gauges) {
        pen.gauge(gauge);
    }
    pen.close();
    pages.turn(pen.page())
}
