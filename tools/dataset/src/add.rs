//! Adds a run: all of its files at once, or none.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use atomic_file::{AtomicDir, IfExists, Options};
use columnar::{Encoder, Field, Values};
use platform::disk::sync;
use tables::Loaded;

use crate::buckets::{Bucket, FILE, Packing};
use crate::buffer::Texts;
use crate::facts::{FACTS, Facts};
use crate::frameworks::EXTRA;
use crate::manifest::{MANIFEST, Manifest, SCHEMA, Source, TableManifest, Writer, runs};
use crate::rows::{self, Ranks, integers};
use crate::stats::{self, Aggregated};
use crate::stored::{RANK, stored};
use crate::{Error, GROUP, Result};

#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub job: &'a str,
    pub run: &'a str,
    /// A run of this name is replaced, and its rows may be those of another run.
    pub force: bool,
}

/// Where the rows come from.
#[derive(Debug, Clone, Copy)]
pub struct Provenance<'a> {
    pub path: &'a Path,
    /// The name for the manifest, where that is not the one of the file.
    pub name: Option<&'a str>,
    pub version: &'a str,
}

#[derive(Debug)]
pub struct Added {
    pub path: PathBuf,
    pub manifest: Manifest,
}

/// Checks that a run can be added to the data set in `folder` under this name.
pub fn check(folder: &Path, run: &Run<'_>) -> Result<()> {
    check_name(run.job, "job")?;
    check_name(run.run, "run")?;
    if let Some(other) = foreign(folder) {
        return Err(Error::Foreign { folder: folder.to_owned(), other });
    }
    if !run.force && run.path(folder).symlink_metadata().is_ok() {
        return Err(run.exists(folder));
    }
    Ok(())
}

/// Adds a trace, of which everything was read, to the data set in `folder`, which is made where it is missing. Readers see the run
/// when it is complete. What a killed writer has left is removed by the next one of the same job.
///
/// # Errors
/// As [`check`]; the rows are those of another run, or a file cannot be written.
pub fn add(folder: &Path, run: &Run<'_>, trace: &Loaded, provenance: &Provenance<'_>) -> Result<Added> {
    add_packed(folder, run, trace, provenance, &Packing::default())
}

/// As [`add`], in files of other sizes.
pub fn add_packed(
    folder: &Path,
    run: &Run<'_>,
    trace: &Loaded,
    provenance: &Provenance<'_>,
    packing: &Packing,
) -> Result<Added> {
    check(folder, run)?;
    let fingerprint = fingerprint(trace);
    let path = run.path(folder);
    // A run that cannot be read does not hinder another one.
    let others =
        runs(folder).into_iter().filter(|(of, _)| *of != path).filter_map(|(_, manifest)| manifest.ok());
    let same = others.into_iter().find(|manifest| manifest.fingerprint == fingerprint);
    if let Some(Manifest { job, run, .. }) = same.filter(|_| !run.force) {
        return Err(Error::Same { folder: folder.to_owned(), job, run });
    }
    let around = path.parent().unwrap_or(folder);
    fs::create_dir_all(around).map_err(|source| Error::Io { path: around.to_owned(), source })?;
    let options = Options { if_exists: IfExists::forced(run.force), inputs: &[provenance.path] };
    let output = AtomicDir::create(&path, &options)?;
    let mut files = Files { path: &path, place: output.place(), packing, tables: Vec::new() };
    write(trace, &mut files)?;
    let manifest = Manifest {
        schema: SCHEMA.to_owned(),
        job: run.job.to_owned(),
        run: run.run.to_owned(),
        writer: Writer { tool: "rtl".to_owned(), version: provenance.version.to_owned() },
        source: source(trace, provenance),
        fingerprint,
        tables: files.tables.iter().map(|(name, table)| ((*name).to_owned(), *table)).collect(),
    };
    files.finish(&Facts::new(trace.tables()), &manifest)?;
    output.commit().map_err(|error| match error {
        atomic_file::Error::Exists { .. } => run.exists(folder),
        other => other.into(),
    })?;
    // The rename itself must outlive a crash of the machine.
    for folder in [around, folder] {
        sync(folder).map_err(|source| Error::Io { path: folder.to_owned(), source })?;
    }
    Ok(Added { path, manifest })
}

