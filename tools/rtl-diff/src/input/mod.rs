//! Reads the files of a side and groups them into runs.

mod demangle;
mod group;
mod report;
mod run;
mod trace;

use std::path::{Path, PathBuf};

use cli::{Failure, Output};
use rtl_analysis::profile::{KernelKey, Warmup};
use rtl_analysis::work::{self, WorkKey};

use self::group::Origin;
pub(crate) use self::run::{Run, Steps, label};
use crate::settings::ReadOptions;

/// The files without repetitions, of which the user is warned.
pub(crate) fn distinct(side: &[PathBuf], is_quiet: bool, out: &mut Output) -> Vec<PathBuf> {
    let (files, warnings) = cli::without_repetitions(side);
    for warning in warnings.iter().filter(|_| !is_quiet) {
        out.warning(warning);
    }
    files
}

/// Reads the runs of one side, one at a time: memory is that of the largest, and with launch shapes 12 bytes for each op
/// of the others, which are compared call by call.
pub(crate) fn read_side(paths: &[PathBuf], options: &ReadOptions) -> Result<Vec<Run>, Failure> {
    let (mut origins, mut runs) = (Vec::new(), Vec::new());
    let mut empty = None;
    cli::read_in_order(
        paths,
        |path| read_file(path, options),
        |read| {
            match read {
                Ok((origin, run)) => {
                    origins.push(origin);
                    runs.push(Some(run));
                }
                // Another rank of the run may have rows of the selection.
                Err(failure) if cli::filter::is_empty_selection(&failure) => {
                    empty = empty.take().or(Some(failure))
                }
                Err(failure) => return Err(failure),
            }
            Ok(())
        },
    )?;
    if let Some(failure) = empty.filter(|_| origins.is_empty()) {
        return Err(failure);
    }
    let run = |members: Vec<usize>| {
        if let [one] = members[..] {
            return Ok(runs[one].take().unwrap_or_default());
        }
        if let Some(report) = members.iter().filter_map(|&at| runs[at].as_ref()).find(|run| run.is_report) {
            let path = report.files[0].display();
            return Err(Failure::input(anyhow::anyhow!(
                "{path}: a saved report cannot be one of several ranks"
            ))
            .with_hint("make one report of all of them: rtl-summary --to json rank*.db"));
        }
        // Files are known to be ranks of one run, and in which order, only when all have been read.
        trace::read(members.iter().map(|&at| origins[at].path.clone()).collect(), options)
    };
    group::runs(&origins, options.files)?.into_iter().map(run).collect()
}

fn read_file(path: &Path, options: &ReadOptions) -> Result<(Origin, Run), Failure> {
    if report::is_report(path) {
        check_report(path, options)?;
        return report::read(path);
    }
    let rows = trace::rows(path, options)?;
    Ok((Origin::new(path, &rows.tables), trace::reduce(path, rows, options)))
}

pub(crate) fn any_report<'a>(mut paths: impl Iterator<Item = &'a Path>) -> bool {
    paths.any(report::is_report)
}

/// Puts the work of both sides, as far as they have it in common, in place of their kernels. Returns true if shapes of
/// operators had to be ignored.
pub(crate) fn align(sides: [&mut [Run]; 2], key: WorkKey) -> bool {
    let works =
        sides.each_ref().map(|runs| runs.iter().filter_map(|run| run.work.as_ref()).collect::<Vec<_>>());
    let aligned = work::align([&works[0], &works[1]], key);
    for (runs, (profiles, wholes)) in sides.into_iter().zip(aligned.profiles.into_iter().zip(aligned.wholes))
    {
        for (run, (profile, whole)) in runs.iter_mut().zip(profiles.into_iter().zip(wholes)) {
            (run.profile, run.whole) = (profile, Some(whole));
        }
    }
    aligned.without_shapes
}

/// A saved report has no rows to select from, so some flags are refused.
fn check_report(path: &Path, options: &ReadOptions) -> Result<(), Failure> {
    let what = if options.work.is_some() {
        "divided by operator, module, category or step"
    } else if options.by == KernelKey::Launch {
        "distinguished by launch shape"
    } else if options.warmup != Warmup::Keep {
        "freed from its warm-up"
    } else if options.filtered {
        "filtered"
    } else {
        return Ok(());
    };
    Err(Failure::input(anyhow::anyhow!("{}: a saved report cannot be {what}", path.display())).with_hint(
        match options.work {
            Some(_) => "compare the trace itself",
            None => "give the option to rtl-summary when the report is made, or compare the trace itself",
        },
    ))
}
