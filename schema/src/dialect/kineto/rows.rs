//! From events to rows. Times are relative to the base time of their document, tracks have positions in place of
//! processes and agents, until [`super::resolve`] completes them.

use rustc_hash::FxHashMap;

use super::arrows::Arrows;
use super::category::Category;
use super::event::Event;
use super::process_names::ProcessNames;
use super::scalar::{axes, bare, nanoseconds, number, text, unsigned, whole};
use super::scan::Raw;
use super::sources::{Sources, StatedCollectives};
use crate::table::{
    ApiCall, Copy, Direction, Dispatch, Operator, PythonFrame, Range, RangeKind, Shape, Symbol, Track, Tracks,
};
use crate::{Id, NameId, ProblemKind, ProcessId, Select, ShapeId, SymbolId, Tables};

/// The most categories without a table that are counted apart.
const MOST_CATEGORIES: usize = 100;

/// The number of rows of each table at the beginning of a document.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) dispatches: usize,
    pub(super) copies: usize,
    pub(super) calls: usize,
    pub(super) operators: usize,
    pub(super) python_frames: usize,
    pub(super) ranges: usize,
    pub(super) memory_events: usize,
    pub(super) spans: usize,
    pub(super) symbols: usize,
}

/// Parts of the document that is read which complete its rows.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) marks: Marks,
    pub(super) sources: Sources,
    pub(super) tracks: Tracks,
    pub(super) arrows: Arrows,
    /// Base time in ns, where it is stated.
    pub(super) base: Option<i64>,
    /// `deviceProperties` and `distributedInfo`.
    pub(super) devices: Option<serde_json::Value>,
    pub(super) job: Option<serde_json::Value>,
    /// Correlation ids of calls with their process.
    pub(super) calls: Vec<(Id, ProcessId)>,
    /// Launch shapes and sizes that calls state, by correlation id.
    pub(super) call_shapes: Vec<(Id, ShapeId)>,
    pub(super) call_sizes: Vec<(Id, u64)>,
    /// Collectives that operators state.
    pub(super) collectives: StatedCollectives,
    pub(super) names: ProcessNames,
    /// Process id, thread id and name of threads.
    pub(super) threads: Vec<(Option<i64>, i64, String)>,
    /// The span of the recording, relative.
    pub(super) recording: Option<(i64, i64)>,
    symbols: FxHashMap<(NameId, u32), SymbolId>,
}

/// The tables of the documents that are read, and what is left to do.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) select: Select,
    pub(super) tables: Tables,
    pub(super) open: Open,
    /// The number of events so far: ids are positions from 1.
    pub(super) events: Id,
    /// Events without a table, by category.
    pub(super) others: Vec<(String, u64)>,
}

impl Rows {
    pub(super) fn new(select: Select) -> Self {
        Self { select, ..Self::default() }
    }

    #[inline]
    pub(super) fn add(&mut self, event: &Event<'_>) {
        self.events += 1;
        let category = Category::of(event);
        match category {
            Category::Other => return self.count(event),
            Category::Arrow => {
                self.open.arrows.add(event);
                return self.count(event);
            }
            Category::Thread => return self.thread(event),
            Category::Process => {
                self.open.names.add(event);
                return self.count(event);
            }
            _ => {}
        }
        let Some(start) = nanoseconds(event.start) else {
            self.tables.problems.add(ProblemKind::MissingStart, "traceEvents.ts", self.events);
            return;
        };
        let duration = if event.duration.is_empty() { None } else { self.duration(event) };
        match category {
            Category::Kernel => self.dispatch(event, start, duration),
            Category::Copy => self.copy(event, start, duration),
            Category::Call => self.call(event, start, duration),
            Category::Operator => self.operator(event, start, duration),
            Category::PythonFrame => self.python_frame(event, start, duration),
            Category::Annotation => self.range(event, start, duration),
            Category::Memory => self.memory(event, start),
            Category::Span(kind) => self.span(event, kind, start, duration),
            Category::Recording => {
                let end = start.saturating_add(duration.unwrap_or(0));
                let (first, last) = self.open.recording.unwrap_or((start, end));
                self.open.recording = Some((first.min(start), last.max(end)));
                self.count(event);
            }
            Category::Other | Category::Arrow | Category::Thread | Category::Process => {}
        }
    }

    #[inline]
    fn duration(&mut self, event: &Event<'_>) -> Option<i64> {
        let duration = nanoseconds(event.duration);
        if duration.is_none() {
            self.tables.problems.add(ProblemKind::BadValue, "traceEvents.dur", self.events);
        }
        duration
    }

