//! Chrome's trace event format as Perfetto reads it: complete events in microseconds with three decimals.

use std::io::{self, Write};

use schema::{AgentId, NameId, ProcessId, Tables};

use crate::counters::Counters;
use crate::event::{Event, Kind};
use crate::lanes::Lanes;
use crate::names::{self, Cache};
use crate::timeline::{self, Timeline};
use crate::tracks::{self, Group, Place, Track};

/// Pids and tids that we number ourselves start here, above any that Linux gives (4,194,304).
const FIRST_ID: u64 = 1 << 23;

/// Writes the events of `timeline`; `advance` hears of every 65,536 of them.
///
/// # Errors
/// Where the output cannot grow or the events cannot be read back.
pub fn write(
    timeline: Timeline,
    tables: &Tables,
    arguments: bool,
    out: &mut impl Write,
    advance: impl Fn(u64),
) -> io::Result<()> {
    let Timeline { events, tracks, flows, span, .. } = timeline;
    let mut writer = Writer::new(tracks.rows(), tables, span.0, arguments);
    let mut counters = Counters::new(span);
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    writer.groups(&tracks.groups(tables));
    let mut count = 0_u64;
    for event in events {
        let event = event?;
        if let Group::Agent(agent) = tracks.rows()[event.track as usize].group
            && event.kind != Kind::Barrier
        {
            counters.add(agent, event.start, event.duration);
        }
        writer.event(&event, flows.ends(event.flow));
        if writer.buffer.len() > FLUSH {
            out.write_all(&writer.buffer)?;
            writer.buffer.clear();
        }
        count += 1;
        if count.is_multiple_of(1 << 16) {
            advance(1 << 16);
        }
    }
    for (agent, samples) in counters.samples() {
        for sample in samples {
            writer.counter(agent, sample.start, "busy", "percent", sample.busy * 100.0);
            writer.counter(agent, sample.start, "ops in flight", "mean", sample.depth);
        }
    }
    out.write_all(&writer.buffer)?;
    out.write_all(b"\n]}\n")
}

/// How much is collected before it is written.
const FLUSH: usize = 1 << 16;

/// The events as text, and what was already said of their tracks.
struct Writer<'a> {
    tables: &'a Tables,
    tracks: &'a [Track],
    /// What times count from, in ns.
    origin: i64,
    arguments: bool,
    buffer: Vec<u8>,
    /// What stands before the next event.
    separator: &'static str,
    lanes: Vec<Lanes>,
    /// The tid of every lane of every track.
    tids: Vec<Vec<u64>>,
    /// Where each track stands in its group.
    ranks: Vec<usize>,
    next_id: u64,
    names: Cache,
    shapes: Cache,
    symbols: Cache,
    texts: Cache,
}

impl<'a> Writer<'a> {
    fn new(tracks: &'a [Track], tables: &'a Tables, origin: i64, arguments: bool) -> Self {
        let mut sorted: Vec<usize> = (0..tracks.len()).collect();
        sorted.sort_unstable_by_key(|&track| tracks[track]);
        let mut ranks = vec![0; tracks.len()];
        sorted.into_iter().enumerate().for_each(|(rank, track)| ranks[track] = rank);
        Self {
            tables,
            tracks,
            origin,
            arguments,
            buffer: Vec::with_capacity(FLUSH * 2),
            separator: "\n",
            lanes: tracks.iter().map(|track| Lanes::new(track.stacking())).collect(),
            tids: vec![Vec::new(); tracks.len()],
            ranks,
            // Behind the pids of all groups.
            next_id: FIRST_ID + (tables.agents.len() + tables.processes.len()) as u64,
            names: Cache::default(),
            shapes: Cache::default(),
            symbols: Cache::default(),
            texts: Cache::default(),
        }
    }

    /// A process keeps its pid if no other has it; everything else gets a number of ours.
    fn pid(&self, group: Group) -> u64 {
        let agents = self.tables.agents.len() as u64;
        let own = |id: ProcessId| {
            let pid = self.tables.process(id).pid?;
            let alone = self.tables.processes.iter().filter(|process| process.pid == Some(pid)).count() == 1;
            u64::try_from(pid).ok().filter(|&pid| alone && pid > 0 && pid < FIRST_ID)
        };
        match group {
            Group::Agent(AgentId(agent)) => FIRST_ID + u64::from(agent),
            Group::Process(id) => own(id).unwrap_or(FIRST_ID + agents + u64::from(id.0)),
        }
    }

