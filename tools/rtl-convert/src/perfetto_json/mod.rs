//! Chrome's trace event format as Perfetto reads it: complete events in microseconds with three decimals. Categories,
//! arguments and the fields about devices and rank are those of Kineto, so that HTA and TraceLens read the file too.

mod render;

use std::mem::replace;
use std::sync::Arc;

use rtl_schema::NameId;
use rtl_schema::table::MemoryEvent;
use serde_json::Value;

use crate::autograd::{AutogradArrow, AutogradArrows, Place};
use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::event_args::EventArgs;
use crate::flows::End;
use crate::format::Format;
use crate::kineto_header::{group_name, header, label};
use crate::layout::{EventWriter, TimelineLayout};
use crate::names::SharedCache;
use crate::text;
use crate::tracks::TrackGroup;
use crate::viewer;
use render::{Batch, Placed, Renderings, Texts, microseconds};

pub const FORMAT: Format = Format {
    name: "perfetto-json",
    aliases: &["json", "chrome", "perfetto"],
    help: "Chrome's and Perfetto's JSON",
    endings: &[".json", ".json.gz"],
    default_ending: ".json.gz",
    partitioned: false,
    has_operators: true,
    write: viewer::write::<Json>,
};

/// The length of most events in bytes, without their texts.
const EVENT: usize = 448;

/// Renders what is beside the events, and passes these on with their places in the file.
pub struct Json {
    batch: Batch,
    /// The length of the events of the batch, about.
    length: usize,
    /// Where times count from, in ns.
    base: i64,
    /// The text before the next object.
    separator: &'static str,
    /// The numbers of lanes in the file, by track and lane.
    lanes: Vec<Vec<u32>>,
    /// The fields of an event up to its time, by the number of its lane.
    beginnings: Arc<Vec<Arc<[u8]>>>,
    free_ids: Box<dyn Iterator<Item = u64>>,
    autograd: AutogradArrows,
    autograd_arrows: u64,
}

impl Json {
    /// The number of a lane, which is named at its first use.
    fn lane(&mut self, track: usize, lane: usize, layout: &TimelineLayout<'_>) -> u32 {
        if let Some(&number) = self.lanes[track].get(lane) {
            return number;
        }
        let at = layout.tracks[track];
        let own = at.tid().filter(|_| lane == 0);
        let tid = own.or_else(|| self.free_ids.next()).unwrap_or_default();
        let name = layout.track_names.track(&at);
        let name = if lane == 0 { name } else { format!("{name} (overlap {lane})") };
        let pid = layout.pid(at.group);
        self.metadata("thread_name", pid, Some(tid), "name", name.into());
        let rank = layout.ranks[track] * 1000 + lane.min(999);
        self.metadata("thread_sort_index", pid, Some(tid), "sort_index", rank.into());
        let beginning = format!("\"pid\":{pid},\"tid\":{tid},\"ts\":");
        let number = self.beginnings.len() as u32;
        self.lanes[track].push(number);
        // Batches on the way have the ones that they need.
        Arc::make_mut(&mut self.beginnings).push(beginning.into_bytes().into());
        number
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: Option<u64>, key: &str, value: Value) {
        self.separate();
        let tid = tid.map_or(String::new(), |tid| format!(",\"tid\":{tid}"));
        let args = format!("{{\"{key}\":{value}}}");
        self.text(&format!("{{\"ph\":\"M\",\"pid\":{pid}{tid},\"name\":\"{what}\",\"args\":{args}}}"));
    }

