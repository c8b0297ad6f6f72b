//! From files to runs: what is a run, and what is known of it.

mod group;
mod names;
mod report;
mod trace;

use std::path::{Path, PathBuf};

use cli::{Failure, Progress};
use rtl_analysis::facts::Fact;
use rtl_analysis::profile::{KernelKey, Profile, Warmup};

use self::group::Claim;
use crate::settings::Manner;

/// One run of one side: a trace, a saved report, or all rank files of one job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Its files, in the order of their ranks.
    pub files: Vec<PathBuf>,
    /// What it did.
    pub profile: Profile,
    /// What it was recorded on and with.
    pub facts: Vec<Fact>,
    /// Whether it is a saved report, which says nothing of single calls.
    pub report: bool,
}

/// Reads the runs of one side, one at a time: memory is that of the largest, and with launch shapes 12 bytes for each op
/// of the others, which are compared call by call.
///
/// # Errors
/// Where a file is no trace and no report, where nothing says whether several files are runs or ranks, and where
/// what they say contradicts the command line.
pub fn side(paths: &[PathBuf], manner: &Manner, progress: &Progress) -> Result<Vec<Run>, Failure> {
    let mut read = Vec::new();
    for path in paths {
        read.push(Some(file(path, manner)?));
        progress.advance(std::fs::metadata(path).map_or(0, |file| file.len()));
    }
    let claims: Vec<Claim> = read.iter().flatten().map(|(claim, _)| claim.clone()).collect();
    let groups = group::runs(&claims, manner.files)?;
    let run = |members: Vec<usize>| {
        if let [one] = members[..] {
            return Ok(read[one].take().map(|(_, run)| run).unwrap_or_default());
        }
        if let Some((_, run)) = members.iter().filter_map(|&at| read[at].as_ref()).find(|(_, run)| run.report)
        {
            return Err(no_rank(&run.files[0]));
        }
        // That these files are ranks of one run, and in which order, turned out only after they were read.
        let files: Vec<PathBuf> = members.iter().map(|&at| claims[at].path.clone()).collect();
        let (profile, facts) = trace::ranks(&files, manner)?;
        Ok(Run { files, profile, facts, report: false })
    };
    groups.into_iter().map(run).collect()
}

fn file(path: &Path, manner: &Manner) -> Result<(Claim, Run), Failure> {
    let files = vec![path.to_owned()];
    if report::is_one(path) {
        check_report(path, manner)?;
        let (claim, profile, facts) = report::read(path)?;
        return Ok((claim, Run { files, profile, facts, report: true }));
    }
    let tables = trace::tables(path, manner)?;
    let (profile, facts) = trace::reduced(&tables, manner);
    Ok((Claim::of(path.to_owned(), &tables), Run { files, profile, facts, report: false }))
}

fn no_rank(path: &Path) -> Failure {
    Failure::input(anyhow::anyhow!("{}: a saved report cannot be one of several ranks", path.display()))
        .with_hint("make one report of all of them: rtl-summary --format json rank*.db")
}

/// A report holds no rows that could still be chosen from.
fn check_report(path: &Path, manner: &Manner) -> Result<(), Failure> {
    let what = if manner.by == KernelKey::Launch {
        "told apart by launch shape"
    } else if manner.warmup != Warmup::Keep {
        "freed from its warm-up"
    } else if manner.filtered {
        "filtered"
    } else {
        return Ok(());
    };
    Err(Failure::input(anyhow::anyhow!("{}: a saved report cannot be {what}", path.display()))
        .with_hint("give the option to rtl-summary when the report is made, or compare the trace itself"))
}
