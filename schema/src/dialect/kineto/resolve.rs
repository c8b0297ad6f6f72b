//! The end of a document: its clock, processes and GPUs are known, and its rows are completed.

use std::borrow::Cow;
use std::hash::Hash;
use std::mem::take;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::rows::{Marks, Open, Rows};
use super::scan::Raw;
use super::sources::{Place, Source, rank_in};
use crate::table::{Agent, AgentKind, Direction, Process, Shape, Thread, Track};
use crate::{AgentId, Column, Dialect, Id, ProcessId, Tables, TrackId};

/// The longest value that is kept as metadata.
const LONGEST: usize = 64 << 10;

impl Rows {
    /// Adds a key of the document beside its events.
    pub(super) fn header(&mut self, key: &str, value: Raw<'_>, text: Option<Cow<'_, str>>) {
        match key {
            "baseTimeNanoseconds" => self.open.base = super::scalar::whole(value),
            "deviceProperties" => self.open.devices = serde_json::from_slice(value).ok(),
            "distributedInfo" => self.open.job = serde_json::from_slice(value).ok(),
            "schemaVersion" => self.tables.info.schema_version = text.map(Cow::into_owned),
            _ => {
                let text = text.unwrap_or_else(|| String::from_utf8_lossy(value));
                if text.len() <= LONGEST {
                    self.tables.info.metadata.push((key.to_owned(), text.into_owned()));
                }
                return;
            }
        }
        if key == "distributedInfo" && value.len() <= LONGEST {
            let text = String::from_utf8_lossy(value).into_owned();
            self.tables.info.metadata.push((key.to_owned(), text));
        }
    }

    /// Completes the rows of the document and begins the next one.
    pub(super) fn finish_document(&mut self, path: &Path) {
        let mut open = take(&mut self.open);
        self.finish_links(&open);
        self.finish_times(&open);
        self.finish_processes(&mut open, path);
        let processes = of_places(&self.tables, &open);
        let agents = self.finish_agents(&open, &processes);
        self.finish_tracks(&open, &processes, &agents);
        self.finish_spans(&open, &processes, &agents);
        self.finish_launches(&mut open);
        self.finish_collectives(&mut open);
        self.finish_memory(&open, &processes, &agents);
        for symbol in &mut self.tables.symbols[open.marks.symbols..] {
            symbol.process = open.sources.processes.first().map_or(symbol.process, |source| source.id);
        }
        let tables = &self.tables;
        self.open.marks = Marks {
            dispatches: tables.dispatches.len(),
            copies: tables.copies.len(),
            calls: tables.api_calls.len(),
            operators: tables.operators.len(),
            python_frames: tables.python_frames.len(),
            ranges: tables.ranges.len(),
            memory_events: tables.memory_events.len(),
            spans: tables.spans.len(),
            symbols: tables.symbols.len(),
        };
    }

    /// The tables of all documents.
    pub(super) fn finish(self) -> Tables {
        let Self { mut tables, others, select, .. } = self;
        let info = &mut tables.info;
        (info.dialect, info.tool) = (Dialect::Kineto, "torch.profiler".to_owned());
        info.linked = tables.dispatches.correlation.uniform() != Some(0) && !tables.dispatches.is_empty();
        if !select.links {
            tables.dispatches.correlation = Column::Uniform { value: 0, len: tables.dispatches.len() };
            tables.copies.iter_mut().for_each(|copy| copy.correlation = 0);
        }
        for (category, count) in others {
            info.metadata.push((format!("events_without_table.{category}"), count.to_string()));
        }
        tables
    }

    /// Links ops without a correlation id by arrows, while times are those of the document.
    fn finish_links(&mut self, open: &Open) {
        let (tables, marks) = (&mut self.tables, open.marks);
        open.arrows.link_dispatches(&mut tables.dispatches, marks.dispatches, &open.tracks);
        open.arrows.link_copies(&mut tables.copies[marks.copies..], &open.tracks);
        open.arrows.link_calls(&mut tables.api_calls, marks.calls);
    }

