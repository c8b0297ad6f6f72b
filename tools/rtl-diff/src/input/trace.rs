//! Traces as runs.

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::facts::facts;
use rtl_analysis::profile::profile;
use rtl_analysis::{Analysis, Categories, combine, region};
use rtl_schema::{Tables, Trace};

use super::demangle::demangle;
use super::run::Run;
use crate::settings::ReadOptions;

/// The rows of one file that pass the filters.
pub(super) fn tables(path: &Path, options: &ReadOptions) -> Result<Tables, Failure> {
    let mut tables = Trace::open(path)?.read(&options.select)?;
    region::apply(&mut tables, &options.filter).map_err(|error| filter::failure(path, error))?;
    Ok(tables)
}

/// Reduces rows to a run.
pub(super) fn reduce(files: Vec<PathBuf>, tables: &Tables, options: &ReadOptions) -> Run {
    let analysis = Analysis::new(tables, &Categories::default());
    let mut profile = profile(&analysis, options.by, options.warmup);
    demangle(&mut profile);
    Run { files, profile, facts: facts(tables), is_report: false }
}

/// Reads all ranks of a run: their GPUs stay apart, in the order of the files.
pub(super) fn read(files: Vec<PathBuf>, options: &ReadOptions) -> Result<Run, Failure> {
    let mut all = Tables::default();
    for path in &files {
        combine::append(&mut all, tables(path, options)?);
    }
    Ok(reduce(files, &all, options))
}
