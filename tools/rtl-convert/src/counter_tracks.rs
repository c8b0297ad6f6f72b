//! Counter tracks from the samples of a trace: hardware counters, memory, monitors.

use std::collections::BTreeMap;

use rtl_analysis::allocations::{self, Use};
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Id, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use crate::tracks::TrackGroup;

/// Time in ns and value.
pub type Sample = (i64, f64);

/// A counter over time. A value holds until the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct CounterTrack {
    pub group: TrackGroup,
    pub name: String,
    /// The unit; empty for a bare number.
    pub unit: &'static str,
    pub samples: Vec<Sample>,
}

impl CounterTrack {
    /// The samples that differ from the one before.
    pub fn changes(&self) -> impl Iterator<Item = Sample> {
        let mut last = None;
        self.samples.iter().copied().filter(move |&(_, value)| last.replace(value) != Some(value))
    }
}

pub fn from_tables(tables: &Tables) -> Vec<CounterTrack> {
    let mut all = memory(tables);
    all.extend(framework_memory(tables));
    all.extend(monitors(tables));
    all
}

/// Samples by group, name and unit: their order does not depend on that of the rows.
#[derive(Default)]
struct Samples(BTreeMap<(TrackGroup, String, &'static str), Vec<Sample>>);

impl Samples {
    fn add(&mut self, group: TrackGroup, name: &str, unit: &'static str, time: i64, value: f64) {
        if value.is_finite() {
            self.0.entry((group, name.to_owned(), unit)).or_default().push((time, value));
        }
    }

    fn counter_tracks(self) -> Vec<CounterTrack> {
        let tracks = self.0.into_iter().map(|((group, name, unit), mut samples)| {
            samples.sort_by_key(|&(time, _)| time);
            CounterTrack { group, name, unit, samples }
        });
        tracks.collect()
    }
}

/// Hardware counters: the value of a dispatch from its start to its end, 0 between dispatches.
#[derive(Debug)]
pub struct HardwareCounters {
    /// Summed over the instances of a counter.
    counted: FxHashMap<(ProcessId, Id), Vec<(NameId, f64)>>,
    samples: BTreeMap<(AgentId, NameId), BTreeMap<i64, f64>>,
}

impl HardwareCounters {
    /// The counters of a trace; `None` where it has none.
    pub fn from_tables(tables: &Tables) -> Option<Self> {
        let mut counted: FxHashMap<_, Vec<(NameId, f64)>> = FxHashMap::default();
        for counter in tables.counters.iter().filter(|counter| counter.value.is_finite()) {
            let of_dispatch = counted.entry((counter.process, counter.dispatch)).or_default();
            match of_dispatch.iter_mut().find(|(name, _)| *name == counter.name) {
                Some((_, value)) => *value += counter.value,
                None => of_dispatch.push((counter.name, counter.value)),
            }
        }
        (!counted.is_empty()).then(|| Self { counted, samples: BTreeMap::new() })
    }

    /// Adds the dispatches of a batch, which must be read with their ids.
    pub fn add(&mut self, tables: &Tables) {
        for dispatch in tables.dispatches.iter() {
            let track = tables.tracks.get(dispatch.track);
            let Some(counted) = self.counted.get(&(track.process, dispatch.id)) else { continue };
            let end = dispatch.duration.and_then(|duration| dispatch.start.checked_add(duration));
            let Some(end) = end.filter(|&end| end >= dispatch.start) else { continue };
            for &(name, value) in counted {
                let values = self.samples.entry((track.agent, name)).or_default();
                *values.entry(dispatch.start).or_default() += value;
                values.entry(end).or_default();
            }
        }
    }

    pub fn counter_tracks(self, tables: &Tables) -> Vec<CounterTrack> {
        let counter_track = |((agent, name), values): (_, BTreeMap<i64, f64>)| CounterTrack {
            group: TrackGroup::Agent(agent),
            name: tables.strings.get(name).to_owned(),
            unit: "",
            samples: values.into_iter().collect(),
        };
        self.samples.into_iter().map(counter_track).collect()
    }
}

fn memory(tables: &Tables) -> Vec<CounterTrack> {
    let mut samples = Samples::default();
    let mut totals: FxHashMap<(AgentId, Use), i128> = FxHashMap::default();
    for change in allocations::changes(tables) {
        let total = totals.entry((change.agent, change.of)).or_default();
        *total += change.bytes;
        let name = match change.of {
            Use::Allocated => "allocated",
            Use::Scratch => "scratch",
        };
        samples.add(TrackGroup::Agent(change.agent), name, "bytes", change.time, *total as f64);
    }
    samples.counter_tracks()
}

fn framework_memory(tables: &Tables) -> Vec<CounterTrack> {
    let mut samples = Samples::default();
    for event in &tables.memory_events {
        let group = event.agent.map_or(TrackGroup::Process(event.process), TrackGroup::Agent);
        let device = if event.agent.is_none() { " (host)" } else { "" };
        for (name, bytes) in
            [("framework allocated", event.allocated), ("framework reserved", event.reserved)]
        {
            if let Some(bytes) = bytes {
                samples.add(group, &format!("{name}{device}"), "bytes", event.time, bytes as f64);
            }
        }
    }
    samples.counter_tracks()
}

fn monitors(tables: &Tables) -> Vec<CounterTrack> {
    let mut samples = Samples::default();
    let mut gpus: FxHashMap<i64, AgentId> = FxHashMap::default();
    for (id, agent) in (0..).map(AgentId).zip(&tables.agents) {
        if agent.kind == AgentKind::Gpu {
            gpus.entry(agent.number).or_insert(id);
        }
    }
    for monitor in &tables.monitors {
        let agent = gpus.get(&monitor.device).copied();
        let name = tables.strings.get(monitor.name);
        let (group, name) = match agent {
            Some(agent) => (TrackGroup::Agent(agent), name.to_owned()),
            None => {
                let device = format!("{} {}", tables.strings.get(monitor.device_kind), monitor.device);
                (TrackGroup::Process(ProcessId(0)), format!("{name} ({device})"))
            }
        };
        if let Ok(value) = tables.strings.get(monitor.value).trim().parse() {
            samples.add(group, &name, "", monitor.start, value);
        }
    }
    samples.counter_tracks()
}