    /// Counts an event without a table.
    fn count(&mut self, event: &Event<'_>) {
        let category = match (bare(event.category), bare(event.phase)) {
            (b"", b"M") => b"metadata",
            (b"", _) => bare(event.name),
            (category, _) => category,
        };
        let known = self.others.iter().position(|(name, _)| name.as_bytes() == category);
        let position = known.unwrap_or_else(|| {
            // Of a file with a category for each event, the rest is counted together.
            if self.others.len() < MOST_CATEGORIES {
                self.others.push((String::from_utf8_lossy(category).into_owned(), 0));
            }
            self.others.len() - 1
        });
        self.others[position].1 += 1;
    }

    fn thread(&mut self, event: &Event<'_>) {
        if let (Some(tid), Some(name)) = (number(event.tid), text(event.arguments.name))
            && self.open.threads.len() < 1 << 16
        {
            self.open.threads.push((number(event.pid), tid, name.trim().to_owned()));
        }
        self.count(event);
    }

    pub(super) fn id(&self) -> Id {
        if self.select.ids { self.events } else { 0 }
    }

    #[inline]
    pub(super) fn name(&mut self, raw: Raw<'_>) -> NameId {
        text(raw).map_or(NameId::NONE, |text| self.tables.strings.intern(&text))
    }

    /// The text of a value of any kind, where it is selected and there.
    #[inline]
    pub(super) fn verbatim(&mut self, raw: Raw<'_>, is_selected: bool) -> NameId {
        if !is_selected || raw.is_empty() {
            return NameId::NONE;
        }
        self.tables.strings.intern(&String::from_utf8_lossy(raw))
    }

    #[inline]
    pub(super) fn process(&mut self, event: &Event<'_>) -> ProcessId {
        let processes = &mut self.tables.processes;
        self.open.sources.process(event, || {
            processes.push(crate::table::Process::default());
            ProcessId(processes.len() as u32 - 1)
        })
    }

    #[inline]
    fn track(&mut self, event: &Event<'_>) -> crate::TrackId {
        let agent = self.open.sources.place(event);
        let stream = number(event.arguments.stream).or_else(|| number(event.tid));
        let queue = stream.unwrap_or(0);
        self.open.tracks.intern(Track { process: ProcessId(0), agent, queue, stream, hardware_queue: None })
    }

    /// The correlation id of an op, 0 where it states none.
    #[inline]
    fn correlation(&mut self, event: &Event<'_>) -> Id {
        let correlation = whole(event.arguments.correlation).unwrap_or(0);
        self.open.arrows.saw(correlation);
        correlation
    }

    fn shape(&mut self, event: &Event<'_>) -> Option<ShapeId> {
        if !self.select.any_shape() {
            return None;
        }
        let (groups, workgroup) = (axes(event.arguments.grid), axes(event.arguments.block));
        let lds = unsigned(event.arguments.shared);
        let shape = match (workgroup, groups) {
            (Some(workgroup), Some(groups)) => Shape { lds, ..Shape::from_groups(workgroup, groups) },
            _ if lds.is_some() => Shape { lds, ..Shape::default() },
            _ => return None,
        };
        Some(self.tables.shapes.intern(shape))
    }

    fn symbol(&mut self, event: &Event<'_>, name: NameId) -> Option<SymbolId> {
        let registers: u32 = unsigned(event.arguments.registers).filter(|_| self.select.launch)?;
        let symbols = &mut self.tables.symbols;
        Some(*self.open.symbols.entry((name, registers)).or_insert_with(|| {
            let id = symbols.len() as Id + 1;
            symbols.push(Symbol {
                id,
                name,
                mangled: NameId::NONE,
                vgprs: Some(registers),
                ..Symbol::default()
            });
            SymbolId(symbols.len() as u32 - 1)
        }))
    }

    fn dispatch(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let name = self.name(event.name);
        let graph = [event.arguments.graph, event.arguments.graph_node];
        let dispatch = Dispatch {
            id: self.id(),
            name,
            track: self.track(event),
            start,
            duration,
            correlation: self.correlation(event),
            shape: self.shape(event),
            symbol: self.symbol(event, name),
            graph: graph.into_iter().any(|id| whole(id).is_some_and(|id| id != 0)),
            collective: self.collective(event),
            ..Dispatch::default()
        };
        if dispatch.collective.is_none() {
            self.open_collective(event);
        }
        self.tables.dispatches.push(dispatch);
    }

