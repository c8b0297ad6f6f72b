//! Adds a trace to a data set as one run.

use cli::Failure;
use dataset::{Provenance, Run};
use rtl_schema::Select;
use tables::Loaded;

use crate::format::{Format, Job, Written};
use crate::rows::RowCounts;

pub const FORMAT: Format = Format {
    name: "dataset",
    aliases: &[],
    help: "A run in a data set: Parquet in folders by job, run, table and ranks, for SQL engines; other runs stay",
    endings: &[".dataset"],
    default_ending: ".dataset",
    partitioned: true,
    has_operators: true,
    write,
};

fn write(job: &Job<'_>) -> Result<Written, Failure> {
    if job.split.is_some() {
        return Err(
            Failure::usage("--split has no meaning in a data set").with_hint("it has a folder for each rank")
        );
    }
    let args = !job.render.no_args;
    let select = Select { args, python: true, ..Select::everything() };
    let tables = job.source.read(&select)?;
    let rows = RowCounts { all: RowCounts::count(&tables), ..RowCounts::default() };
    let name = job.run.name.clone().unwrap_or_else(|| run_name(job));
    let trace = Loaded::new(&name, select, tables);
    let run = Run { job: job.run.job.as_deref().unwrap_or("default"), run: &name, force: job.force };
    let provenance = Provenance { path: job.trace, name: None, version: env!("CARGO_PKG_VERSION") };
    let added = dataset::add(job.output, &run, &trace, &provenance)?;
    Ok(Written { paths: vec![added.path], rows, warnings: Vec::new() })
}

/// The name of the trace without its endings, with a dash for each letter that a name of a run cannot have.
fn run_name(job: &Job<'_>) -> String {
    let name = job.trace.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem).trim_start_matches('.');
    let letter =
        |letter: char| if letter.is_alphanumeric() || "._-+".contains(letter) { letter } else { '-' };
    stem.chars().map(letter).collect()
}
