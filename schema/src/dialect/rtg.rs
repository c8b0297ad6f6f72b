//! RTG's text: the `profile:` lines of HCC_PROFILE and the `HIP:`, `HSA:` and `RTX:` lines of its own format,
//! both mixed with whatever the application printed.
//!
//! Ids are line numbers from 1, one sequence over all tables, so that ops with equal starts keep the order
//! of the file. A correlation id is the packet's id plus one (packets count from 0, 0 is unknown).

mod line;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rustc_hash::FxHashMap;

use self::line::{Call, Kind, Line, Packet, Profile, Thread};
use super::reader::Reader;
use crate::content::{io, skip_byte_order_mark};
use crate::table::{
    Agent, ApiCall, ApiLaunch, Barrier, Copy, Details, Direction, Dispatch, Process, Range, RangeKind, Shape,
    Track,
};
use crate::{AgentId, Dialect, Id, NameId, ProblemKind, ProcessId, Result, Select, ShapeId, Tables, TrackId};

pub(super) const READER: Reader = Reader::Text { recognise, read };

/// Lines of the application may come before RTG's.
fn recognise(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n').any(|line| {
        [&b"HSA: pid:"[..], b"HIP: pid:", b"RTX: pid:"].iter().any(|prefix| line.starts_with(prefix))
            || line.strip_prefix(b"profile:").is_some_and(|rest| {
                let kind = rest.trim_ascii_start();
                [&b"kernel;"[..], b"barrier;", b"copy;", b"copyslo;"]
                    .iter()
                    .any(|word| kind.starts_with(word))
            })
    })
}

/// Reads line by line; a line that starts as a record and is none is a problem, all else is the application's.
fn read(path: &Path, mut reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut trace = Parser { select: *select, ..Parser::default() };
    let info = &mut trace.tables.info;
    (info.dialect, info.tool) = (Dialect::Rtg, "RTG".to_owned());
    let mut bytes = Vec::new();
    skip_byte_order_mark(&mut reader).map_err(io("read", path))?;
    for number in 1.. {
        bytes.clear();
        let count = reader.read_until(b'\n', &mut bytes).map_err(io("read", path))?;
        if count == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&bytes);
        trace.line(number, text.trim_end_matches(['\n', '\r']));
    }
    Ok(trace.tables)
}

/// The host line of a dispatch that the device reports later.
#[derive(Debug, Clone, Copy)]
struct Launch {
    tid: i64,
    shape: Option<ShapeId>,
    /// Host time in ns.
    enqueued: i64,
}

#[derive(Default)]
struct Parser {
    select: Select,
    tables: Tables,
    agents: FxHashMap<(Option<ProcessId>, i64), AgentId>,
    processes: FxHashMap<Option<i64>, ProcessId>,
    launches: FxHashMap<(ProcessId, i64), Launch>,
}

impl Parser {
    fn line(&mut self, number: Id, text: &str) {
        match line::parse(text) {
            Line::Profile(profile) => self.profile(number, &profile),
            Line::Device { from, packet, start, end } => self.device(number, from, &packet, start, end),
            Line::Host { from, packet, tick, shape } => self.host(number, from, &packet, tick, shape),
            Line::Call(call) => self.call(number, &call, 0),
            Line::Range { from, message, start, duration } => {
                self.range(number, from, message, start, duration);
            }
            Line::Malformed(place) => self.tables.problems.add(ProblemKind::BadValue, place, number),
            Line::Other => {}
        }
    }

    fn profile(&mut self, number: Id, profile: &Profile<'_>) {
        if profile.place.is_none() {
            self.tables.problems.add(ProblemKind::BadValue, "profile line #device.queue", number);
        }
        let (device, queue) = profile.place.unwrap_or_default();
        let process = self.process(None);
        let agent = self.agent(None, device, device);
        let track = self.tables.tracks.intern(Track { process, agent, queue, ..Track::default() });
        let op = self.op(number, profile.name, track, profile.start, profile.end);
        self.push(profile.kind, Copy { bytes: profile.bytes, ..op }, None);
    }

    fn device(&mut self, number: Id, from: Thread, packet: &Packet<'_>, start: i64, end: i64) {
        let process = self.process(Some(from.pid));
        let next = self.tables.agents.len() as i64;
        let agent = self.agent(Some(process), packet.agent, next);
        let queue = packet.queue.unwrap_or(0);
        let track = self.tables.tracks.intern(Track { process, agent, queue, ..Track::default() });
        let launch = packet.id.and_then(|id| self.launches.remove(&(process, id)));
        // A device line is written by a thread of the runtime; the launching one is on the host line. Copies
        // have no host line.
        let tid = match packet.kind {
            Kind::Copy => Some(from.tid),
            _ => launch.map(|launch| launch.tid),
        };
        self.tables.info.linked |= launch.is_some();
        let mut op = self.op(number, packet.name, track, start, end);
        if self.select.links {
            // Without a host line there is no call to be tied to.
            let correlation = launch.map_or(0, |_| correlation(packet));
            let details = Details::with_enqueued(launch.map(|launch| launch.enqueued));
            op = Copy { tid, correlation, details, ..op };
        }
        self.push(packet.kind, op, launch.and_then(|launch| launch.shape));
    }

