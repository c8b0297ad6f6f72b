//! Chrome's trace event format as Perfetto reads it: complete events in microseconds with three decimals.

use rtl_schema::NameId;

use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::event_args::{self, ArgValue, EventArg};
use crate::flows::End;
use crate::format::Format;
use crate::layout::{EventWriter, TimelineLayout};
use crate::names::RenderCache;
use crate::text;
use crate::tracks::{self, TrackGroup};
use crate::viewer;

/// The format.
pub const FORMAT: Format = Format {
    name: "perfetto-json",
    aliases: &["json", "chrome", "perfetto"],
    help: "Chrome's and Perfetto's JSON",
    endings: &[".json", ".json.gz"],
    default_ending: ".json.gz",
    partitioned: false,
    write: |job| {
        viewer::write(job, |drawing| {
            let layout = drawing.layout;
            drawing.write(Json::new(layout))
        })
    },
};

/// Renders events as JSON.
pub struct Json<'a> {
    layout: &'a TimelineLayout<'a>,
    page: Vec<u8>,
    /// The text before the next event.
    separator: &'static str,
    /// The fields of an event up to its time, by track and lane.
    beginnings: Vec<Vec<Box<[u8]>>>,
    free_ids: Box<dyn Iterator<Item = u64>>,
    event_names: RenderCache,
    shapes: RenderCache,
    symbols: RenderCache,
    texts: RenderCache,
}

impl<'a> Json<'a> {
    /// Begins the file with the groups in their order.
    pub fn new(layout: &'a TimelineLayout<'a>) -> Self {
        let mut json = Self {
            layout,
            page: b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".to_vec(),
            separator: "\n",
            beginnings: vec![Vec::new(); layout.tracks.len()],
            free_ids: Box::new(layout.free_ids()),
            event_names: RenderCache::default(),
            shapes: RenderCache::default(),
            symbols: RenderCache::default(),
            texts: RenderCache::default(),
        };
        for (rank, &group) in layout.groups.iter().enumerate() {
            let name = quoted(&tracks::group_name(group, layout.tables));
            json.metadata("process_name", group, None, "name", &name);
            json.metadata("process_sort_index", group, None, "sort_index", rank.to_string().as_bytes());
        }
        json
    }

    /// Names a lane at its first use.
    fn lane(&mut self, track: usize, lane: usize) {
        if lane < self.beginnings[track].len() {
            return;
        }
        let at = self.layout.tracks[track];
        let own = at.tid().filter(|_| lane == 0);
        let tid = own.or_else(|| self.free_ids.next()).unwrap_or_default();
        let name = tracks::track_name(&at, self.layout.tables);
        let name = if lane == 0 { name } else { format!("{name} (overlap {lane})") };
        self.metadata("thread_name", at.group, Some(tid), "name", &quoted(&name));
        let rank = (self.layout.ranks[track] * 1000 + lane.min(999)).to_string();
        self.metadata("thread_sort_index", at.group, Some(tid), "sort_index", rank.as_bytes());
        let pid = self.layout.pid(at.group);
        let beginning = format!("\"pid\":{pid},\"tid\":{tid},\"ts\":");
        self.beginnings[track].push(beginning.into_bytes().into_boxed_slice());
    }

