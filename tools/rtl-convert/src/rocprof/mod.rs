//! The files of rocprof, the profiler before rocprofv3: dispatches, statistics by name, and Chrome's JSON. Memory does not
//! grow with the ops.

mod csv;
mod json;
mod library;
mod stats;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, Destination};
use cli::{Failure, units};
use rtl_schema::table::{Copy, Direction};
use rtl_schema::{NameId, Select, Tables};

use self::csv::Dispatches;
use self::json::Json;
use self::library::Library;
use self::stats::Stats;
use crate::format::{Format, Job, Written};
use crate::names::{self, NameStyle};
use crate::rocprofv3::page_file::PageFile;
use crate::rocprofv3::{destination, publish, unwritten};
use crate::rows::RowCounts;

pub const FORMAT: Format = Format {
    name: "rocprof",
    aliases: &["rocprof-v1"],
    help: "rocprof's files before rocprofv3 (NAME.csv, NAME.stats.csv, NAME.json, ...)",
    endings: &[],
    default_ending: "_rocprof",
    partitioned: false,
    has_operators: false,
    write,
};

struct Files {
    names: NameStyle,
    no_args: bool,
    dispatches: Option<Dispatches>,
    destination: Destination,
    kernels: Stats,
    copies: Stats,
    hip: Stats,
    hsa: Stats,
    json: Json,
    rows: RowCounts,
    counters: u64,
}

fn write(job: &Job<'_>) -> Result<Written, Failure> {
    let failed = |error: io::Error| unwritten(error, job.output);
    let prefix = prefix(job.output);
    let destination = destination(&named(&prefix, ".json"), &job.rules())?;
    let json = Json::new(PageFile::create(&destination).map_err(failed)?);
    let mut files = Files {
        names: job.render.names,
        no_args: job.render.no_args,
        dispatches: None,
        destination,
        kernels: Stats::default(),
        copies: Stats::default(),
        hip: Stats::default(),
        hsa: Stats::default(),
        json,
        rows: RowCounts::default(),
        counters: 0,
    };
    let select = Select { args: !job.render.no_args, ..Select::everything() };
    let last = job.source.stream(&select, |batch| files.add(batch).map_err(failed))?;
    files.counters += last.counters.len() as u64;
    let (counters, rows) = (files.counters, files.rows);
    let outputs = files.finish(&prefix).map_err(failed)?;
    let written = publish(job, outputs, rows)?;
    let warning = (counters > 0).then(|| {
        format!("{} values of hardware counters are left out: rocprofv3-csv has them", units::count(counters))
    });
    Ok(Written { warnings: warning.into_iter().collect(), ..written })
}

