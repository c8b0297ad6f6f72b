//! Did it get slower? The verb behind `rtl-diff`.
//!
//! It reads as the data flows: [`args`] is what was typed, [`settings`] what it means together with `rtl-diff.toml`,
//! [`input`] turns files into runs, [`comparison`] compares them, [`gates`] says what holds, [`document`] is the
//! versioned shape of the answer and [`export`] has one file per format. What it is not: statistics, identity of kernels and the books
//! are `analysis`'s, and no table of any tool is known here (that is `schema`).

/// What was typed.
pub mod args;
pub mod calibrate;
pub mod comparison;
pub mod config;
mod date;
pub mod document;
pub mod export;
pub mod gates;
pub mod input;
pub mod quantity;
pub mod settings;

use std::path::{Path, PathBuf};

use cli::{Exit, Failure, Output, Progress};

use crate::args::{Arguments, Command, Diff, Inconclusive};
use crate::comparison::Comparison;
use crate::export::{Answer, Exports};
use crate::gates::Outcome;
use crate::settings::Settings;

/// Why a trace cannot be gated against itself.
const SAME: &str = "baseline and candidate are the same trace";

/// Compares, or calibrates.
///
/// # Errors
/// Where the command line makes no sense, an input cannot be read, or an output cannot be written.
pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    match arguments.command {
        Some(Command::Calibrate(calibrate)) => calibrate::run(&calibrate, out),
        None => diff(&arguments.diff, out),
    }
}

fn diff(diff: &Diff, out: &mut Output) -> Result<Exit, Failure> {
    let settings = Settings::of(diff)?;
    let [baseline, candidate] = sides(diff)?;
    // A path that cannot be written is told before minutes of reading.
    let exports = Exports::open(&diff.output, baseline.iter().chain(&candidate))?;
    let sizes = baseline.iter().chain(&candidate).map(|path| size(path)).sum();
    let progress = Progress::new("reading", sizes, diff.output.console.quiet);
    let baseline = input::side(&baseline, &settings.manner, &progress)?;
    let candidate = input::side(&candidate, &settings.manner, &progress)?;
    drop(progress);

    let mut comparison = comparison::compare(&baseline, &candidate, &settings)?;
    let same = identical(&comparison);
    if let Some(same) = &same {
        comparison.notes.push(same.clone());
        if settings.gates.any() {
            comparison.incomparable = Some(same.clone());
        }
    }
    for allowance in &settings.expired {
        comparison.notes.push(format!(
            "the allowance for {} ended on {} and no longer counts ({})",
            allowance.pattern, allowance.expires, allowance.reason
        ));
    }
    let gates = gates::gates(&comparison, &settings, diff.require_comparable);
    let verdict = gates::verdict(&gates);
    let answer = Answer { comparison: &comparison, gates: &gates, verdict, settings: &settings };
    exports.write(&answer, &diff.output, out)?;
    end(&answer, diff, out)
}

/// How the program ends, with a sentence where that is not what the answer says.
fn end(answer: &Answer<'_>, diff: &Diff, out: &mut Output) -> Result<Exit, Failure> {
    let comparison = answer.comparison;
    if comparison.baseline.is_empty() && diff.allow_no_baseline {
        return Ok(Exit::Success);
    }
    if let Some(why) = &comparison.incomparable {
        let hint = if comparison.baseline.is_empty() {
            "name the runs to compare with by `--baseline`, or accept that there are none with `--allow-no-baseline`"
        } else if why == SAME {
            "name two runs; a gate on one trace alone could never fail"
        } else {
            "`rtl-summary --section trace,kernels` shows what each side holds"
        };
        return Err(Failure::input(anyhow::anyhow!("cannot compare: {why}")).with_hint(hint));
    }
    let inconclusive = answer.settings.inconclusive;
    if inconclusive == Inconclusive::Warn && !diff.output.console.quiet {
        for gate in answer.gates.iter().filter(|gate| gate.outcome == Outcome::Inconclusive) {
            out.warning(&format!("the gate on {} is undecided: {}", gate.rule.title(), gate.message));
        }
    }
    Ok(gates::exit(answer.gates, inconclusive))
}

/// The files of both sides.
fn sides(diff: &Diff) -> Result<[Vec<PathBuf>; 2], Failure> {
    if let Some(folder) = &diff.gates.history {
        let candidate = if diff.candidate.is_empty() { &diff.traces } else { &diff.candidate };
        return Ok([past(folder)?, candidate.clone()]);
    }
    let (mut baseline, candidate) = match diff.traces.as_slice() {
        [] => (diff.baseline.clone(), diff.candidate.clone()),
        [candidate] if diff.allow_no_baseline => (Vec::new(), vec![candidate.clone()]),
        [_] => {
            return Err(Failure::usage("one trace cannot be compared with itself")
                .with_hint("name the baseline, then the candidate: rtl-diff before.db after.db"));
        }
        [baseline, candidate, ..] => (vec![baseline.clone()], vec![candidate.clone()]),
    };
    if candidate.is_empty() {
        return Err(Failure::usage("missing: the runs of the candidate")
            .with_hint("rtl-diff before.db after.db, or --baseline a*.db --candidate b*.db"));
    }
    if diff.allow_no_baseline && baseline.iter().all(|path| !path.exists()) {
        baseline.clear();
    }
    Ok([baseline, candidate])
}

/// The runs in a folder, oldest first by name; what begins with a dot is none.
fn past(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::input(error)
            .context(format!("cannot read {}", folder.display()))
            .with_hint("--history takes a folder with one trace or report for each past run")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Why a comparison of one file with itself means nothing, where it is one.
fn identical(comparison: &Comparison) -> Option<String> {
    let [[before], [after]] = [&comparison.baseline, &comparison.candidate].map(Vec::as_slice) else {
        return None;
    };
    let same =
        before.len() == after.len() && before.iter().zip(after).all(|(one, other)| same_content(one, other));
    same.then(|| SAME.to_owned())
}

fn same_content(one: &Path, other: &Path) -> bool {
    if one.canonicalize().ok() == other.canonicalize().ok() {
        return true;
    }
    if size(one) != size(other) {
        return false;
    }
    // Two traces of one size are hardly ever different ones.
    std::fs::read(one).ok().zip(std::fs::read(other).ok()).is_some_and(|(one, other)| one == other)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