    fn groups(&mut self, groups: &[Group]) {
        for (rank, &group) in groups.iter().enumerate() {
            let pid = self.pid(group);
            self.metadata(
                "process_name",
                pid,
                None,
                "name",
                &quoted(&tracks::group_name(group, self.tables)),
            );
            self.metadata("process_sort_index", pid, None, "sort_index", rank.to_string().as_bytes());
        }
    }

    /// The tid of a lane, which is named when it is first used.
    fn tid(&mut self, track: usize, lane: usize) -> u64 {
        if let Some(&tid) = self.tids[track].get(lane) {
            return tid;
        }
        let at = self.tracks[track];
        let own = match at.place {
            Place::Thread(tid) if lane == 0 => {
                u64::try_from(tid).ok().filter(|&tid| tid > 0 && tid < FIRST_ID)
            }
            _ => None,
        };
        let tid = own.unwrap_or(self.next_id);
        self.next_id += u64::from(own.is_none());
        self.tids[track].push(tid);
        let name = tracks::track_name(&at, self.tables);
        let name = if lane == 0 { name } else { format!("{name} (overlap {lane})") };
        let pid = self.pid(at.group);
        self.metadata("thread_name", pid, Some(tid), "name", &quoted(&name));
        let rank = (self.ranks[track] * 1000 + lane.min(999)).to_string();
        self.metadata("thread_sort_index", pid, Some(tid), "sort_index", rank.as_bytes());
        tid
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: Option<u64>, key: &str, value: &[u8]) {
        self.separate();
        self.text("{\"ph\":\"M\",\"pid\":");
        self.number(pid);
        if let Some(tid) = tid {
            self.field("tid", tid);
        }
        self.text(",\"name\":\"");
        self.text(what);
        self.text("\",\"args\":{\"");
        self.text(key);
        self.text("\":");
        self.buffer.extend_from_slice(value);
        self.text("}}");
    }

    fn event(&mut self, event: &Event, launches: bool) {
        let track = event.track as usize;
        let lane = self.lanes[track].place(event.start, event.start + event.duration);
        let tid = self.tid(track, lane);
        let marker = event.kind == Kind::Marker;
        self.separate();
        self.text(if marker { "{\"ph\":\"i\",\"s\":\"t\",\"pid\":" } else { "{\"ph\":\"X\",\"pid\":" });
        self.number(self.pid(self.tracks[track].group));
        self.field("tid", tid);
        self.text(",\"ts\":");
        self.microseconds(event.start.abs_diff(self.origin));
        if !marker {
            self.text(",\"dur\":");
            self.microseconds(event.duration.unsigned_abs());
        }
        self.text(",\"cat\":\"");
        self.text(event.kind.category());
        self.text("\",\"name\":");
        self.name(event);
        if event.flow > 0 && (event.kind != Kind::Call || launches) {
            self.field("bind_id", u64::from(event.flow));
            self.text(if event.kind == Kind::Call { ",\"flow_out\":true" } else { ",\"flow_in\":true" });
        }
        if self.arguments {
            self.arguments(event);
        }
        self.text("}");
    }

    fn name(&mut self, event: &Event) {
        let strings = &self.tables.strings;
        let unnamed = !event.name.is_some() || strings.get(event.name).is_empty();
        match event.kind {
            Kind::Copy if unnamed => {
                self.buffer.push(b'"');
                self.text(timeline::direction(event).label());
                self.text(" copy\"");
            }
            Kind::Barrier if unnamed => self.text("\"barrier\""),
            _ if !event.name.is_some() => self.buffer.extend_from_slice(&quoted(strings.get(event.name))),
            _ => {
                let name = self
                    .names
                    .get(event.name.index(), |bytes| *bytes = quoted(&names::shown(strings, event.name)));
                self.buffer.extend_from_slice(name);
            }
        }
    }

