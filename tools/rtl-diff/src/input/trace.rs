//! Traces as runs.

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::facts::{Fact, facts};
use rtl_analysis::profile::{Profile, profile};
use rtl_analysis::{Categories, combine, region};
use rtl_schema::{Error, Tables, Trace};

use super::names;
use crate::settings::Manner;

/// The rows of one file, without those that do not count.
pub(super) fn tables(path: &Path, manner: &Manner) -> Result<Tables, Failure> {
    let mut tables = Trace::open(path).and_then(|trace| trace.read(&manner.select)).map_err(unreadable)?;
    region::apply(&mut tables, &manner.filter).map_err(|error| {
        Failure::input(error)
            .context(path.display().to_string())
            .with_hint("`rtl-summary --section trace,ranges,kernels` shows what there is to choose from")
    })?;
    Ok(tables)
}

/// What rows say of a run.
pub(super) fn reduced(tables: &Tables, manner: &Manner) -> (Profile, Vec<Fact>) {
    let mut profile = profile(tables, &Categories::default(), manner.by, manner.warmup);
    names::demangle(&mut profile);
    (profile, facts(tables))
}

/// All ranks of a run as one: their GPUs stay apart, in the order of the files.
pub(super) fn ranks(paths: &[PathBuf], manner: &Manner) -> Result<(Profile, Vec<Fact>), Failure> {
    let mut all = Tables::default();
    for path in paths {
        combine::append(&mut all, tables(path, manner)?);
    }
    Ok(reduced(&all, manner))
}

pub(super) fn unreadable(error: Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).with_hint(hint)
}
