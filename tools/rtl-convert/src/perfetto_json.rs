//! Chrome's trace event format as Perfetto reads it: complete events in microseconds with three decimals.

use rtl_schema::NameId;

use crate::arguments::{self, Argument, Value};
use crate::event::{Event, Kind};
use crate::flows::End;
use crate::gauges::Gauge;
use crate::names::Cache;
use crate::scene::{Pen, Scene};
use crate::tracks::{self, Group};

/// The events as text, and what was already said of their tracks.
pub struct Json<'a> {
    scene: &'a Scene<'a>,
    page: Vec<u8>,
    /// What stands before the next event.
    separator: &'static str,
    /// How an event begins in every lane of every track, up to its time.
    beginnings: Vec<Vec<Box<[u8]>>>,
    free_ids: Box<dyn Iterator<Item = u64>>,
    titles: Cache,
    shapes: Cache,
    symbols: Cache,
    texts: Cache,
}

impl<'a> Json<'a> {
    /// The beginning of a file: the groups with their order.
    pub fn new(scene: &'a Scene<'a>) -> Self {
        let mut json = Self {
            scene,
            page: b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".to_vec(),
            separator: "\n",
            beginnings: vec![Vec::new(); scene.tracks.len()],
            free_ids: Box::new(scene.free_ids()),
            titles: Cache::default(),
            shapes: Cache::default(),
            symbols: Cache::default(),
            texts: Cache::default(),
        };
        for (rank, &group) in scene.groups.iter().enumerate() {
            let name = quoted(&tracks::group_name(group, scene.tables));
            json.metadata("process_name", group, None, "name", &name);
            json.metadata("process_sort_index", group, None, "sort_index", rank.to_string().as_bytes());
        }
        json
    }

    /// The number of the lane's beginning; the lane is named when it is first used.
    fn lane(&mut self, track: usize, lane: usize) {
        if lane < self.beginnings[track].len() {
            return;
        }
        let at = self.scene.tracks[track];
        let own = at.tid().filter(|_| lane == 0);
        let tid = own.or_else(|| self.free_ids.next()).unwrap_or_default();
        let name = tracks::track_name(&at, self.scene.tables);
        let name = if lane == 0 { name } else { format!("{name} (overlap {lane})") };
        self.metadata("thread_name", at.group, Some(tid), "name", &quoted(&name));
        let rank = (self.scene.ranks[track] * 1000 + lane.min(999)).to_string();
        self.metadata("thread_sort_index", at.group, Some(tid), "sort_index", rank.as_bytes());
        let pid = self.scene.pid(at.group);
        let beginning = format!("\"pid\":{pid},\"tid\":{tid},\"ts\":");
        self.beginnings[track].push(beginning.into_bytes().into_boxed_slice());
    }

    fn metadata(&mut self, what: &str, group: Group, tid: Option<u64>, key: &str, value: &[u8]) {
        self.separate();
        self.text("{\"ph\":\"M\",\"pid\":");
        digits(self.scene.pid(group), &mut self.page);
        if let Some(tid) = tid {
            self.text(",\"tid\":");
            digits(tid, &mut self.page);
        }
        self.text(",\"name\":\"");
        self.text(what);
        self.text("\",\"args\":{\"");
        self.text(key);
        self.text("\":");
        self.page.extend_from_slice(value);
        self.text("}}");
    }

    fn arguments(&mut self, event: &Event) {
        self.text(",\"args\":{");
        let empty = self.page.len();
        if let Some(shape) = event.shape {
            let tables = self.scene.tables;
            let text = self.shapes.get(shape.index(), |bytes| {
                arguments::of_shape(tables.shapes.get(shape), |name, value| argument(name, value, bytes));
            });
            self.page.extend_from_slice(text);
        }
        if let Some(symbol) = event.symbol {
            let symbols = &self.scene.tables.symbols;
            let text = self.symbols.get(symbol.index(), |bytes| {
                arguments::of_symbol(&symbols[symbol.index()], |name, value| number(name, value, bytes));
            });
            self.page.extend_from_slice(text);
        }
        if let Some(direction) = arguments::direction(event) {
            argument(Argument::Direction, Value::Text(direction), &mut self.page);
        }
        arguments::of_event(event, |name, value| number(name, value, &mut self.page));
        if event.kind == Kind::Call && event.text.is_some() {
            self.call_text(Argument::Arguments, event.text);
        }
        if event.function.is_some() {
            self.call_text(Argument::Function, event.function);
        }
        // Each argument comes with the comma before it.
        if self.page.get(empty) == Some(&b',') {
            self.page.remove(empty);
        }
        self.text("}");
    }

