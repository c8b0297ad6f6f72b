//! The files of one process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write};

use atomic_file::{AtomicFile, Destination};
use rtl_schema::table::Counter;
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use super::agents::AgentRow;
use super::columns::{CounterRow, KernelRow, Shared};
use super::file::{CsvFile, CsvRow};
use super::stats::{self, Stat, Stats};
use crate::names::NameStyle;
use crate::rocprofv3::kinds::{self, Kind};
use crate::rocprofv3::visitor::{Launch, ProcessState, Record};

/// Files with their contents: `kernel_trace`.
pub(crate) type NamedFiles = Vec<(String, AtomicFile)>;

/// The file that has no `_trace` in its name.
pub(super) const COUNTERS: &str = "counter_collection";

/// The files of one process. Kernels have the most rows and a file of their own here.
pub(super) struct ProcessFiles {
    destination: Destination,
    kernels: Option<CsvFile>,
    kernel_stats: Vec<Stat>,
    /// By domain: `hip_api`.
    others: BTreeMap<&'static str, CsvFile>,
    stats: BTreeMap<&'static str, FxHashMap<(Kind, NameId), Stat>>,
    shared: Shared,
}

impl ProcessFiles {
    pub(super) fn new(destination: &Destination, names: NameStyle) -> Self {
        Self {
            destination: destination.clone(),
            kernels: None,
            kernel_stats: Vec::new(),
            others: BTreeMap::new(),
            stats: BTreeMap::new(),
            shared: Shared::new(names),
        }
    }

    /// Writes a dispatch.
    #[inline]
    pub(super) fn kernel(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()> {
        if self.kernel_stats.len() <= launch.position {
            self.kernel_stats.resize_with(launch.position + 1, Stat::default);
        }
        self.kernel_stats[launch.position].add(record.end - record.start);
        let mut row = KernelRow(record, launch, &mut self.shared);
        let file = match &mut self.kernels {
            Some(file) => file,
            none => none.insert(CsvFile::create(&self.destination, &mut row)?),
        };
        file.write(&mut row)
    }

    /// Writes the counters of a dispatch: the instances of a counter add up to one row.
    pub(super) fn counters(
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
        for (counter, sum) in sums {
            let mut row = CounterRow { record, launch, counter, sum, shared: &mut self.shared };
            write(&mut self.others, COUNTERS, &mut row, &self.destination)?;
        }
        Ok(())
    }

    /// Writes a record of a domain and counts it under the name of its function or operation.
    pub(super) fn row(
        &mut self,
        domain: &'static str,
        record: &Record<'_>,
        name: NameId,
        mut row: impl CsvRow,
    ) -> io::Result<()> {
        let stats = self.stats.entry(domain).or_default();
        stats.entry((record.kind, name)).or_default().add(record.end - record.start);
        write(&mut self.others, domain, &mut row, &self.destination)
    }

    /// The complete files.
    pub(super) fn finish(self, state: &ProcessState, tables: &Tables) -> io::Result<NamedFiles> {
        let mut files = Vec::new();
        let mut agents = None;
        for device in state.devices.listed() {
            let mut row = AgentRow(device);
            let file = match &mut agents {
                Some(file) => file,
                none => none.insert(CsvFile::create(&self.destination, &mut row)?),
            };
            file.write(&mut row)?;
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
        if let Some(file) = self.kernels {
            files.push(("kernel_trace".to_owned(), file.finish()?));
        }
        for (name, file) in self.others {
            let name = if name == COUNTERS { name.to_owned() } else { format!("{name}_trace") };
            files.push((name, file.finish()?));
        }
        Ok(files)
    }

    /// The domains with the beginnings of their file names and their stats.
    fn stats(&self, state: &ProcessState, tables: &Tables) -> Vec<(String, &'static str, Stats)> {
        let mut all = Vec::new();
        let mut kernels = Stats::new();
        for (stat, kernel) in self.kernel_stats.iter().zip(state.kernels.rows()) {
            let name = kernel.names(tables, self.shared.names).shown.into_owned();
            kernels.entry(name).or_default().merge(stat);
        }
        if self.kernels.is_some() {
            all.push(("KERNEL_DISPATCH".to_owned(), "kernel", kernels));
        }
        for (&domain, counted) in &self.stats {
            let mut stats = Stats::new();
            for ((kind, name), stat) in counted {
                let name = match kinds::operations(*kind).get(name.index()) {
                    Some(operation) if *kind != kinds::MARKER_RANGE => (*operation).to_owned(),
                    _ => tables.strings.get(*name).to_owned(),
                };
                stats.entry(name).or_default().merge(stat);
            }
            all.push((domain.to_ascii_uppercase(), domain, stats));
        }
        all
    }
}

fn write(
    files: &mut BTreeMap<&'static str, CsvFile>,
    name: &'static str,
    row: &mut impl CsvRow,
    destination: &Destination,
) -> io::Result<()> {
    let file = match files.entry(name) {
        Entry::Occupied(file) => file.into_mut(),
        Entry::Vacant(vacant) => vacant.insert(CsvFile::create(destination, row)?),
    };
    file.write(row)
}

fn written(destination: &Destination, text: &str) -> io::Result<AtomicFile> {
    let file = AtomicFile::start(destination.clone()).map_err(io::Error::other)?;
    file.file().write_all(text.as_bytes())?;
    Ok(file)
}
