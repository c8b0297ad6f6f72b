//! rocprofv3's CSV files: one for each kind of record in the trace, and the statistics of each.
//!
//! Columns have rocprofv3's names and order: one line declares a column and its value.

mod agents;
mod file;
mod stats;

use std::collections::BTreeMap;
use std::io;

use atomic_file::{AtomicFile, Destination};
use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Range, Shape};
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use self::file::Cells;
use self::stats::{Stat, Stats};
use super::devices::Device;
use super::kinds::{self, KINDS, Kind, List};
use super::page_file::PageFile;
use super::visitor::{Launch, ProcessState, Record, RecordSink};
use crate::names::{NameStyle, RenderCache};

/// The hardware allocates LDS in blocks of this many bytes.
const LDS_BLOCK: u64 = 512;

/// Launch shapes whose cells are kept; a trace with more shapes has few dispatches of each.
const KEPT_SHAPES: usize = 1 << 16;

/// The name of the file without `_trace`.
const COUNTERS: &str = "counter_collection";

/// Files with their contents: `kernel_trace`.
pub type NamedFiles = Vec<(String, AtomicFile)>;

/// The files of one process. Kernels have the most rows and a file of their own here.
pub struct Csv {
    destination: Destination,
    kernels: Option<PageFile>,
    kernel_stats: Vec<Stat>,
    /// By domain: `hip_api`.
    domains: BTreeMap<&'static str, Domain>,
    shared: Shared,
}

#[derive(Default)]
struct Domain {
    file: Option<PageFile>,
    stats: FxHashMap<(Kind, NameId), Stat>,
}

/// Cells that many rows share.
#[derive(Default)]
struct Shared {
    names: NameStyle,
    tracks: RenderCache,
    kernels: RenderCache,
    registers: RenderCache,
    shapes: RenderCache,
}

impl Csv {
    /// Files beside `destination`; they get their names at the end.
    pub fn new(destination: &Destination, names: NameStyle) -> Self {
        Self {
            destination: destination.clone(),
            kernels: None,
            kernel_stats: Vec::new(),
            domains: BTreeMap::new(),
            shared: Shared { names, ..Shared::default() },
        }
    }

    /// The complete files.
    pub fn finish(self, state: &ProcessState, tables: &Tables) -> io::Result<NamedFiles> {
        let mut files = Vec::new();
        let mut agents = None;
        for device in state.devices.listed() {
            file::write(&mut agents, &self.destination, |row| agents::columns(device, row))?;
        }
        if let Some(file) = agents {
            files.push(("agent_info".to_owned(), file.finish()?));
        }
        let mut domains = Stats::new();
        for (name, file, stats) in self.stats(state, tables) {
            let whole = domains.entry(name).or_default();
            stats.values().for_each(|stat| whole.merge(stat));
            files.push((format!("{file}_stats"), written(&self.destination, &stats::sheet(&stats))?));
        }
        if !domains.is_empty() {
            files.push(("domain_stats".to_owned(), written(&self.destination, &stats::sheet(&domains))?));
        }
        let others = self.domains.into_iter().map(|(name, domain)| match name {
            COUNTERS => (name.to_owned(), domain.file),
            _ => (format!("{name}_trace"), domain.file),
        });
        for (name, file) in [("kernel_trace".to_owned(), self.kernels)].into_iter().chain(others) {
            if let Some(file) = file {
                files.push((name, file.finish()?));
            }
        }
        Ok(files)
    }

    fn stats(&self, state: &ProcessState, tables: &Tables) -> Vec<(String, &'static str, Stats)> {
        let mut all = Vec::new();
        if self.kernels.is_some() {
            let mut kernels = Stats::new();
            for (stat, kernel) in self.kernel_stats.iter().zip(&state.kernels.rows) {
                let name = kernel.names(tables, self.shared.names).shown.into_owned();
                kernels.entry(name).or_default().merge(stat);
            }
            all.push(("KERNEL_DISPATCH".to_owned(), "kernel", kernels));
        }
        for (&label, domain) in self.domains.iter().filter(|(_, domain)| !domain.stats.is_empty()) {
            let mut stats = Stats::new();
            for ((kind, name), stat) in &domain.stats {
                let name = match kinds::operations(*kind).get(name.index()) {
                    Some(operation) if *kind != kinds::MARKER_RANGE => (*operation).to_owned(),
                    _ => tables.strings.get(*name).to_owned(),
                };
                stats.entry(name).or_default().merge(stat);
            }
            all.push((label.to_ascii_uppercase(), label, stats));
        }
        all
    }