impl Run<'_> {
    fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("job={}", self.job)).join(format!("run={}", self.run))
    }

    fn exists(&self, folder: &Path) -> Error {
        Error::Exists { folder: folder.to_owned(), job: self.job.to_owned(), run: self.run.to_owned() }
    }
}

fn check_name(name: &str, of: &'static str) -> Result<()> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+".contains(letter);
    let is_name =
        !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_plain);
    if is_name { Ok(()) } else { Err(Error::Name { name: name.to_owned(), of }) }
}

/// A data set has nothing but runs.
fn foreign(folder: &Path) -> Option<PathBuf> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(_) if folder.symlink_metadata().is_err() => return None,
        Err(_) => return Some(folder.to_owned()),
    };
    let is_own = |name: &str| name.starts_with("job=") || name.starts_with(['.', '_']);
    entries.flatten().find(|entry| !is_own(&entry.file_name().to_string_lossy())).map(|entry| entry.path())
}

/// Traces with the same rows have the same fingerprint, a hash of how many rows there are, and when they are.
fn fingerprint(trace: &Loaded) -> String {
    let tables = trace.tables();
    // FNV-1a: the same in every version of every program.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |number: i64| {
        for byte in number.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    stored().iter().for_each(|stored| add(stored.table.rows(trace) as i64));
    for (row, &start) in tables.dispatches.start.iter().enumerate() {
        add(start);
        add(tables.dispatches.duration.get(row).unwrap_or(-1));
    }
    tables.copies.iter().for_each(|copy| add(copy.start));
    tables.api_calls.start.iter().for_each(|&start| add(start));
    tables.processes.iter().for_each(|process| add(process.pid.unwrap_or(-1)));
    format!("{hash:016x}")
}

fn source(trace: &Loaded, provenance: &Provenance<'_>) -> Source {
    let info = &trace.tables().info;
    let of_path = || provenance.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = fs::metadata(provenance.path).ok().filter(fs::Metadata::is_file);
    Source {
        file: provenance.name.map_or_else(of_path, str::to_owned),
        bytes: file.map(|file| file.len()),
        dialect: info.dialect.label().to_owned(),
        tool: info.tool.clone(),
        tool_version: info.tool_version.clone(),
    }
}

fn write(trace: &Loaded, files: &mut Files<'_>) -> Result<()> {
    let (mut texts, tables) = (Texts::default(), trace.tables());
    for stored in stored() {
        let ranks = rows::by_rank(trace, stored, &mut texts);
        if stored.table.name == "dispatches" {
            files.aggregated(&stats::kernels(trace, stored.table, &ranks, &mut texts))?;
        }
        let values = |position, rows: &[u32]| stored.values(trace, position, rows, &mut texts);
        files.table(stored.table.name, (stored.fields(), stored.sorted_by()), &ranks, values)?;
    }
    for extra in &EXTRA {
        let values = |position, rows: &[u32]| extra.values(tables, position, rows);
        files.table(extra.name, (extra.fields(), Some(0)), &extra.by_rank(tables), values)?;
    }
    if let Some(idle) = tables::find("idle").filter(|idle| idle.rows(trace) > 0) {
        let rows: Vec<u32> = (0..idle.rows(trace) as u32).collect();
        let mut ranks: Vec<_> = tables.processes.iter().map(|process| process.rank).collect();
        ranks.dedup();
        // Pieces name a GPU, which belongs to a rank where there is only one.
        let rank = if let [rank] = ranks[..] { rank.map(i64::from) } else { None };
        files.aggregated(&stats::idle(trace, idle, &Ranks::from([(rank, rows)]), &mut texts))?;
    }
    Ok(())
}

struct Files<'a> {
    /// Where the files will be.
    path: &'a Path,
    /// Where the files grow.
    place: PathBuf,
    packing: &'a Packing,
    tables: Vec<(&'static str, TableManifest)>,
}