/// `-o RUN`, `-o RUN.csv` and `-o RUN.json` write the same files.
fn prefix(output: &Path) -> PathBuf {
    let ending = output.extension().unwrap_or_default();
    let is_of_files = ["csv", "json"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    if is_of_files { output.with_extension("") } else { output.to_owned() }
}

fn named(prefix: &Path, ending: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

impl Files {
    fn add(&mut self, batch: &Tables) -> io::Result<()> {
        self.counters += batch.counters.len() as u64;
        self.calls(batch)?;
        self.dispatches(batch)?;
        self.copies(batch)?;
        for barrier in &batch.barriers {
            if let Some(end) = self.rows.end(barrier.start, barrier.duration) {
                let name = named_or(batch, barrier.name, "<barrier packet>");
                self.json.barrier(batch, barrier, &name, end)?;
            }
        }
        for range in &batch.ranges {
            let duration = if range.is_marker() { Some(0) } else { range.duration };
            if let Some(end) = self.rows.end(range.start, duration) {
                self.json.range(batch, range, batch.strings.get(range.name), end)?;
            }
        }
        Ok(())
    }

    fn calls(&mut self, batch: &Tables) -> io::Result<()> {
        for call in batch.api_calls.iter() {
            let Some(end) = self.rows.end(call.start, call.duration) else { continue };
            let name = named_or(batch, call.name, "(no name)");
            let domain = if call.domain.is_some() { batch.strings.get(call.domain) } else { "" };
            let library = Library::of(domain, &name);
            match library {
                Library::Hip => self.hip.add(&name, end - call.start),
                Library::Hsa => self.hsa.add(&name, end - call.start),
                Library::Other => {}
            }
            let arguments = if self.no_args { NameId::NONE } else { call.args };
            self.json.call(batch, library, &call, arguments, &name, end)?;
        }
        Ok(())
    }

    fn dispatches(&mut self, batch: &Tables) -> io::Result<()> {
        for dispatch in batch.dispatches.iter() {
            let Some(end) = self.rows.end(dispatch.start, dispatch.duration) else { continue };
            let name = self.kernel_name(batch, dispatch.name);
            self.kernels.add(&name, end - dispatch.start);
            if !self.hsa.is_empty() && self.hip.is_empty() {
                // In a trace of HSA rocprof counts each dispatch among the calls, without a time.
                self.hsa.add("hsa_dispatch", 0);
            }
            let file = match &mut self.dispatches {
                Some(file) => file,
                none => none.insert(Dispatches::create(&self.destination)?),
            };
            file.row(batch, &dispatch, &name, end)?;
            self.json.dispatch(batch, &dispatch, &name, end)?;
        }
        Ok(())
    }

    fn copies(&mut self, batch: &Tables) -> io::Result<()> {
        for copy in &batch.copies {
            let Some(end) = self.rows.end(copy.start, copy.duration) else { continue };
            let name = named_or(batch, copy.name, direction_name(copy));
            self.copies.add(&name, end - copy.start);
            self.json.copy(batch, copy, &name, end)?;
        }
        Ok(())
    }

    fn kernel_name<'a>(&self, batch: &'a Tables, name: NameId) -> Cow<'a, str> {
        let stored = rtl_schema::identity(batch.strings.get(name));
        match self.names {
            NameStyle::Mangled => Cow::Borrowed(stored),
            NameStyle::Full => names::shown(&batch.strings, name),
            NameStyle::Short => {
                Cow::Owned(rtl_schema::shorten(&names::shown(&batch.strings, name)).to_owned())
            }
        }
    }

    fn finish(self, prefix: &Path) -> io::Result<Vec<(PathBuf, AtomicFile)>> {
        let mut all = Vec::new();
        if let Some(dispatches) = self.dispatches {
            all.push((named(prefix, ".csv"), dispatches.finish()?));
        }
        for (ending, stats) in [
            (".stats.csv", self.kernels),
            (".hip_stats.csv", self.hip),
            (".hsa_stats.csv", self.hsa),
            (".copy_stats.csv", self.copies),
        ] {
            if !stats.is_empty() {
                let mut file = PageFile::create(&self.destination)?;
                file.bytes.extend_from_slice(stats.sheet().as_bytes());
                all.push((named(prefix, ending), file.finish()?));
            }
        }
        all.push((named(prefix, ".json"), self.json.finish()?));
        Ok(all)
    }
}

/// The stored name, else `other`.
fn named_or<'a>(batch: &'a Tables, name: NameId, other: &'static str) -> Cow<'a, str> {
    let stored = if name.is_some() { batch.strings.get(name) } else { "" };
    Cow::Borrowed(if stored.is_empty() { other } else { stored })
}

/// The name that rocprof gives a copy.
fn direction_name(copy: &Copy) -> &'static str {
    match copy.direction {
        Direction::HostToDevice => "CopyHostToDevice",
        Direction::DeviceToHost => "CopyDeviceToHost",
        Direction::DeviceToDevice => "CopyDeviceToDevice",
        Direction::HostToHost => "CopyHostToHost",
        Direction::Fill => "FillBuffer",
        Direction::Unknown => "Copy",
    }
}
