//! `*.xplane.pb`: a message `XSpace` of planes, which have lines of events, and tables of names.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use rustc_hash::FxHashMap;

use super::rows::{Event, Line, Rows};
use super::wire::{Fields, Value};
use crate::content::io;
use crate::layout::tags::COMPLETE;
use crate::{Dialect, Error, ProblemKind, Result, Select, Tables};

/// The names of planes begin like this.
const PLANES: [&[u8]; 4] = [b"/host:", b"/device:", b"Task Environment", b"/task:"];

pub(super) fn recognise(head: &[u8]) -> bool {
    let Some((b"\x0a", rest)) = head.split_at_checked(1) else { return false };
    let length = rest.iter().take(10).take_while(|byte| **byte >= 0x80).count() + 1;
    let name = Fields::new(rest.get(length..).unwrap_or_default()).take(4).find(|(field, _)| *field == 2);
    name.is_some_and(|(_, name)| PLANES.iter().any(|plane| name.bytes().starts_with(plane)))
}

pub(super) fn read(path: &Path, mut reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(io("read", path))?;
    let mut rows = Rows::new(select);
    let mut id = 0;
    let mut space = Fields::new(&bytes);
    let mut is_cut = false;
    let mut planes = 0;
    for (field, value) in space.by_ref() {
        match field {
            1 => {
                is_cut |= plane(value.bytes(), &mut rows, &mut id);
                planes += 1;
            }
            4 => rows.tables().processes[0].host = Some(text(value).into_owned()),
            _ => {}
        }
    }
    if planes == 0 {
        return Err(Error::Damaged { path: path.to_owned(), detail: "no plane before its end".to_owned() });
    }
    if is_cut || space.is_cut() {
        rows.tables().info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
    }
    Ok(rows.finish(Dialect::Xplane))
}

fn text(value: Value<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(value.bytes())
}

/// The names that the events of a plane refer to.
#[derive(Default)]
struct Names<'a> {
    events: FxHashMap<i64, Cow<'a, str>>,
    statistics: FxHashMap<i64, Cow<'a, str>>,
}

impl<'a> Names<'a> {
    /// Adds an entry of a table: its key, and a message with the name.
    fn add(names: &mut FxHashMap<i64, Cow<'a, str>>, entry: &'a [u8]) {
        let (mut key, mut name) = (0, None);
        for (field, value) in Fields::new(entry) {
            match field {
                1 => key = value.int(),
                2 => name = Fields::new(value.bytes()).find(|(field, _)| *field == 2),
                _ => {}
            }
        }
        names.insert(key, name.map_or(Cow::Borrowed(""), |(_, name)| text(name)));
    }

    /// The name and value of a statistic; a text may be that of another statistic's name.
    fn statistic<'s>(&'s self, message: &'s [u8]) -> Option<(&'s str, Statistic<'s>)> {
        let (mut name, mut statistic) = (None, None);
        for (field, value) in Fields::new(message) {
            match field {
                1 => name = self.statistics.get(&value.int()),
                3 | 4 => statistic = Some(Statistic::Whole(value.int())),
                5 => statistic = Some(Statistic::Text(text(value))),
                7 => statistic = Some(Statistic::Text(Cow::Borrowed(self.statistics.get(&value.int())?))),
                _ => {}
            }
        }
        Some((name?, statistic?))
    }
}

/// The value of a statistic.
enum Statistic<'a> {
    Whole(i64),
    Text(Cow<'a, str>),
}

impl Statistic<'_> {
    fn int(&self) -> i64 {
        match self {
            Self::Whole(value) => *value,
            Self::Text(text) => text.parse().unwrap_or(0),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Text(text) => text.clone().into_owned(),
        }
    }
}

