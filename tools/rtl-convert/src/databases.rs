//! Formats that keep the rows of a trace as they are stored: our own layout and RPD's.

use atomic_file::AtomicFile;
use cli::Failure;
use rtl_schema::{Select, Tables};
use rtl_write::{NativeWriter, RpdWriter, TraceImport};

use crate::format::{Format, Job, Written};
use crate::rows::RowCounts;

pub const NATIVE: Format = Format {
    name: "native",
    aliases: &["rtl"],
    help: "rtl's own database: every row, from any other tool's trace",
    endings: &[".db"],
    default_ending: "_native.db",
    partitioned: false,
    has_operators: true,
    write: native,
};

pub const RPD: Format = Format {
    name: "rpd",
    aliases: &[],
    help: "RPD's database, schema 3, for rocmProfileData's tools",
    endings: &[".rpd"],
    default_ending: ".rpd",
    partitioned: false,
    has_operators: false,
    write: rpd,
};

fn native(job: &Job<'_>) -> Result<Written, Failure> {
    let file = AtomicFile::create(job.output, &job.rules())?;
    let mut writer = NativeWriter::within(&file.place(), job.output)?;
    let mut incoming = TraceImport::default();
    let (last, rows) = stream(job, |batch| Ok(incoming.push(&mut writer, batch)?))?;
    incoming.finish(&mut writer, &last)?;
    writer.finish()?;
    file.commit()?;
    Ok(Written::one(job, rows))
}

fn rpd(job: &Job<'_>) -> Result<Written, Failure> {
    let file = AtomicFile::create(job.output, &job.rules())?;
    let mut writer = RpdWriter::within(&file.place(), job.output)?;
    let (last, rows) = stream(job, |batch| Ok(writer.push(batch)?))?;
    let without_end = writer.finish(&last)?;
    file.commit()?;
    Ok(Written::one(job, RowCounts { without_end, ..rows }))
}

/// All rows, with the arguments that a job wants.
pub fn select(job: &Job<'_>) -> Select {
    let args = !job.render.no_args;
    Select { shapes: args, launch: args, args, ..Select::everything() }
}

/// Passes every batch of rows to `each` and counts its rows. Returns the tables that remain at the end, as [`rtl_schema::Trace::stream`]
/// does.
pub fn stream(
    job: &Job<'_>,
    mut each: impl FnMut(&Tables) -> Result<(), Failure>,
) -> Result<(Tables, RowCounts), Failure> {
    let mut rows = RowCounts::default();
    let last = job.source.stream(&select(job), |batch| {
        rows.all += RowCounts::count(batch);
        each(batch)
    })?;
    Ok((last, rows))
}