    fn copy(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let is_fill = matches!(bare(event.category), b"gpu_memset" | b"Memset");
        let name = self.name(event.name);
        let copy = Copy {
            id: self.id(),
            name,
            track: self.track(event),
            start,
            duration,
            direction: if is_fill { Direction::Fill } else { direction(self.tables.strings.get(name)) },
            bytes: unsigned::<i64>(event.arguments.bytes)
                .filter(|&bytes| bytes >= 0)
                .map(|bytes| bytes as u64),
            correlation: self.correlation(event),
            ..Copy::default()
        };
        self.tables.copies.push(copy);
    }

    fn call(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let process = self.process(event);
        let correlation = whole(event.arguments.correlation).unwrap_or(0);
        if correlation != 0 {
            self.open.calls.push((correlation, process));
            if !event.arguments.grid.is_empty()
                && let Some(shape) = self.shape(event)
            {
                self.open.call_shapes.push((correlation, shape));
            }
            if let Some(size) = whole(event.arguments.size).and_then(|size| u64::try_from(size).ok()) {
                self.open.call_sizes.push((correlation, size));
            }
        }
        if !self.select.api {
            return;
        }
        let is_hip = event.name.starts_with(b"\"hip");
        let domain = if is_hip { self.tables.strings.intern("hip") } else { self.name(event.category) };
        let call = ApiCall {
            id: self.id(),
            process,
            tid: event.thread(),
            name: self.name(event.name),
            domain,
            category: NameId::NONE,
            args: self.verbatim(event.all_arguments, self.select.args),
            start,
            duration,
            correlation,
            stream: if is_hip { None } else { number(event.arguments.stream) },
            ..ApiCall::default()
        };
        self.tables.api_calls.push(call);
    }

    fn operator(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let process = self.process(event);
        self.state_collective(event);
        if !self.select.operators {
            return;
        }
        let operator = Operator {
            id: self.id(),
            process,
            tid: event.thread(),
            name: self.name(event.name),
            start,
            duration,
            shapes: self.verbatim(event.arguments.dims, true),
            types: self.verbatim(event.arguments.types, true),
            strides: self.verbatim(event.arguments.strides, self.select.args),
            values: self.verbatim(event.arguments.values, self.select.args),
            sequence: unsigned(event.arguments.sequence),
            forward_thread: unsigned(event.arguments.forward).unwrap_or(0),
        };
        self.tables.operators.push(operator);
    }

    fn python_frame(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let process = self.process(event);
        if !self.select.python {
            return;
        }
        let arguments = &event.arguments;
        let frame = PythonFrame {
            id: self.id(),
            process,
            tid: event.thread(),
            name: self.name(event.name),
            start,
            duration,
            number: unsigned(arguments.python),
            caller: unsigned(arguments.python_caller),
            module: unsigned(arguments.python_module),
        };
        self.tables.python_frames.push(frame);
    }

    fn range(&mut self, event: &Event<'_>, start: i64, duration: Option<i64>) {
        let process = self.process(event);
        if !self.select.ranges {
            return;
        }
        let mut name = self.name(event.name);
        let mut category = NameId::NONE;
        // The steps of a run are ranges of one name.
        if let Some(step) = event.name.strip_prefix(b"\"ProfilerStep#")
            && step.strip_suffix(b"\"").is_some_and(|number| number.iter().all(u8::is_ascii_digit))
        {
            category = name;
            name = self.tables.strings.intern("ProfilerStep");
        }
        let (id, tid) = (self.id(), event.thread());
        let kind = RangeKind::Thread;
        self.tables.ranges.push(Range {
            id,
            process,
            tid,
            name,
            category,
            kind,
            start,
            duration,
            correlation: 0,
        });
    }
}

/// The direction in a name as `Memcpy DtoH (Device -> Pinned)`.
fn direction(name: &str) -> Direction {
    const WORDS: [(&str, Direction); 6] = [
        ("HtoD", Direction::HostToDevice),
        ("DtoH", Direction::DeviceToHost),
        ("DtoD", Direction::DeviceToDevice),
        ("PtoP", Direction::DeviceToDevice),
        ("HtoH", Direction::HostToHost),
        ("HtoA", Direction::HostToDevice),
    ];
    let found = WORDS.iter().find(|(word, _)| name.contains(word));
    found.map_or_else(|| Direction::parse(name).unwrap_or_default(), |&(_, direction)| direction)
}