    fn call_text(&mut self, name: Argument, text: NameId) {
        key(name, &mut self.page);
        let strings = &self.scene.tables.strings;
        let text = self.texts.get(text.index(), |bytes| *bytes = quoted(strings.get(text)));
        self.page.extend_from_slice(text);
    }

    fn separate(&mut self) {
        self.text(self.separator);
        self.separator = ",\n";
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.page.extend_from_slice(text.as_bytes());
    }

    /// Nanoseconds as microseconds with three decimals: exact, where a float would not be.
    #[inline]
    fn microseconds(&mut self, ns: u64) {
        digits(ns / 1000, &mut self.page);
        let rest = (ns % 1000) as usize;
        let [tens, ones] = PAIRS[rest % 100];
        self.page.extend_from_slice(&[b'.', b'0' + (rest / 100) as u8, tens, ones]);
    }
}

impl Pen for Json<'_> {
    fn event(&mut self, event: &Event, lane: usize, end: Option<End>) {
        let track = event.track as usize;
        self.lane(track, lane);
        self.separate();
        let marker = event.kind == Kind::Marker;
        self.text(if marker { "{\"ph\":\"i\",\"s\":\"t\"," } else { "{\"ph\":\"X\"," });
        self.page.extend_from_slice(&self.beginnings[track][lane]);
        self.microseconds(event.start.abs_diff(self.scene.span.0));
        if !marker {
            self.text(",\"dur\":");
            self.microseconds(event.duration.unsigned_abs());
        }
        self.text(",\"cat\":\"");
        self.text(event.kind.category());
        self.text("\",\"name\":");
        let titles = &self.scene.titles;
        let number = titles.number(event);
        self.page.extend_from_slice(self.titles.get(number, |bytes| *bytes = quoted(&titles.text(number))));
        if let Some(end) = end {
            let (call, direction) = match end {
                End::Leaves { call, .. } => (call, ",\"flow_out\":true"),
                End::Arrives { call, .. } => (call, ",\"flow_in\":true"),
            };
            self.text(",\"bind_id\":");
            digits(u64::from(call), &mut self.page);
            self.text(direction);
        }
        if self.scene.arguments {
            self.arguments(event);
        }
        self.text("}");
    }

    fn gauge(&mut self, gauge: &Gauge) {
        let name = quoted(&gauge.name);
        let unit = quoted(if gauge.unit.is_empty() { "value" } else { gauge.unit });
        for &(time, value) in &gauge.samples {
            self.separate();
            self.text("{\"ph\":\"C\",\"pid\":");
            digits(self.scene.pid(gauge.group), &mut self.page);
            self.text(",\"ts\":");
            self.microseconds(time.abs_diff(self.scene.span.0));
            self.text(",\"name\":");
            self.page.extend_from_slice(&name);
            self.text(",\"args\":{");
            self.page.extend_from_slice(&unit);
            self.text(&format!(":{value}}}}}"));
        }
    }

    fn close(&mut self) {
        self.text("\n]}\n");
    }

    fn page(&mut self) -> &mut Vec<u8> {
        &mut self.page
    }
}

/// An argument, with the comma before it.
fn argument(name: Argument, value: Value<'_>, bytes: &mut Vec<u8>) {
    match value {
        Value::Number(value) => number(name, value, bytes),
        Value::Text(text) => {
            key(name, bytes);
            bytes.extend_from_slice(&quoted(text));
        }
    }
}

#[inline]
fn number(name: Argument, value: i64, bytes: &mut Vec<u8>) {
    key(name, bytes);
    if value < 0 {
        bytes.push(b'-');
    }
    digits(value.unsigned_abs(), bytes);
}

#[inline]
fn key(name: Argument, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(name.label().as_bytes());
    bytes.extend_from_slice(b"\":");
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
    while value >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    let pair = PAIRS[value as usize];
    at -= 2;
    text[at..at + 2].copy_from_slice(&pair);
    at += usize::from(value < 10);
    bytes.extend_from_slice(&text[at..]);
}

/// Every number of two digits: a division less for each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_decimal() {
        for value in [0, 7, 9, 10, 42, 99, 100, 101, 999, 1_000, 123_456_789, u64::MAX] {
            let mut bytes = Vec::new();
            digits(value, &mut bytes);
            assert_eq!(String::from_utf8(bytes).unwrap(), value.to_string());
        }
    }
}