    /// Writes a record of a domain and counts it under the name of its function or operation.
    fn row(
        &mut self,
        domain: &'static str,
        record: &Record<'_>,
        name: NameId,
        columns: impl FnMut(&mut Cells),
    ) -> io::Result<()> {
        let domain = self.domains.entry(domain).or_default();
        domain.stats.entry((record.kind, name)).or_default().add(record.end - record.start);
        file::write(&mut domain.file, &self.destination, columns)
    }

    fn function(&mut self, list: List, record: &Record<'_>, name: NameId) -> io::Result<()> {
        self.row(list.label(), record, name, |row| {
            row.text("Domain", KINDS[usize::from(record.kind)]);
            row.text("Function", record.tables.strings.get(name));
            row.number("Process_Id", record.tables.process(record.process).pid);
            row.number("Thread_Id", record.tid);
            row.number("Correlation_Id", Some(record.correlation));
            times(record, row);
        })
    }
}

impl RecordSink for Csv {
    fn call(&mut self, record: &Record<'_>, list: List, _: u32, call: &ApiCall) -> io::Result<()> {
        self.function(list, record, call.name)
    }

    #[inline]
    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()> {
        if self.kernel_stats.len() <= launch.position {
            self.kernel_stats.resize_with(launch.position + 1, Stat::default);
        }
        self.kernel_stats[launch.position].add(record.end - record.start);
        let shared = &mut self.shared;
        file::write(&mut self.kernels, &self.destination, |row| {
            row.cached(&mut shared.tracks, launch.row.track.index(), |row| {
                let track = record.tables.tracks.get(launch.row.track);
                row.text("Kind", "KERNEL_DISPATCH");
                row.text("Agent_Id", &label(record.state.devices.get(track.agent)));
                row.number("Queue_Id", Some(track.queue as u64));
                row.number("Stream_Id", track.stream);
            });
            row.number("Thread_Id", record.tid);
            row.number("Dispatch_Id", Some(launch.number));
            kernel(record, launch, shared, row);
            row.number("Correlation_Id", Some(record.correlation));
            times(record, row);
            let shape = launch.shape(record.tables);
            resources(record, launch, &shape, shared, row);
            match launch.row.shape.map_or(0, |shape| shape.index() + 1) {
                place if place < KEPT_SHAPES => {
                    row.cached(&mut shared.shapes, place, |row| sizes(&shape, row))
                }
                _ => sizes(&shape, row),
            }
        })
    }

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()> {
        let [source, destination] = record.state.devices.ends(copy, record.tables).map(label);
        self.row("memory_copy", record, operation(record), |row| {
            row.text("Kind", KINDS[usize::from(record.kind)]);
            row.text("Direction", kinds::operations(record.kind)[record.operation]);
            row.number("Stream_Id", record.stream);
            row.text("Source_Agent_Id", &source);
            row.text("Destination_Agent_Id", &destination);
            row.number("Correlation_Id", Some(record.correlation));
            times(record, row);
        })
    }

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()> {
        self.function(List::Marker, record, range.name)
    }

    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()> {
        let is_scratch = record.kind == kinds::SCRATCH_MEMORY;
        let domain = if is_scratch { "scratch_memory" } else { "memory_allocation" };
        self.row(domain, record, operation(record), |row| {
            let agent = allocation.agent.and_then(|agent| record.state.devices.get(agent));
            row.text("Kind", KINDS[usize::from(record.kind)]);
            row.text("Operation", kinds::operations(record.kind)[record.operation]);
            row.text("Agent_Id", &label(agent));
            if is_scratch {
                row.number("Queue_Id", allocation.queue);
                row.number("Thread_Id", record.tid);
                row.number("Alloc_Flags", allocation.flags);
                times(record, row);
                row.number("Allocation_Size", Some(allocation.bytes));
            } else {
                row.number("Allocation_Size", Some(allocation.bytes));
                let address = allocation.address.map(|address| format!("{address:#018x}"));
                row.text("Address", &address.unwrap_or_default());
                row.number("Correlation_Id", Some(record.correlation));
                times(record, row);
            }
        })
    }