    /// An op of any kind, with the values that all have: a copy has the most.
    fn op(&mut self, number: Id, name: &str, track: TrackId, start: i64, end: i64) -> Copy {
        let (id, name) = (self.id(number), self.tables.strings.intern(name));
        Copy { id, name, track, start, duration: end.checked_sub(start), ..Copy::default() }
    }

    /// Adds an op to the table of its kind.
    fn push(&mut self, kind: Kind, op: Copy, shape: Option<ShapeId>) {
        match kind {
            Kind::Kernel => self.tables.dispatches.push(Dispatch { shape, ..Dispatch::from(&op) }),
            Kind::Barrier => self.tables.barriers.push(Barrier {
                id: op.id,
                name: op.name,
                track: op.track,
                start: op.start,
                duration: op.duration,
                correlation: op.correlation,
                details: op.details,
            }),
            Kind::Copy => {
                let direction = Direction::parse(self.tables.strings.get(op.name)).unwrap_or_default();
                self.tables.copies.push(Copy { direction, ..op });
            }
        }
    }

    fn host(&mut self, number: Id, from: Thread, packet: &Packet<'_>, tick: i64, shape: Option<Shape>) {
        let process = self.process(Some(from.pid));
        if let Some(id) = packet.id {
            let shape = shape.filter(|_| self.select.any_shape());
            let shape = shape.map(|shape| self.tables.shapes.intern(shape));
            self.launches.insert((process, id), Launch { tid: from.tid, shape, enqueued: tick });
        }
        let name = if packet.kind == Kind::Kernel { "dispatch" } else { packet.name };
        let (library, args, kernel, duration, result) = ("HSA", None, None, 0, 0);
        let call = Call { from, library, name, args, kernel, start: tick, duration, result };
        self.call(number, &call, correlation(packet));
    }

    fn call(&mut self, number: Id, call: &Call<'_>, correlation: Id) {
        if !self.select.api {
            return;
        }
        let mut row = ApiCall {
            id: self.id(number),
            process: self.process(Some(call.from.pid)),
            tid: Some(call.from.tid),
            name: self.tables.strings.intern(call.name),
            domain: self.tables.strings.intern(call.library),
            category: NameId::NONE,
            args: NameId::NONE,
            start: call.start,
            duration: Some(call.duration),
            correlation,
            result: call.result,
            ..ApiCall::default()
        };
        if self.select.args {
            if let Some(args) = call.args {
                row.args = self.tables.strings.intern(args);
            }
            if let Some(kernel) = call.kernel {
                let kernel = self.tables.strings.intern(kernel);
                let call = self.tables.api_calls.len() as u32;
                let launch = ApiLaunch { call, kernel, stream: NameId::NONE, ..ApiLaunch::default() };
                self.tables.api_calls.launches.push(launch);
            }
        }
        self.tables.api_calls.push(row);
    }

    fn range(&mut self, number: Id, from: Thread, message: &str, start: i64, duration: Option<i64>) {
        let process = self.process(Some(from.pid));
        if !self.select.ranges {
            return;
        }
        let range = Range {
            id: self.id(number),
            process,
            tid: Some(from.tid),
            name: self.tables.strings.intern(message),
            category: NameId::NONE,
            kind: if duration.is_some() { RangeKind::Unknown } else { RangeKind::Marker },
            start,
            duration: duration.or(Some(0)),
            correlation: 0,
        };
        self.tables.ranges.push(range);
    }

    fn id(&self, number: Id) -> Id {
        if self.select.ids { number } else { 0 }
    }

    fn process(&mut self, pid: Option<i64>) -> ProcessId {
        let processes = &mut self.tables.processes;
        *self.processes.entry(pid).or_insert_with(|| {
            let index = processes.len() as u32;
            processes.push(Process { pid, space: index, ..Process::default() });
            ProcessId(index)
        })
    }

    /// The agent of that number: HCC_PROFILE counts devices from 0, handles are addresses within one process.
    fn agent(&mut self, process: Option<ProcessId>, source_id: i64, number: i64) -> AgentId {
        let agents = &mut self.tables.agents;
        *self.agents.entry((process, source_id)).or_insert_with(|| {
            agents.push(Agent { number, process, source_id, ..Agent::default() });
            AgentId(agents.len() as u32 - 1)
        })
    }
}

/// Packets count from 0, and 0 is unknown.
fn correlation(packet: &Packet<'_>) -> Id {
    packet.id.map_or(0, |id| id.saturating_add(1))
}
