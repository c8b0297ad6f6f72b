//! roctracer's text files: hip_api_trace.txt, hsa_api_trace.txt, hcc_ops_trace.txt, async_copy_trace.txt, roctx_trace.txt, and
//! rocprof's results.txt. rocprof puts the process id before their names.

use std::io::{BufRead, BufReader};

use rustc_hash::FxHashMap;

use super::line::{Line, field, parse};
use super::rows::{Annotation, Call, Kind, Op, Rows};
use crate::content::{io, skip_byte_order_mark};
use crate::input::Input;
use crate::layout::tags::COMPLETE;
use crate::table::{Counter, Direction, RangeKind};
use crate::{Dialect, Id, ProblemKind, Result, Select, Tables};

pub(super) fn recognise(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    std::str::from_utf8(first)
        .ok()
        .and_then(|line| parse(line.trim_end()))
        .is_some_and(|line| !matches!(line, Line::Counter { .. }))
}

/// Actions of ranges.
const MARK: i64 = 0;
const PUSH: i64 = 1;
const POP: i64 = 2;
const START: i64 = 3;
const STOP: i64 = 4;

/// A range that is open: its row, start and text.
struct Open {
    id: Id,
    start: i64,
    name: String,
    tid: i64,
}

#[derive(Default)]
struct Reading {
    rows: Rows,
    id: Id,
    pushed: FxHashMap<(i64, i64), Vec<Open>>,
    started: FxHashMap<(i64, i64), Open>,
    /// The dispatch that counters follow.
    dispatch: Option<Counter>,
}

pub(super) fn read(files: &[Input], select: &Select) -> Result<Tables> {
    let mut reading = Reading { rows: Rows::new(select), ..Reading::default() };
    for file in files {
        let failed = io("read", file.path());
        let mut reader = BufReader::with_capacity(1 << 20, file.reader()?);
        skip_byte_order_mark(&mut reader).map_err(&failed)?;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if reader.read_until(b'\n', &mut bytes).map_err(&failed)? == 0 {
                break;
            }
            reading.id += 1;
            let text = String::from_utf8_lossy(&bytes);
            if !text.ends_with('\n') {
                reading.cut_off();
            }
            reading.line(text.trim_end_matches(['\n', '\r']));
        }
    }
    Ok(reading.finish())
}

impl Reading {
    fn cut_off(&mut self) {
        let metadata = &mut self.rows.tables.info.metadata;
        if !metadata.iter().any(|(tag, _)| tag == COMPLETE) {
            metadata.push((COMPLETE.to_owned(), "0".to_owned()));
        }
    }

    fn line(&mut self, text: &str) {
        let id = self.id;
        match parse(text) {
            Some(Line::Call { begin, end, pid, tid, call }) => {
                let domain = if call.name.starts_with("hip") {
                    "HIP"
                } else if call.name.starts_with("hsa") {
                    "HSA"
                } else {
                    "KFD"
                };
                self.rows.call(&Call {
                    id,
                    domain,
                    name: call.name,
                    args: call.args,
                    kernel: call.kernel,
                    pid: Some(pid),
                    tid: Some(tid),
                    start: begin,
                    end: Some(end),
                    correlation: call.correlation,
                    result: call.result,
                });
            }
            Some(Line::Op { begin, end, device, queue, name, correlation, pid }) => {
                let op = Op {
                    id,
                    name,
                    pid: Some(pid),
                    device: Some(device),
                    queue,
                    start: begin,
                    end: Some(end),
                    correlation,
                    ..Op::default()
                };
                self.rows.op(kind(name), &op);
            }
            Some(Line::Copy { begin, end, correlation, pid }) => {
                let op = Op {
                    id,
                    name: "async-copy",
                    pid: Some(pid),
                    start: begin,
                    end: Some(end),
                    correlation,
                    ..Op::default()
                };
                self.rows.op(Kind::Copy, &op);
            }
            Some(Line::Range { at, pid, tid, action, id: range, message }) => {
                self.range(at, (pid, tid), action, range, message)
            }
            Some(Line::Dispatch { index, fields, kernel, times }) => {
                self.dispatch(index, fields, kernel, times)
            }
            Some(Line::Counter { name, value }) => {
                self.rows.tables.info.counters = true;
                if let Some(counter) = self.dispatch.filter(|_| self.rows.select.secondary) {
                    let name = self.rows.tables.strings.intern(name);
                    self.rows.tables.counters.push(Counter { name, value, ..counter });
                }
            }
            None if text.trim().is_empty() => {}
            None => self.rows.tables.problems.add(ProblemKind::BadValue, "line", id),
        }
    }