    fn metadata(&mut self, what: &str, group: TrackGroup, tid: Option<u64>, key: &str, value: &[u8]) {
        self.separate();
        self.text("{\"ph\":\"M\",\"pid\":");
        text::number(self.layout.pid(group), &mut self.page);
        if let Some(tid) = tid {
            self.text(",\"tid\":");
            text::number(tid, &mut self.page);
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
            let tables = self.layout.tables;
            let text = self.shapes.get(shape.index(), |bytes| {
                event_args::of_shape(tables.shapes.get(shape), |name, value| argument(name, value, bytes));
            });
            self.page.extend_from_slice(text);
        }
        if let Some(symbol) = event.symbol {
            let symbols = &self.layout.tables.symbols;
            let text = self.symbols.get(symbol.index(), |bytes| {
                event_args::of_symbol(&symbols[symbol.index()], |name, value| number(name, value, bytes));
            });
            self.page.extend_from_slice(text);
        }
        if let Some(direction) = event_args::direction(event) {
            argument(EventArg::Direction, ArgValue::Text(direction), &mut self.page);
        }
        event_args::of_event(event, |name, value| number(name, value, &mut self.page));
        if event.kind == Kind::Call && event.text.is_some() {
            self.call_text(EventArg::Arguments, event.text);
        }
        if event.function.is_some() {
            self.call_text(EventArg::Function, event.function);
        }
        // Each argument has a comma before it.
        if self.page.get(empty) == Some(&b',') {
            self.page.remove(empty);
        }
        self.text("}");
    }

    fn call_text(&mut self, name: EventArg, text: NameId) {
        key(name, &mut self.page);
        let strings = &self.layout.tables.strings;
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

    /// Nanoseconds as microseconds with three decimals: exact, unlike a float.
    #[inline]
    fn microseconds(&mut self, ns: u64) {
        text::number(ns / 1000, &mut self.page);
        let rest = (ns % 1000) as u32;
        let digit = |unit: u32| b'0' + (rest / unit % 10) as u8;
        self.page.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
    }
}

impl EventWriter for Json<'_> {
    fn event(&mut self, event: &Event, lane: usize, end: Option<End>) {
        let track = event.track as usize;
        self.lane(track, lane);
        self.separate();
        let marker = event.kind == Kind::Marker;
        self.text(if marker { "{\"ph\":\"i\",\"s\":\"t\"," } else { "{\"ph\":\"X\"," });
        self.page.extend_from_slice(&self.beginnings[track][lane]);
        self.microseconds(event.start.abs_diff(self.layout.span.0));
        if !marker {
            self.text(",\"dur\":");
            self.microseconds(event.duration.unsigned_abs());
        }
        self.text(",\"cat\":\"");
        self.text(event.kind.label());
        self.text("\",\"name\":");
        let event_names = &self.layout.event_names;
        let number = event_names.number(event);
        self.page.extend_from_slice(
            self.event_names.get(number, |bytes| *bytes = quoted(&event_names.text(number))),
        );
        if let Some(end) = end {
            let (call, direction) = match end {
                End::Leaves { call, .. } => (call, ",\"flow_out\":true"),
                End::Arrives { call, .. } => (call, ",\"flow_in\":true"),
            };
            self.text(",\"bind_id\":");
            text::number(u64::from(call), &mut self.page);
            self.text(direction);
        }
        if !self.layout.options.no_args {
            self.arguments(event);
        }
        self.text("}");
    }

    fn counter_track(&mut self, counter_track: &CounterTrack) {
        let name = quoted(&counter_track.name);
        let unit = quoted(if counter_track.unit.is_empty() { "value" } else { counter_track.unit });
        for &(time, value) in &counter_track.samples {
            self.separate();
            self.text("{\"ph\":\"C\",\"pid\":");
            text::number(self.layout.pid(counter_track.group), &mut self.page);
            self.text(",\"ts\":");
            self.microseconds(time.abs_diff(self.layout.span.0));
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
fn argument(name: EventArg, value: ArgValue<'_>, bytes: &mut Vec<u8>) {
    match value {
        ArgValue::Number(value) => number(name, value, bytes),
        ArgValue::Text(text) => {
            key(name, bytes);
            bytes.extend_from_slice(&quoted(text));
        }
    }
}

#[inline]
fn number(name: EventArg, value: i64, bytes: &mut Vec<u8>) {
    key(name, bytes);
    text::number(value, bytes);
}

#[inline]
fn key(name: EventArg, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(name.label().as_bytes());
    bytes.extend_from_slice(b"\":");
}

/// A text as JSON.
fn quoted(text: &str) -> Vec<u8> {
    serde_json::to_vec(text).unwrap_or_else(|_| b"\"\"".to_vec())
}