impl Files<'_> {
    fn aggregated(&mut self, table: &Aggregated) -> Result<()> {
        self.table(table.name, (table.fields(), None), &table.ranks, |position, rows| {
            table.values(position, rows)
        })
    }

    /// `values` gives those of a column by its position, and one column may order the rows of a rank.
    fn table(
        &mut self,
        name: &'static str,
        (mut fields, sorted_by): (Vec<Field>, Option<usize>),
        ranks: &Ranks,
        mut values: impl FnMut(usize, &[u32]) -> Values,
    ) -> Result<()> {
        if ranks.is_empty() {
            return Ok(());
        }
        let columns = fields.len();
        let sorted_by: Vec<usize> = [columns].into_iter().chain(sorted_by).collect();
        fields.push(Field { name: RANK.to_owned(), kind: columnar::Type::Integer });
        let options = columnar::Options { sorted_by: &sorted_by, metadata: &[("rtl", SCHEMA)] };
        let encoder = Encoder::new(&fields, &options)
            .map_err(|source| Error::Parquet { path: self.path.join(name), source })?;
        let rows = ranks.values().map(|rows| rows.len() as u64).sum();
        let width = self.packing.width(&ranks.keys().flatten().copied().collect::<Vec<_>>(), rows);
        let mut table = TableManifest { rows, bytes: 0, files: 0, width };
        let bucket = |(rank, _): &(&Option<i64>, _)| Bucket::of(**rank, width);
        for ranks in ranks.iter().collect::<Vec<_>>().chunk_by(|one, next| bucket(one) == bucket(next)) {
            table.files += 1;
            table.bytes += self.file(name, &bucket(&ranks[0]), &encoder, |file| {
                let mut rows = ranks.iter().flat_map(|(rank, rows)| rows.iter().map(|row| (**rank, *row)));
                loop {
                    let (ranks, rows): (Vec<_>, Vec<_>) = rows.by_ref().take(GROUP).unzip();
                    if rows.is_empty() {
                        return Ok(());
                    }
                    let ranks = integers(ranks.into_iter());
                    file.push((0..columns).map(|position| values(position, &rows)).chain([ranks]))?;
                }
            })?;
        }
        self.tables.push((name, table));
        Ok(())
    }

    /// Returns the size in bytes.
    fn file(
        &self,
        table: &str,
        bucket: &Bucket,
        encoder: &Encoder,
        write: impl FnOnce(&mut columnar::Writer<BufWriter<File>>) -> columnar::Result<()>,
    ) -> Result<u64> {
        let name = PathBuf::from(format!("kind={table}")).join(bucket.folder());
        let io = |source| Error::Io { path: self.path.join(&name), source };
        fs::create_dir_all(self.place.join(&name)).map_err(io)?;
        let file = File::create_new(self.place.join(&name).join(FILE)).map_err(io)?;
        let written = columnar::Writer::new(BufWriter::with_capacity(1 << 18, file), encoder)
            .and_then(|mut groups| {
                write(&mut groups)?;
                groups.finish()
            })
            .map_err(|source| Error::Parquet { path: self.path.join(&name), source })?;
        let file = written.into_inner().map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        sync(&self.place.join(&name)).map_err(io)?;
        Ok(bytes)
    }

    /// The manifest is the last of all files.
    fn finish(&self, facts: &Facts, manifest: &Manifest) -> Result<()> {
        for (table, _) in &self.tables {
            let folder = format!("kind={table}");
            sync(&self.place.join(&folder))
                .map_err(|source| Error::Io { path: self.path.join(folder), source })?;
        }
        self.document(FACTS, facts)?;
        self.document(MANIFEST, manifest)?;
        sync(&self.place).map_err(|source| Error::Io { path: self.path.to_owned(), source })
    }

    fn document(&self, name: &str, content: &impl serde::Serialize) -> Result<()> {
        let write = || {
            let mut file = BufWriter::new(File::create_new(self.place.join(name))?);
            serde_json::to_writer_pretty(&mut file, content)?;
            file.write_all(b"\n")?;
            file.into_inner().map_err(|error| error.into_error())?.sync_all()
        };
        write().map_err(|source| Error::Io { path: self.path.join(name), source })
    }
}