    fn dispatch(&mut self, index: Id, fields: &str, kernel: &str, times: Option<[i64; 4]>) {
        let number = |name| field(fields, name);
        let size = |name| number(name).and_then(|value| u32::try_from(value).ok());
        let (pid, device) = (number("pid"), Some(number("gpu-id").unwrap_or(0)));
        let process = self.rows.process(pid);
        let agent = Some(self.rows.agent(device));
        self.dispatch = Some(Counter { dispatch: index, process, agent, ..Counter::default() });
        let Some([enqueued, begin, end, _]) = times else {
            self.rows.tables.problems.add(ProblemKind::MissingStart, "dispatch time", self.id);
            return;
        };
        self.rows.op(
            Kind::Kernel,
            &Op {
                id: index,
                name: kernel,
                pid,
                tid: number("tid"),
                device,
                queue: number("queue-id").unwrap_or(0),
                start: begin,
                end: Some(end),
                enqueued: Some(enqueued),
                lds: size("lds"),
                scratch: size("scr"),
                sgprs: size("sgpr"),
                vgprs: size("arch_vgpr").or_else(|| size("vgpr")),
                agprs: size("accum_vgpr"),
                ..Op::default()
            },
        );
    }

    fn range(&mut self, at: i64, (pid, tid): (i64, i64), action: i64, range: i64, message: &str) {
        let id = self.id;
        let open = || Open { id, start: at, name: message.to_owned(), tid };
        let closed = match action {
            MARK => {
                let kind = RangeKind::Marker;
                let marker = Annotation {
                    id,
                    name: message,
                    pid: Some(pid),
                    tid: Some(tid),
                    kind,
                    start: at,
                    end: Some(at),
                };
                return self.rows.annotation(&marker);
            }
            PUSH => return self.pushed.entry((pid, tid)).or_default().push(open()),
            START => {
                if let Some(open) = self.started.insert((pid, range), open()) {
                    self.add(pid, &open, RangeKind::Process, None);
                }
                return;
            }
            POP => self.pushed.get_mut(&(pid, tid)).and_then(Vec::pop).map(|open| (open, RangeKind::Thread)),
            STOP => self.started.remove(&(pid, range)).map(|open| (open, RangeKind::Process)),
            _ => None,
        };
        match closed {
            Some((open, kind)) => self.add(pid, &open, kind, Some(at)),
            None => self.rows.tables.problems.add(ProblemKind::DanglingReference, "roctx range", id),
        }
    }

    fn add(&mut self, pid: i64, open: &Open, kind: RangeKind, end: Option<i64>) {
        let Open { id, start, name, tid } = open;
        let (pid, tid) = (Some(pid), Some(*tid));
        self.rows.annotation(&Annotation { id: *id, name, pid, tid, kind, start: *start, end });
    }

    /// The tables; ranges that were never closed have no end.
    fn finish(mut self) -> Tables {
        let pushed = std::mem::take(&mut self.pushed).into_iter();
        let mut open: Vec<_> = pushed
            .flat_map(|((pid, _), ranges)| {
                ranges.into_iter().map(move |range| (pid, range, RangeKind::Thread))
            })
            .collect();
        let started = std::mem::take(&mut self.started).into_iter();
        open.extend(started.map(|((pid, _), range)| (pid, range, RangeKind::Process)));
        open.sort_by_key(|(_, range, _)| range.id);
        for (pid, range, kind) in open {
            self.add(pid, &range, kind, None);
        }
        let mut tables = self.rows.finish(Dialect::Roctracer);
        tables.info.tool = "roctracer".to_owned();
        tables
    }
}

/// Roctracer names an op by its kind, except a kernel, which has a name of its own.
fn kind(name: &str) -> Kind {
    let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_transfer = ["Copy", "Fill", "Memcpy", "Memset"].iter().any(|word| name.starts_with(word));
    match Direction::parse(name) {
        Some(direction) if is_word && is_transfer && direction != Direction::Unknown => Kind::Copy,
        _ if name == "Marker" || name == "<barrier packet>" => Kind::Barrier,
        _ => Kind::Kernel,
    }
}
