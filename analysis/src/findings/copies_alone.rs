//! Copies and memsets that no kernel runs beside.

use rtl_schema::NameId;
use rtl_schema::table::{Copy, Direction};
use rustc_hash::FxHashMap;

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::gpu_time::operators;
use crate::trust::Evidence;

/// The operator that copies: one around it says what for.
const COPY: &str = "aten::copy_";

/// From this part of the time on other copies are worth a word, and a direction an advice of its own.
const NEWS: f64 = 0.05;
const MUCH: f64 = 0.2;

/// Where DistributedDataParallel copies gradients into its buckets, and where it sends buffers.
const BUCKETS: &str = "copy_bucket_to_grad";
const BUFFERS: [&str; 2] = ["_broadcast_coalesced", "unflatten_dense_tensors"];

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let of_gpus = || inputs.gpus().iter().zip(inputs.idle());
    // Those that the host waits for are a finding of their own.
    let alone = of_gpus()
        .map(|(gpu, idle)| gpu.copies_alone_ns().saturating_sub(idle.blocking_copies_alone_ns).max(0));
    let finding = Finding::of_gpus("copies-alone", inputs, alone.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let kinds = kinds(inputs);
    let total: i64 = kinds.iter().map(|kind| kind.ns).sum();
    let is_much = |ns: i64, part: f64| ns > 0 && ns as f64 >= part * total as f64;
    let named: Vec<String> = kinds.iter().filter(|kind| is_much(kind.ns, MUCH)).map(Kind::counted).collect();
    let waited = of_gpus().fold(0, |sum: i64, (_, idle)| sum.saturating_add(idle.blocking_copies_alone_ns));
    let besides = match waited / inputs.gpus().len().max(1) as i64 {
        ns if (ns as f64) < NEWS * finding.cost_ns as f64 => String::new(),
        ns => format!(", besides {} of copies that the host waits for", time(ns)),
    };
    let most = kinds.first().map_or(Direction::Unknown, |kind| kind.direction);
    let callers = callers(inputs, most);
    let launched = callers.operator.map_or_else(String::new, |name| format!(", most launched in {name}"));
    let within = kinds.iter().filter(|kind| !kind.is_of_host()).map(|kind| kind.ns).sum();
    let of_host = kinds.iter().filter(|kind| kind.is_of_host()).map(|kind| kind.ns).sum();
    let is_pinned = kinds
        .iter()
        .filter(|kind| is_much(kind.ns, MUCH))
        .all(|kind| !kind.is_of_host() || kind.memory == Memory::Pinned);
    let advice = [
        (
            callers.buckets_ns,
            "let gradients be views of the buckets (`DistributedDataParallel(gradient_as_bucket_view=True)`)",
        ),
        (callers.buffers_ns, "send buffers less often (`DistributedDataParallel(broadcast_buffers=False)`)"),
        (
            within,
            "write results where they are needed (in place, `out=`, static inputs of graphs), keep layouts contiguous, or let a \
             kernel copy what it reads anyway",
        ),
        (
            of_host,
            match is_pinned {
                true => {
                    "copy from and to the host while kernels run (a stream of its own, the next batch ahead of time), copy less, or keep the data on the GPU"
                }
                false => {
                    "copy from and to the host while kernels run (pinned memory, a stream of its own, the next batch ahead of time), \
                     copy less, or keep the data on the GPU"
                }
            },
        ),
    ];
    let advice: Vec<&str> =
        advice.iter().filter(|(ns, _)| is_much(*ns, MUCH)).map(|(_, text)| *text).collect();
    vec![Finding {
        sentence: format!(
            "nothing but copies runs for {}{} ({} of the wall time{besides}){}{launched}",
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
            match &named[..] {
                [] => String::new(),
                [one] => format!(", most of it {one}"),
                [first @ .., last] => format!(", most of it {} and {last}", first.join(", ")),
            },
        ),
        look: "rtl-summary --section copies,gpus TRACE".to_owned(),
        help: advice.join("; "),
        evidence: longest(inputs),
        ..finding
    }]
}

fn rows<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Copy> {
    let takes_time = |copy: &&Copy| copy.duration.is_some_and(|ns| ns > 0);
    inputs.analysis.tables.copies.iter().filter(takes_time)
}

/// The memory of the host that a copy reads or writes, where its name says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Memory {
    Pageable,
    Pinned,
    Unknown,
}

impl Memory {
    fn label(self) -> &'static str {
        match self {
            Self::Pageable => "pageable memory",
            Self::Pinned => "pinned memory",
            Self::Unknown => "",
        }
    }
}

/// Copies of one direction and kind of memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) direction: Direction,
    pub(super) memory: Memory,
    /// The sum of their durations in ns.
    pub(super) ns: i64,
    count: u64,
}

