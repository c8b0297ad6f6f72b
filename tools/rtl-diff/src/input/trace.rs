//! Reads traces and reduces them to runs.

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::combine::Combined;
use rtl_analysis::complete_steps::CompleteSteps;
use rtl_analysis::facts::facts;
use rtl_analysis::profile::profile;
use rtl_analysis::trust::{Reason, Trust, health};
use rtl_analysis::work::Work;
use rtl_analysis::{Analysis, Categories, region, stray};
use rtl_schema::{Tables, Trace};

use super::demangle::demangle;
use super::run::{Run, Steps};
use crate::settings::ReadOptions;

pub(super) struct Rows {
    pub(super) tables: Tables,
    /// The reasons why the file cannot be trusted; `None` where they are still to be found.
    distrust: Option<Vec<(Trust, String)>>,
}

pub(super) fn rows(path: &Path, options: &ReadOptions) -> Result<Rows, Failure> {
    let mut tables = Trace::open(path)?.read(&options.select)?;
    stray::set_apart(&mut tables);
    // A filter would leave launches without their kernels.
    let before = options.filtered.then(|| distrust(&Analysis::new(&tables, &Categories::default()), path));
    region::apply(&mut tables, &options.filter).map_err(|error| cli::filter::failure(path, error))?;
    Ok(Rows { tables, distrust: before })
}

fn distrust(analysis: &Analysis<'_>, path: &Path) -> Vec<(Trust, String)> {
    distrust_of(path, health(analysis, None).reasons)
}

/// Reasons with the file in front, without remarks.
pub(super) fn distrust_of(path: &Path, reasons: Vec<Reason>) -> Vec<(Trust, String)> {
    let reasons = reasons.into_iter().filter(|reason| reason.trust > Trust::Good);
    reasons.map(|reason| (reason.trust, format!("{}: {}", path.display(), reason.sentence))).collect()
}

pub(super) fn reduce(path: &Path, rows: Rows, options: &ReadOptions) -> Run {
    reduce_all(vec![path.to_owned()], rows, options)
}

fn reduce_all(files: Vec<PathBuf>, rows: Rows, options: &ReadOptions) -> Run {
    let Rows { mut tables, distrust: mut known } = rows;
    let steps = if options.complete_steps { CompleteSteps::of(&tables) } else { None };
    let whole =
        |analysis: &Analysis<'_>| files.first().map(|path| distrust(analysis, path)).unwrap_or_default();
    if let Some(steps) = &steps {
        known.get_or_insert_with(|| whole(&Analysis::new(&tables, &Categories::default())));
        steps.retain(&mut tables);
    }
    // One analysis sorts the ops once for all that follows.
    let analysis = Analysis::new(&tables, &Categories::default());
    let distrust = known.unwrap_or_else(|| whole(&analysis));
    let mut profile = profile(&analysis, options.by, options.warmup);
    let work = options.work.map(|key| Work::new(&analysis, key, steps.as_ref(), &profile.gpus));
    demangle(&mut profile);
    let steps = steps.map(|steps| Steps {
        name: steps.name(&tables).to_owned(),
        count: steps.count(),
        left_out: steps.left_out(),
    });
    Run { files, profile, work, steps, facts: facts(&tables), distrust, ..Run::default() }
}

/// The GPUs of the ranks stay apart, in the order of the files.
pub(super) fn read(files: Vec<PathBuf>, options: &ReadOptions) -> Result<Run, Failure> {
    let mut all = Combined::default();
    let mut reasons = Vec::new();
    for path in &files {
        let Rows { tables, distrust: known } = rows(path, options)?;
        let whole = || distrust(&Analysis::new(&tables, &Categories::default()), path);
        reasons.extend(known.unwrap_or_else(whole));
        all.append(tables);
    }
    Ok(reduce_all(files, Rows { tables: all.into_tables(), distrust: Some(reasons) }, options))
}