    /// An arrow from an operator to its backward operator as Kineto writes it.
    fn autograd_arrow(&mut self, arrow: AutogradArrow) {
        self.autograd_arrows += 1;
        for (phase, Place { track, lane, start }) in [("s", arrow.from), ("f", arrow.to)] {
            self.separate();
            self.text("{\"ph\":\"");
            self.text(phase);
            self.text("\",");
            self.batch.text.extend_from_slice(&self.beginnings[self.lanes[track as usize][lane] as usize]);
            self.microseconds(start.abs_diff(self.base));
            self.text(",\"bp\":\"e\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":");
            text::number(self.autograd_arrows as i64, &mut self.batch.text);
            self.text("}");
        }
    }

    fn separate(&mut self) {
        self.text(self.separator);
        self.separator = ",\n";
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.batch.text.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn microseconds(&mut self, ns: u64) {
        microseconds(ns, &mut self.batch.text);
    }
}

/// About the length of an event in bytes.
#[inline]
fn length(layout: &TimelineLayout<'_>, event: &Event) -> usize {
    let of = |text: NameId| if text.is_some() { layout.tables.strings.get(text).len() } else { 0 };
    let texts = match event.kind {
        Kind::Call => of(event.text),
        Kind::Operator => {
            let others = [event.shape.map(|shape| shape.0), event.symbol.map(|symbol| symbol.0)];
            of(event.text) + others.into_iter().flatten().map(|text| of(NameId(text))).sum::<usize>()
        }
        _ => 0,
    };
    EVENT + of(event.name) + texts
}

impl EventWriter for Json {
    type Batch = Batch;
    type Renderings = Renderings;

    fn renderings(layout: &TimelineLayout<'_>) -> Renderings {
        let strings = layout.tables.strings.len();
        Renderings {
            base: base(layout),
            one_space: layout.tables.processes.windows(2).all(|pair| pair[0].space == pair[1].space),
            event_names: SharedCache::new(layout.event_names.count()),
            args: EventArgs::new(layout.tables),
            texts: Texts::new(strings),
        }
    }

    fn render(batch: Batch, renderings: &Renderings, layout: &TimelineLayout<'_>) -> Vec<u8> {
        batch.render(renderings, layout)
    }

    fn new(layout: &TimelineLayout<'_>, renderings: &Renderings) -> Self {
        let base = renderings.base;
        let mut json = Self {
            batch: Batch { text: header(layout.tables, base).into_bytes(), ..Batch::default() },
            length: 0,
            base,
            separator: "\n",
            lanes: vec![Vec::new(); layout.tracks.len()],
            beginnings: Arc::default(),
            free_ids: Box::new(layout.free_ids()),
            autograd: AutogradArrows::default(),
            autograd_arrows: 0,
        };
        for (rank, &group) in layout.groups.iter().enumerate() {
            let pid = layout.pid(group);
            json.metadata("process_name", pid, None, "name", group_name(layout, group).into());
            if let Some(label) = label(layout, group) {
                json.metadata("process_labels", pid, None, "labels", label.into());
            }
            json.metadata("process_sort_index", pid, None, "sort_index", rank.into());
        }
        json
    }

    #[inline]
    fn event(&mut self, layout: &TimelineLayout<'_>, event: &Event, lane: usize, end: Option<End>) {
        let track = event.track as usize;
        let beginning = self.lane(track, lane, layout);
        let Batch { events, text, cuts, .. } = &mut self.batch;
        if cuts.last().map_or(0, |&(_, before)| before) < text.len() {
            cuts.push((events.len(), text.len()));
        }
        events.push(Placed { event: *event, beginning, lane, end });
        self.length += length(layout, event);
        if event.kind == Kind::Operator && !layout.options.no_args {
            let process = layout.tracks[track].process;
            let arrow = self.autograd.add(event, process, lane);
            arrow.into_iter().for_each(|arrow| self.autograd_arrow(arrow));
        }
    }

    fn counter_track(&mut self, layout: &TimelineLayout<'_>, counter_track: &CounterTrack) {
        let pid = layout.pid(counter_track.group);
        let name = Value::from(counter_track.name.as_str());
        let unit = Value::from(if counter_track.unit.is_empty() { "value" } else { counter_track.unit });
        let beginning = format!("{{\"ph\":\"C\",\"pid\":{pid},\"ts\":");
        let middle = format!(",\"name\":{name},\"args\":{{{unit}:");
        for (time, value) in counter_track.changes() {
            self.separate();
            self.text(&beginning);
            self.microseconds(time.abs_diff(self.base));
            self.text(&middle);
            self.text(&value.to_string());
            self.text("}}");
        }
    }

    fn memory_event(&mut self, layout: &TimelineLayout<'_>, event: &MemoryEvent) {
        /// c10::DeviceType of the host and of GPUs; ROCm's PyTorch calls its GPUs CUDA, too.
        const DEVICE_TYPES: [i64; 2] = [0, 1];
        let group = TrackGroup::Process(event.process);
        let tid = event.tid.unwrap_or_default();
        let gpu = event.agent.map(|agent| layout.tables.agent(agent).number);
        let (device, kind) = (gpu.unwrap_or(-1), DEVICE_TYPES[usize::from(gpu.is_some())]);
        self.separate();
        self.text(&format!("{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{tid},\"ts\":", layout.pid(group)));
        self.microseconds(event.time.abs_diff(self.base));
        self.text(",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"args\":{");
        self.text(&format!("\"Bytes\":{},\"Device Id\":{device},\"Device Type\":{kind}", event.bytes));
        for (name, value) in [
            ("Addr", event.address),
            ("Total Allocated", event.allocated),
            ("Total Reserved", event.reserved),
        ] {
            if let Some(value) = value {
                self.text(&format!(",\"{name}\":{value}"));
            }
        }
        self.text("}}");
    }

    fn close(&mut self) {
        let rest = self.autograd.finish();
        rest.into_iter().for_each(|arrow| self.autograd_arrow(arrow));
        self.text("\n]}\n");
    }

    fn length(&self) -> usize {
        self.length + self.batch.text.len()
    }

    fn take(&mut self) -> Batch {
        self.length = 0;
        // Batches have about as many events.
        let events = Vec::with_capacity(self.batch.events.len() * 5 / 4);
        let full = replace(&mut self.batch, Batch { events, ..Batch::default() });
        Batch { beginnings: self.beginnings.clone(), ..full }
    }
}

/// Where times count from, in ns: the whole microsecond before the first moment, because readers round to those.
fn base(layout: &TimelineLayout<'_>) -> i64 {
    layout.span.0.saturating_sub(layout.span.0.rem_euclid(1000))
}

#[cfg(test)]
mod tests {
    use rtl_schema::Tables;
    use rtl_schema::table::{Agent, Dispatch, Operator, Process, Track};

    use super::*;
    use crate::lanes::Lanes;
    use crate::render_options::RenderOptions;
    use crate::timeline::TimelineBuilder;
    use crate::tracks::GroupBy;

    fn file(length: usize) -> Vec<u8> {
        let mut tables = Tables::default();
        tables.processes.push(Process::default());
        tables.agents.push(Agent::default());
        let names = ["gemm", "add"].map(|name| tables.strings.intern(name));
        for row in 0..60_i64 {
            let track = tables.tracks.intern(Track { queue: row / 20, ..Track::default() });
            let (start, duration) = (row * 10, Some(if row % 7 == 0 { 15 } else { 10 }));
            let name = names[row as usize % 2];
            tables.dispatches.push(Dispatch { id: row, name, track, start, duration, ..Dispatch::default() });
            let node = Operator {
                sequence: Some(row as u32 % 30),
                forward_thread: row as u32 / 30,
                ..Operator::default()
            };
            tables.operators.push(Operator { name, start, duration, tid: Some(7), ..node });
        }
        let folder = tempfile::tempdir().unwrap();
        let mut builder = TimelineBuilder::new(folder.path(), GroupBy::default(), false);
        builder.add(&tables).unwrap();
        let (layout, stream) = builder.finish(&tables, RenderOptions::default()).unwrap();
        let renderings = Json::renderings(&layout);
        let mut json = Json::new(&layout, &renderings);
        let mut lanes: Vec<Lanes> = layout.tracks.iter().map(|track| Lanes::new(track.stacking())).collect();
        let mut file = Vec::new();
        for (number, event) in stream.events.enumerate() {
            let event = event.unwrap();
            let lane = lanes[event.track as usize].place(event.start, event.start + event.duration);
            json.event(&layout, &event, lane, None);
            if (number + 1) % length == 0 {
                file.extend(Json::render(json.take(), &renderings, &layout));
            }
        }
        json.close();
        file.extend(Json::render(json.take(), &renderings, &layout));
        file
    }

    #[test]
    fn batches_of_any_length_make_the_same_file() {
        let one = file(1_000);
        let document: Value = serde_json::from_slice(&one).unwrap();
        let events = document["traceEvents"].as_array().unwrap();
        let count = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
        assert_eq!([count("X"), count("s"), count("f")], [120, 30, 30]);
        for length in [1, 2, 7, 60] {
            assert!(file(length) == one, "batches of {length}");
        }
    }
}