impl Kind {
    pub(super) fn is_of_host(&self) -> bool {
        matches!(self.direction, Direction::HostToDevice | Direction::DeviceToHost)
    }

    /// `device-to-host (pageable memory)`.
    pub(super) fn label(&self) -> String {
        let memory = self.memory.label();
        if memory.is_empty() {
            self.direction.label().to_owned()
        } else {
            format!("{} ({memory})", self.direction.label())
        }
    }

    /// `device-to-device (4645 copies)`.
    fn counted(&self) -> String {
        match self.direction {
            Direction::Fill => counted(self.count, "memset", "memsets"),
            Direction::Unknown => {
                counted(self.count, "copy of unknown direction", "copies of unknown direction")
            }
            direction => {
                let (memory, copies) = (self.memory.label(), counted(self.count, "copy", "copies"));
                let comma = if memory.is_empty() { "" } else { ", " };
                format!("{} ({memory}{comma}{copies})", direction.label())
            }
        }
    }
}

/// The kinds of copies, most time first.
pub(super) fn kinds(inputs: &Inputs<'_>) -> Vec<Kind> {
    let tables = inputs.analysis.tables;
    let mut names: FxHashMap<NameId, Memory> = FxHashMap::default();
    let mut kinds: FxHashMap<(&str, Memory), Kind> = FxHashMap::default();
    for copy in rows(inputs) {
        let memory = *names.entry(copy.name).or_insert_with(|| match tables.strings.get(copy.name) {
            name if name.contains("Pageable") => Memory::Pageable,
            name if name.contains("Pinned") => Memory::Pinned,
            _ => Memory::Unknown,
        });
        let none = Kind { direction: copy.direction, memory, ns: 0, count: 0 };
        let kind = kinds.entry((copy.direction.label(), memory)).or_insert(none);
        kind.ns = kind.ns.saturating_add(copy.duration.unwrap_or(0));
        kind.count += 1;
    }
    let mut kinds: Vec<Kind> = kinds.into_values().collect();
    kinds.sort_by_key(|kind| (std::cmp::Reverse(kind.ns), kind.direction.label(), kind.memory));
    kinds
}

/// Where copies were launched.
#[derive(Debug, Default)]
struct Callers<'a> {
    /// The innermost operator in which at least half of the time of one direction was launched.
    operator: Option<&'a str>,
    /// The time of copies in ns that DistributedDataParallel makes for its buckets, and for buffers.
    buckets_ns: i64,
    buffers_ns: i64,
}

fn callers<'a>(inputs: &'a Inputs<'_>, direction: Direction) -> Callers<'a> {
    let tables = inputs.analysis.tables;
    let mut found = Callers::default();
    if tables.operators.is_empty() {
        return found;
    }
    let callers = operators::Callers::of(tables);
    let text =
        |row: u32| tables.operators.name.get(row as usize).map(|&name: &NameId| tables.strings.get(name));
    let mut times: FxHashMap<&str, (i64, u64)> = FxHashMap::default();
    let mut total = 0_i64;
    for copy in rows(inputs) {
        let ns = copy.duration.unwrap_or(0);
        let innermost = callers.of_op(tables, copy.track, copy.correlation);
        let chain = std::iter::successors(Some(innermost), |&row| Some(callers.parent(row)));
        let mut names: Vec<&str> = Vec::new();
        for name in chain.map_while(text) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let is_in = |words: &[&str]| names.iter().any(|name| words.iter().any(|word| name.contains(word)));
        if is_in(&[BUCKETS]) {
            found.buckets_ns = found.buckets_ns.saturating_add(ns);
        } else if is_in(&BUFFERS) {
            found.buffers_ns = found.buffers_ns.saturating_add(ns);
        }
        if copy.direction == direction {
            total = total.saturating_add(ns);
            for (distance, name) in (0..).zip(names) {
                let (time, distances) = times.entry(name).or_default();
                (*time, *distances) = (time.saturating_add(ns), *distances + distance);
            }
        }
    }
    let is_most = |ns: i64| ns.saturating_mul(2) >= total;
    let most = times.iter().filter(|&(name, (ns, _))| is_most(*ns) && *name != COPY);
    found.operator =
        most.min_by_key(|&(name, &(ns, distances))| (ns, distances, *name)).map(|(name, _)| *name);
    found
}

fn longest(inputs: &Inputs<'_>) -> Vec<Evidence> {
    let mut copies: Vec<&Copy> = rows(inputs).collect();
    copies.sort_by_key(|copy| (std::cmp::Reverse(copy.duration), copy.start));
    let evidence = |copy: &&Copy| Evidence {
        name: copy.direction.label().to_owned(),
        start_ns: copy.start,
        end_ns: copy.duration.map(|ns| copy.start.saturating_add(ns)),
        correlation: copy.correlation,
    };
    copies.iter().take(PLACES).map(evidence).collect()
}
