//! Reads the files of a side and groups them into runs.

mod demangle;
mod group;
mod report;
mod run;
mod trace;

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::profile::{KernelKey, Warmup};

use self::group::Origin;
pub(crate) use self::run::{Run, label};
use crate::settings::ReadOptions;

/// Reads the runs of one side, one at a time: memory is that of the largest, and with launch shapes 12 bytes for each op
/// of the others, which are compared call by call.
///
/// # Errors
/// Where a file is neither a trace nor a report, where it is unknown whether several files are runs or ranks, and where
/// the files contradict the command line.
pub(crate) fn read_side(paths: &[PathBuf], options: &ReadOptions) -> Result<Vec<Run>, Failure> {
    let (mut origins, mut runs) = (Vec::new(), Vec::new());
    let mut empty = None;
    for path in paths {
        match read_file(path, options) {
            Ok((origin, run)) => {
                origins.push(origin);
                runs.push(Some(run));
            }
            // Another rank of the run may have rows of the selection.
            Err(failure) if filter::is_empty_selection(&failure) => empty = empty.or(Some(failure)),
            Err(failure) => return Err(failure),
        }
    }
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
            .with_hint("make one report of all of them: rtl-summary --format json rank*.db"));
        }
        // Only now are these files known to be ranks of one run, and their order.
        trace::read(members.iter().map(|&at| origins[at].path.clone()).collect(), options)
    };
    group::runs(&origins, options.files)?.into_iter().map(run).collect()
}

fn read_file(path: &Path, options: &ReadOptions) -> Result<(Origin, Run), Failure> {
    if report::is_report(path) {
        check_report(path, options)?;
        return report::read(path);
    }
    let tables = trace::tables(path, options)?;
    Ok((Origin::of(path, &tables), trace::reduce(vec![path.to_owned()], &tables, options)))
}

/// A report has no rows left to select from.
fn check_report(path: &Path, options: &ReadOptions) -> Result<(), Failure> {
    let what = if options.by == KernelKey::Launch {
        "distinguished by launch shape"
    } else if options.warmup != Warmup::Keep {
        "freed from its warm-up"
    } else if options.filtered {
        "filtered"
    } else {
        return Ok(());
    };
    Err(Failure::input(anyhow::anyhow!("{}: a saved report cannot be {what}", path.display()))
        .with_hint("give the option to rtl-summary when the report is made, or compare the trace itself"))
}