/// Adds the events of a plane; returns whether it ends early. Names may come behind the lines that need them.
fn plane(message: &[u8], rows: &mut Rows, id: &mut i64) -> bool {
    let mut names = Names::default();
    let mut name = Cow::Borrowed("");
    for (field, value) in Fields::new(message) {
        match field {
            2 => name = text(value),
            4 => Names::add(&mut names.events, value.bytes()),
            5 => Names::add(&mut names.statistics, value.bytes()),
            _ => {}
        }
    }
    let gpu = name.strip_prefix("/device:GPU:").and_then(|number| number.parse().ok());
    let mut fields = Fields::new(message);
    let mut is_cut = false;
    for (field, value) in fields.by_ref() {
        match field {
            3 => is_cut |= line(value.bytes(), &name, &names, rows, id),
            6 => {
                let Some((statistic, value)) = names.statistic(value.bytes()) else { continue };
                match (gpu, statistic) {
                    (Some(gpu), "gpu_device_name") => rows.gpu(gpu).product = Some(value.text()),
                    (None, "process_id") if name == "/host:CPU" => rows.set_pid(value.int()),
                    _ if name == "Task Environment" || name == "/host:metadata" => {
                        let metadata = &mut rows.tables().info.metadata;
                        metadata.push((statistic.to_owned(), value.text()));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if let Some(gpu) = gpu {
        rows.gpu(gpu);
    }
    is_cut || fields.is_cut()
}

/// Adds the events of a line; returns whether it ends early.
fn line(message: &[u8], plane: &str, names: &Names<'_>, rows: &mut Rows, id: &mut i64) -> bool {
    let (mut number, mut name, mut base) = (0, Cow::Borrowed(""), 0);
    for (field, value) in Fields::new(message) {
        match field {
            1 => number = value.int(),
            2 => name = text(value),
            3 => base = value.int(),
            _ => {}
        }
    }
    let Some(line) = Line::of(plane, &name, number) else { return false };
    if let Line::Thread { tid } = line {
        rows.thread(tid, &name);
    }
    let mut fields = Fields::new(message);
    let mut is_cut = false;
    for (_, value) in fields.by_ref().filter(|(field, _)| *field == 4) {
        *id += 1;
        is_cut |= event(value.bytes(), &line, base, names, rows, *id);
    }
    is_cut || fields.is_cut()
}

/// Adds an event; returns whether it ends early. One that counts occurrences has no time.
fn event(message: &[u8], line: &Line<'_>, base: i64, names: &Names<'_>, rows: &mut Rows, id: i64) -> bool {
    let (mut name, mut offset, mut duration) = (None, None, None);
    let (mut correlation, mut step) = (0, None);
    let [mut kernel, mut copy, mut fill] = [None, None, None];
    let mut fields = Fields::new(message);
    for (field, value) in fields.by_ref() {
        match field {
            1 => name = names.events.get(&value.int()),
            2 => offset = Some(value.int()),
            3 => duration = Some(nanoseconds(value.int())),
            4 => match names.statistic(value.bytes()) {
                Some(("correlation_id", value)) => correlation = value.int(),
                Some(("step_num", value)) => step = Some(value.int()),
                Some(("kernel_details", value)) => kernel = Some(value.text()),
                Some(("memcpy_details", value)) => copy = Some(value.text()),
                Some(("Memset_details" | "memset_details", value)) => fill = Some(value.text()),
                _ => {}
            },
            5 => return fields.is_cut(),
            _ => {}
        }
    }
    if name.is_none() {
        rows.tables().problems.add(ProblemKind::DanglingName, "XEvent.metadata_id", id);
    }
    rows.add(
        line,
        &Event {
            id,
            name: name.map_or("", AsRef::as_ref),
            start: base.saturating_add(nanoseconds(offset.unwrap_or(0))),
            duration: Some(duration.unwrap_or(0)),
            correlation,
            kernel: kernel.as_deref(),
            copy: copy.as_deref(),
            fill: fill.as_deref(),
            step,
        },
    );
    fields.is_cut()
}

/// Picoseconds as nanoseconds, rounded half up.
fn nanoseconds(picoseconds: i64) -> i64 {
    picoseconds.div_euclid(1000) + i64::from(picoseconds.rem_euclid(1000) >= 500)
}