    fn arguments(&mut self, event: &Event) {
        self.text(",\"args\":{");
        let empty = self.buffer.len();
        if let Some(shape) = event.shape {
            let tables = self.tables;
            let text =
                self.shapes.get(shape.index(), |bytes| shape_arguments(tables.shapes.get(shape), bytes));
            self.buffer.extend_from_slice(text);
        }
        if let Some(symbol) = event.symbol {
            let symbol = (&self.tables.symbols[symbol.index()], symbol.index());
            let text = self.symbols.get(symbol.1, |bytes| {
                option("vgprs", symbol.0.vgprs, bytes);
                option("agprs", symbol.0.agprs, bytes);
                option("sgprs", symbol.0.sgprs, bytes);
            });
            self.buffer.extend_from_slice(text);
        }
        if event.kind == Kind::Copy {
            self.text(",\"direction\":\"");
            self.text(timeline::direction(event).label());
            self.buffer.push(b'"');
        }
        option("bytes", event.bytes, &mut self.buffer);
        option("thread", event.tid, &mut self.buffer);
        option("range", Some(event.range).filter(|&range| range != 0), &mut self.buffer);
        option("correlation", Some(event.correlation).filter(|&id| id != 0), &mut self.buffer);
        if event.kind == Kind::Call && event.text.is_some() {
            self.text(",\"arguments\":");
            self.call_arguments(event.text);
        }
        if self.buffer.get(empty) == Some(&b',') {
            self.buffer.remove(empty);
        }
        self.buffer.push(b'}');
    }

    fn call_arguments(&mut self, text: NameId) {
        let strings = &self.tables.strings;
        let text = self.texts.get(text.index(), |bytes| *bytes = quoted(strings.get(text)));
        self.buffer.extend_from_slice(text);
    }

    fn counter(&mut self, agent: AgentId, start: i64, name: &str, unit: &str, value: f64) {
        self.separate();
        self.text("{\"ph\":\"C\",\"pid\":");
        self.number(self.pid(Group::Agent(agent)));
        self.text(",\"ts\":");
        self.microseconds(start.abs_diff(self.origin));
        self.buffer.extend_from_slice(
            format!(",\"name\":\"{name}\",\"args\":{{\"{unit}\":{value:.2}}}}}").as_bytes(),
        );
    }

    fn separate(&mut self) {
        self.text(self.separator);
        self.separator = ",\n";
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.buffer.extend_from_slice(text.as_bytes());
    }

    fn field(&mut self, name: &str, value: u64) {
        self.text(",\"");
        self.text(name);
        self.text("\":");
        self.number(value);
    }

    #[inline]
    fn number(&mut self, value: u64) {
        digits(value, &mut self.buffer);
    }

    /// Nanoseconds as microseconds with three decimals: exact, where a float would not be.
    #[inline]
    fn microseconds(&mut self, ns: u64) {
        digits(ns / 1000, &mut self.buffer);
        let rest = ns % 1000;
        self.buffer.extend_from_slice(&[
            b'.',
            b'0' + (rest / 100) as u8,
            b'0' + (rest / 10 % 10) as u8,
            b'0' + (rest % 10) as u8,
        ]);
    }
}

/// A number of an argument, with the comma before it.
fn option(name: &str, value: Option<impl ToString>, bytes: &mut Vec<u8>) {
    if let Some(value) = value {
        bytes.extend_from_slice(b",\"");
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(b"\":");
        bytes.extend_from_slice(value.to_string().as_bytes());
    }
}

fn shape_arguments(shape: schema::table::Shape, bytes: &mut Vec<u8>) {
    let mut axes = |name: &str, axes: Option<[u64; 3]>| {
        if let Some([x, y, z]) = axes {
            bytes.extend_from_slice(format!(",\"{name}\":\"{x}x{y}x{z}\"").as_bytes());
        }
    };
    axes("work-items", shape.items);
    axes("work-group", shape.workgroup.map(|axes| axes.map(u64::from)));
    // With work-items known, work-groups follow.
    axes("work-groups", shape.groups.filter(|_| shape.items.is_none()));
    option("lds", shape.lds, bytes);
    option("scratch", shape.scratch, bytes);
}

/// A text as JSON.
fn quoted(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap_or_else(|_| b"\"\"".to_vec())
}

/// Appends a number in decimal.
#[inline]
fn digits(mut value: u64, bytes: &mut Vec<u8>) {
    let mut text = [0; 20];
    let mut at = text.len();
    loop {
        at -= 1;
        text[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    bytes.extend_from_slice(&text[at..]);
}
