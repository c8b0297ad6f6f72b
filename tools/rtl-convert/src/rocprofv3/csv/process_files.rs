//! The files of one process.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;
use tempfile::NamedTempFile;

use super::file::{CsvFile, cell, quoted};
use super::stats::{self, Stat, Stats};
use super::{NamedFiles, agents};
use crate::names::{NameStyle, RenderCache};
use crate::rocprofv3::devices::Devices;
use crate::rocprofv3::files;
use crate::rocprofv3::kernels::Kernel;
use crate::rocprofv3::kinds::{self, Kind};
use crate::rocprofv3::visitor::RecordVisitor;

/// The files of one process. Those of kernels are apart, because they have the most rows.
#[derive(Default)]
pub(super) struct ProcessFiles {
    pub(super) names: NameStyle,
    pub(super) devices: Devices,
    pub(super) kernels: Option<CsvFile>,
    pub(super) others: BTreeMap<&'static str, CsvFile>,
    /// What stands in the rows of a kernel, a track and a shape.
    pub(super) kernel_cells: Vec<KernelCells>,
    pub(super) track_cells: RenderCache,
    pub(super) shape_cells: RenderCache,
    pub(super) kernel_stats: Vec<Stat>,
    pub(super) stats: BTreeMap<&'static str, FxHashMap<(Kind, NameId), Stat>>,
    pub(super) dispatched: i64,
}

/// The cells of one kernel.
pub(super) struct KernelCells {
    /// Id and name.
    pub(super) name: Vec<u8>,
    /// Static LDS in bytes as hardware allots it, if known.
    pub(super) lds: Option<u64>,
    /// Registers.
    pub(super) registers: Vec<u8>,
}

impl ProcessFiles {
    pub(super) fn sheet(
        &mut self,
        name: &'static str,
        columns: &[&str],
        folder: &Path,
    ) -> io::Result<&mut CsvFile> {
        match self.others.entry(name) {
            std::collections::btree_map::Entry::Occupied(sheet) => Ok(sheet.into_mut()),
            std::collections::btree_map::Entry::Vacant(place) => {
                Ok(place.insert(CsvFile::create(folder, columns)?))
            }
        }
    }

    pub(super) fn count(&mut self, domain: &'static str, kind: Kind, name: NameId, duration: i64) {
        self.stats.entry(domain).or_default().entry((kind, name)).or_default().add(duration);
    }

    /// The cells of the kernel at a position; positions come in order.
    pub(super) fn kernel(&mut self, position: usize, kernel: &Kernel, tables: &Tables) -> &KernelCells {
        while self.kernel_cells.len() <= position {
            let loaded = kernel.loaded(tables);
            let (mut name, mut registers) = (Vec::new(), Vec::new());
            cell(Some(kernel.id), &mut name);
            quoted(&kernel.names(tables, self.names).shown, &mut name);
            [loaded.vgprs, loaded.agprs, loaded.sgprs].iter().for_each(|count| cell(*count, &mut registers));
            let lds = loaded.lds.map(u64::from);
            self.kernel_cells.push(KernelCells { name, lds, registers });
            self.kernel_stats.push(Stat::default());
        }
        &self.kernel_cells[position]
    }

    pub(super) fn finish(
        self,
        id: ProcessId,
        folder: &Path,
        visitor: &RecordVisitor,
        tables: &Tables,
    ) -> io::Result<NamedFiles> {
        let mut files = Vec::new();
        let mut info = CsvFile::create(folder, &agents::COLUMNS)?;
        self.devices.listed().into_iter().for_each(|device| agents::write(device, info.row()));
        files.push(("agent_info".to_owned(), info.finish()?));
        let mut domains = Stats::new();
        for (domain, stats) in self.stats(id, visitor, tables) {
            let (name, file) = domain;
            let whole = domains.entry(name.to_owned()).or_default();
            stats.values().for_each(|stat| whole.merge(stat));
            files.push((format!("{file}_stats"), written(folder, &stats::sheet(&stats))?));
        }
        if !domains.is_empty() {
            files.push(("domain_stats".to_owned(), written(folder, &stats::sheet(&domains))?));
        }
        let kernels = self.kernels.map(|sheet| ("kernel_trace", sheet));
        for (name, sheet) in kernels.into_iter().chain(self.others) {
            files.push((name.to_owned(), sheet.finish()?));
        }
        Ok(files)
    }

    /// The stats of each domain by the names that its file shows.
    fn stats(
        &self,
        id: ProcessId,
        visitor: &RecordVisitor,
        tables: &Tables,
    ) -> Vec<((&'static str, &'static str), Stats)> {
        let mut all = Vec::new();
        let mut kernels = Stats::new();
        for (stat, kernel) in self.kernel_stats.iter().zip(visitor.kernels[id.index()].rows()) {
            kernels.entry(kernel.names(tables, self.names).shown.into_owned()).or_default().merge(stat);
        }
        if self.kernels.is_some() {
            all.push((("KERNEL_DISPATCH", "kernel"), kernels));
        }
        for (file, counted) in &self.stats {
            let mut stats = Stats::new();
            for ((kind, name), stat) in counted {
                let name = match kinds::operations(*kind).get(name.index()) {
                    Some(operation) if *kind != kinds::MARKER_RANGE => (*operation).to_owned(),
                    _ => tables.strings.get(*name).to_owned(),
                };
                stats.entry(name).or_default().merge(stat);
            }
            let domain = DOMAINS.iter().find(|(of, _)| of == file).map_or("OTHER_API", |(_, domain)| domain);
            all.push(((domain, file), stats));
        }
        all
    }
}

/// What domain_stats.csv calls what other files begin with.
const DOMAINS: [(&str, &str); 10] = [
    ("hip_api", "HIP_API"),
    ("hsa_api", "HSA_API"),
    ("marker_api", "MARKER_API"),
    ("rccl_api", "RCCL_API"),
    ("rocdecode_api", "ROCDECODE_API"),
    ("rocjpeg_api", "ROCJPEG_API"),
    ("other_api", "OTHER_API"),
    ("memory_copy", "MEMORY_COPY"),
    ("memory_allocation", "MEMORY_ALLOCATION"),
    ("scratch_memory", "SCRATCH_MEMORY"),
];

fn written(folder: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = files::temporary(folder)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}