    /// Moves times onto the machine's clock.
    fn finish_times(&mut self, open: &Open) {
        let base = open.base.unwrap_or(0);
        let marks = open.marks;
        let tables = &mut self.tables;
        let starts = tables.dispatches.start[marks.dispatches..].iter_mut();
        let starts = starts.chain(&mut tables.api_calls.start[marks.calls..]);
        let starts = starts.chain(&mut tables.operators.start[marks.operators..]);
        let starts = starts.chain(&mut tables.python_frames.start[marks.python_frames..]);
        let starts = starts.chain(tables.copies[marks.copies..].iter_mut().map(|copy| &mut copy.start));
        let starts = starts.chain(tables.ranges[marks.ranges..].iter_mut().map(|range| &mut range.start));
        let starts = starts.chain(tables.spans[marks.spans..].iter_mut().map(|span| &mut span.start));
        let memory = tables.memory_events[marks.memory_events..].iter_mut();
        for start in starts.chain(memory.map(|event| &mut event.time)) {
            *start = start.saturating_add(base);
        }
    }

    /// Describes the processes of the document, at least one.
    fn finish_processes(&mut self, open: &mut Open, path: &Path) {
        let tables = &mut self.tables;
        let is_alone = open.sources.processes.len() <= 1;
        if open.sources.processes.is_empty() {
            let id = ProcessId(tables.processes.len() as u32);
            tables.processes.push(Process::default());
            open.sources.processes.push(Source { id, ..Source::default() });
        }
        let job = open.job.as_ref();
        let stated =
            |key: &str| job.and_then(|job| job[key].as_u64()).and_then(|value| u32::try_from(value).ok());
        let of_name = || rank_in(&path.file_name()?.to_string_lossy());
        let base = open.base.unwrap_or(0);
        let mut threads: FxHashMap<i64, Vec<(i64, &str)>> = FxHashMap::default();
        for (pid, tid, name) in &open.threads {
            if let Some(pid) = pid {
                threads.entry(*pid).or_default().push((*tid, name));
            }
        }
        for source in &open.sources.processes {
            let (command, named_rank) = open.names.find(source);
            let own = source.rank.or_else(|| rank_in(&source.prefix)).or(named_rank);
            let rank = if is_alone { own.or_else(|| stated("rank")).or_else(of_name) } else { own };
            tables.processes[source.id.index()] = Process {
                pid: source.pid,
                space: source.id.0,
                rank,
                world: stated("world_size"),
                command,
                start: open.recording.map(|(start, _)| start.saturating_add(base)),
                end: open.recording.map(|(_, end)| end.saturating_add(base)),
                ..Process::default()
            };
            // A thread may be named several times.
            let mut named = FxHashSet::default();
            let threads = source.pid.and_then(|pid| threads.get(&pid)).into_iter().flatten();
            tables.threads.extend(threads.filter(|(tid, _)| named.insert(*tid)).map(|&(tid, name)| Thread {
                process: source.id,
                tid,
                name: Some(name.to_owned()),
            }));
        }
    }