    /// The instances of a counter add up to one row.
    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()> {
        let mut sums: Vec<(NameId, f64)> = Vec::new();
        for (_, value) in values {
            match sums.iter_mut().find(|(name, _)| *name == value.name) {
                Some((_, sum)) => *sum += value.value,
                None => sums.push((value.name, value.value)),
            }
        }
        let track = record.tables.tracks.get(launch.row.track);
        let shape = launch.shape(record.tables);
        let product = |axes: [u64; 3]| axes.iter().product::<u64>() as i64;
        let (shared, file) = (&mut self.shared, &mut self.domains.entry(COUNTERS).or_default().file);
        sums.into_iter().try_for_each(|(counter, sum)| {
            file::write(file, &self.destination, |row| {
                row.number("Correlation_Id", Some(record.correlation));
                row.number("Dispatch_Id", Some(launch.number));
                row.text("Agent_Id", &label(record.state.devices.get(track.agent)));
                row.number("Queue_Id", Some(track.queue));
                row.number("Process_Id", record.tables.process(record.process).pid);
                row.number("Thread_Id", record.tid);
                row.number("Grid_Size", shape.items.map(product));
                kernel(record, launch, shared, row);
                row.number("Workgroup_Size", shape.workgroup.map(|axes| product(axes.map(u64::from))));
                resources(record, launch, &shape, shared, row);
                row.text("Counter_Name", record.tables.strings.get(counter));
                row.plain("Counter_Value", &stats::counter(sum));
                times(record, row);
            })
        })
    }
}

#[inline]
fn times(record: &Record<'_>, row: &mut Cells) {
    row.number("Start_Timestamp", Some(record.start));
    row.number("End_Timestamp", Some(record.end));
}

#[inline]
fn kernel(record: &Record<'_>, launch: &Launch<'_>, shared: &mut Shared, row: &mut Cells) {
    let names = shared.names;
    row.cached(&mut shared.kernels, launch.position, |row| {
        row.number("Kernel_Id", Some(launch.kernel.id));
        row.text("Kernel_Name", &launch.kernel.names(record.tables, names).shown);
    });
}

/// LDS is that of the kernel's symbol, as rocprofv3 shows it, or that of the launch.
#[inline]
fn resources(record: &Record<'_>, launch: &Launch<'_>, shape: &Shape, shared: &mut Shared, row: &mut Cells) {
    let symbol = launch.kernel.symbol.map(|symbol| &record.tables.symbols[symbol.index()]);
    let lds = symbol.and_then(|symbol| symbol.lds).or(shape.lds);
    row.number("LDS_Block_Size", lds.map(|bytes| u64::from(bytes).next_multiple_of(LDS_BLOCK)));
    row.number("Scratch_Size", shape.scratch);
    row.cached(&mut shared.registers, launch.position, |row| {
        row.number("VGPR_Count", symbol.and_then(|symbol| symbol.vgprs));
        row.number("Accum_VGPR_Count", symbol.and_then(|symbol| symbol.agprs));
        row.number("SGPR_Count", symbol.and_then(|symbol| symbol.sgprs));
    });
}

fn sizes(shape: &Shape, row: &mut Cells) {
    for (axis, name) in ["Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"].into_iter().enumerate() {
        row.number(name, shape.workgroup.map(|axes| axes[axis]));
    }
    for (axis, name) in ["Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"].into_iter().enumerate() {
        row.number(name, shape.items.map(|axes| axes[axis]));
    }
}

fn operation(record: &Record<'_>) -> NameId {
    NameId(record.operation as u32)
}

/// The name of an agent; empty where it is unknown.
fn label(device: Option<&Device>) -> String {
    device.map_or(String::new(), |device| format!("Agent {}", device.logical))
}

fn written(destination: &Destination, text: &str) -> io::Result<AtomicFile> {
    let mut file = PageFile::create(destination)?;
    file.bytes.extend_from_slice(text.as_bytes());
    file.finish()
}