    /// Adds the GPUs of the document: those it lists, and those that rows name. The result is the agent of each place.
    fn finish_agents(&mut self, open: &Open, processes: &[ProcessId]) -> Vec<AgentId> {
        let agents = &mut self.tables.agents;
        let first = agents.len();
        let mut taken: FxHashSet<i64> = agents.iter().map(|agent| agent.number).collect();
        let mut largest = taken.iter().copied().max().unwrap_or(-1);
        let mut known: FxHashMap<(i64, Option<ProcessId>), AgentId> = FxHashMap::default();
        let is_alone = open.sources.processes.len() <= 1;
        let listed: Vec<&Value> = open.devices.iter().filter_map(Value::as_array).flatten().collect();
        let product =
            |device: &Value| device["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
        // A process may list the GPUs that it sees by other numbers than its events do.
        let common = listed.first().and_then(|first| product(first));
        let common =
            common.filter(|common| listed.iter().all(|other| product(other).as_ref() == Some(common)));
        // Of several with one id the first one counts.
        let listed: FxHashMap<i64, &Value> =
            listed.iter().rev().filter_map(|device| Some((device["id"].as_i64()?, *device))).collect();
        let mut add = |number: i64, process: ProcessId| {
            let process = (!is_alone || first > 0).then_some(process);
            *known.entry((number, process.filter(|_| !is_alone))).or_insert_with(|| {
                let details = listed.get(&number);
                let named = details.and_then(|device| product(device));
                let free = if taken.insert(number) { number } else { largest.saturating_add(1) };
                taken.insert(free);
                largest = largest.max(free);
                agents.push(Agent {
                    kind: AgentKind::Gpu,
                    number: free,
                    process,
                    source_id: number,
                    type_index: Some(number),
                    product: if details.is_some() { named } else { common.clone() },
                    details: details.map(ToString::to_string),
                    ..Agent::default()
                });
                AgentId(agents.len() as u32 - 1)
            })
        };
        let places = open.sources.places.iter().zip(processes);
        places.map(|(place, &process)| add(place.number, process)).collect()
    }

    /// Replaces positions of places by processes and agents.
    fn finish_tracks(&mut self, open: &Open, processes: &[ProcessId], agents: &[AgentId]) {
        let tables = &mut self.tables;
        let complete = |track: &Track| {
            let place = track.agent.index();
            tables.tracks.intern(Track { process: processes[place], agent: agents[place], ..*track })
        };
        let tracks: Vec<TrackId> = open.tracks.rows().iter().map(complete).collect();
        for track in &mut tables.dispatches.track[open.marks.dispatches..] {
            *track = tracks[track.index()];
        }
        for copy in &mut tables.copies[open.marks.copies..] {
            copy.track = tracks[copy.track.index()];
            let agent = Some(tables.tracks.get(copy.track).agent);
            let (reads, writes) = match copy.direction {
                Direction::HostToDevice | Direction::Fill => (false, true),
                Direction::DeviceToHost => (true, false),
                // Of a copy between two GPUs the other one is unknown.
                Direction::DeviceToDevice if tables.strings.get(copy.name).contains("PtoP") => (false, false),
                Direction::DeviceToDevice => (true, true),
                Direction::HostToHost | Direction::Unknown => (false, false),
            };
            (copy.source, copy.destination) = (agent.filter(|_| reads), agent.filter(|_| writes));
        }
    }

    /// Replaces positions of places by agents. What the profiler did is of the first process.
    fn finish_spans(&mut self, open: &Open, processes: &[ProcessId], agents: &[AgentId]) {
        let first = open.sources.processes.first().map(|source| source.id).unwrap_or_default();
        for span in &mut self.tables.spans[open.marks.spans..] {
            span.process = span.agent.map_or(first, |place| processes[place.index()]);
            span.agent = span.agent.map(|place| agents[place.index()]);
        }
    }

    /// Gives kernels and copies what only their calls state: the shape and the size.
    fn finish_launches(&mut self, open: &mut Open) {
        let tables = &mut self.tables;
        if !open.call_shapes.is_empty() {
            let shapes = unambiguous(take(&mut open.call_shapes));
            for row in open.marks.dispatches..tables.dispatches.len() {
                let known = tables.dispatches.shape.get(row).map(|shape| tables.shapes.get(shape));
                let called = shapes.get(&tables.dispatches.correlation.get(row));
                if known.is_none_or(|shape| shape.items.is_none())
                    && let Some(&called) = called
                {
                    let lds = known.and_then(|shape| shape.lds);
                    let called = Shape { lds, ..tables.shapes.get(called) };
                    tables.dispatches.shape.set(row, Some(tables.shapes.intern(called)));
                }
            }
        }
        if !open.call_sizes.is_empty() {
            let sizes = unambiguous(take(&mut open.call_sizes));
            for copy in tables.copies[open.marks.copies..].iter_mut().filter(|copy| copy.bytes.is_none()) {
                copy.bytes = sizes.get(&copy.correlation).copied();
            }
        }
    }

    fn finish_memory(&mut self, open: &Open, processes: &[ProcessId], agents: &[AgentId]) {
        let mut by_number: FxHashMap<(ProcessId, i64), AgentId> = FxHashMap::default();
        for (place, (&process, &agent)) in open.sources.places.iter().zip(processes.iter().zip(agents)) {
            by_number.insert((process, place.number), agent);
        }
        for event in &mut self.tables.memory_events[open.marks.memory_events..] {
            let Some(number) = event.agent else { continue };
            let agents = &mut self.tables.agents;
            event.agent = Some(*by_number.entry((event.process, i64::from(number.0))).or_insert_with(|| {
                let number = i64::from(number.0);
                agents.push(Agent {
                    number,
                    source_id: number,
                    type_index: Some(number),
                    ..Agent::default()
                });
                AgentId(agents.len() as u32 - 1)
            }));
        }
    }
}

/// The process of each place: the only one, the one of its label or rank, else the one whose calls launched most of its
/// ops.
fn of_places(tables: &Tables, open: &Open) -> Vec<ProcessId> {
    let sources = &open.sources.processes;
    let [first, _, ..] = sources.as_slice() else { return vec![sources[0].id; open.sources.places.len()] };
    let by_rank = unambiguous(sources.iter().filter_map(|source| Some((source.rank?, source.id))));
    let by_label = unambiguous(sources.iter().map(|source| (source.prefix.as_str(), source.id)));
    let chosen = |place: &Place| {
        let ranked = place.rank.and_then(|rank| by_rank.get(&rank));
        ranked.or_else(|| by_label.get(place.prefix.as_str())).copied()
    };
    let chosen: Vec<Option<ProcessId>> = open.sources.places.iter().map(chosen).collect();
    let mut votes: Vec<FxHashMap<ProcessId, u64>> = vec![FxHashMap::default(); chosen.len()];
    if chosen.contains(&None) {
        let mut callers: FxHashMap<Id, Vec<ProcessId>> = FxHashMap::default();
        for &(correlation, process) in &open.calls {
            let callers = callers.entry(correlation).or_default();
            if !callers.contains(&process) {
                callers.push(process);
            }
        }
        let dispatches = &tables.dispatches;
        let rows = open.marks.dispatches..dispatches.len();
        let launched = rows.map(|row| (dispatches.track[row], dispatches.correlation.get(row)));
        let copied = tables.copies[open.marks.copies..].iter().map(|copy| (copy.track, copy.correlation));
        for (track, correlation) in launched.chain(copied) {
            let place = open.tracks.get(track).agent.index();
            for &caller in callers.get(&correlation).into_iter().flatten() {
                *votes[place].entry(caller).or_default() += 1;
            }
        }
    }
    let most = |votes: &FxHashMap<ProcessId, u64>| {
        votes.iter().max_by_key(|(process, votes)| (**votes, std::cmp::Reverse(**process))).map(|(&id, _)| id)
    };
    chosen
        .into_iter()
        .zip(&votes)
        .map(|(chosen, votes)| chosen.or_else(|| most(votes)).unwrap_or(first.id))
        .collect()
}

/// The values by key, without those of which a key has several.
pub(super) fn unambiguous<K: Eq + Hash, V: Copy + PartialEq>(
    pairs: impl IntoIterator<Item = (K, V)>,
) -> FxHashMap<K, V> {
    let mut found: FxHashMap<K, Option<V>> = FxHashMap::default();
    for (key, value) in pairs {
        let known = found.entry(key).or_insert(Some(value));
        *known = known.filter(|&known| known == value);
    }
    found.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}
