//! Did it get slower? The library behind `rtl-diff`.
//!
//! The modules in the order of the data: `args` are the flags, `settings` adds `rtl-diff.toml` and defaults, `input`
//! reads files into runs, `comparison` compares the runs, `gates` evaluates thresholds and `export` has one file per
//! format. Statistics, the pairing of kernels and the decomposition of wall are in `rtl_analysis`, table names in
//! `rtl_schema`.

mod args;
mod calibrate;
mod comparison;
mod config;
mod export;
mod gates;
mod input;
mod noise;
mod quantity;
mod settings;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cli::{Exit, Failure, Output, Progress};

use crate::args::{Allow, Arguments, Command, Diff, Files, Inconclusive, Reading};
use crate::comparison::Comparison;
pub use crate::export::PagePart;
use crate::export::{Exports, Report};
use crate::gates::{Gate, Outcome};
use crate::settings::Settings;

const SAME: &str = "baseline and candidate are the same trace";

pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    match arguments.command {
        Some(Command::Calibrate(calibrate)) => calibrate::run(&calibrate, out),
        None => diff(&arguments.diff, out),
    }
}

fn diff(diff: &Diff, out: &mut Output) -> Result<Exit, Failure> {
    if diff.require_comparable && diff.allows(Allow::Incomparable) {
        return Err(Failure::usage("--require-comparable and --allow incomparable contradict each other"));
    }
    let settings = Settings::new(diff)?;
    let sides = sides(diff)?.map(|side| input::distinct(&side, diff.output.console.quiet, out));
    let inputs: Vec<&Path> = sides.iter().flatten().map(PathBuf::as_path).collect();
    // A path that cannot be written is an error before minutes of reading.
    let exports = Exports::open(&diff.output, &inputs)?;
    let inconclusive = settings.thresholds.inconclusive.unwrap_or_default();
    with_report(diff, settings, &sides, |report| {
        exports.write(report, &diff.output, out)?;
        exit(report, inconclusive, diff, out)
    })
}

/// A comparison for a page about the candidate.
#[derive(Debug)]
pub struct PageComparison {
    pub part: PagePart,
    /// The reason why the sides cannot be compared, which the page has, too.
    pub failure: Option<Failure>,
}

/// Compares two runs of a file for each rank, for a page about the candidate. `rtl-diff.toml` counts as for `rtl-diff`.
pub fn for_page(
    [baseline, candidate]: [&[PathBuf]; 2],
    filter: &cli::filter::FilterArgs,
    console: &cli::args::Console,
    out: &mut Output,
) -> Result<PageComparison, Failure> {
    let is_job = baseline.len() > 1 || candidate.len() > 1;
    let diff = Diff {
        reading: Reading {
            files: is_job.then_some(Files::Ranks),
            filter: filter.clone(),
            ..Reading::default()
        },
        output: args::Output { console: console.clone(), ..args::Output::default() },
        ..Diff::default()
    };
    let settings = Settings::new(&diff)?;
    // The caller has warned of files of the candidate that are named twice.
    let sides = [input::distinct(baseline, console.quiet, out), input::distinct(candidate, true, out)];
    with_report(&diff, settings, &sides, |report| {
        let reason = report.comparison.incomparable.as_ref();
        let failure = reason.map(|reason| {
            Failure::input(anyhow::anyhow!("cannot compare: {reason}"))
                .with_hint("rtl-diff also writes pages (-o FILE.html), and has ways to compare such sides (--allow incomparable, --by)")
        });
        Ok(PageComparison { part: export::part(report)?, failure })
    })
}

fn with_report<T>(
    diff: &Diff,
    mut settings: Settings,
    [baseline, candidate]: &[Vec<PathBuf>; 2],
    then: impl FnOnce(&Report<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let inputs = || baseline.iter().chain(candidate).map(PathBuf::as_path);
    let sizes = inputs().map(size).sum();
    let progress = Progress::reading(sizes, "comparing", diff.output.console.quiet);
    // A saved report is about a whole trace, so traces are read whole beside it.
    settings.reading.complete_steps &= !input::any_report(inputs());
    let mut baseline = input::read_side(baseline, &settings.reading)?;
    let mut candidate = input::read_side(candidate, &settings.reading)?;
    drop(progress);
    let key = settings.reading.work;
    let without_shapes = key.is_some_and(|key| input::align([&mut baseline, &mut candidate], key));

    let mut comparison = comparison::compare(&baseline, &candidate, &settings);
    if is_same_trace(&comparison) {
        comparison.notes.push(SAME.to_owned());
        if settings.thresholds.has_gate() {
            comparison.incomparable = Some(SAME.to_owned());
        }
    }
    if without_shapes {
        comparison
            .notes
            .push("one side records no shapes, so operators are matched by name alone".to_owned());
    }
    comparison.notes.extend(settings.expired.iter().map(|allowance| {
        format!(
            "the allowance for {} ended on {} and no longer counts ({})",
            allowance.pattern, allowance.expires, allowance.reason
        )
    }));
    let gates = gates::gates(&comparison, &settings, diff.require_comparable);
    then(&Report { comparison: &comparison, gates: &gates, verdict: gates::verdict(&gates) })
}

/// Warns of each gate that is undecided.
fn exit(
    report: &Report<'_>,
    inconclusive: Inconclusive,
    diff: &Diff,
    out: &mut Output,
) -> Result<Exit, Failure> {
    let comparison = report.comparison;
    if comparison.baseline.is_empty() && diff.allows(Allow::NoBaseline) {
        return Ok(Exit::Success);
    }
    if let Some(failure) = refusal(comparison) {
        return Err(failure);
    }
    if inconclusive == Inconclusive::Warn && !diff.output.console.quiet {
        for gate in report.gates.iter().filter(|gate| gate.outcome == Outcome::Inconclusive) {
            out.warning(&format!("the gate on {} is undecided: {}", gate.rule.title(), gate.message));
        }
    }
    let exit = gates::exit(report.gates, inconclusive);
    match report.gates.iter().find_map(Gate::failure).filter(|_| exit == Exit::Input) {
        Some(failure) => Err(failure),
        None => Ok(exit),
    }
}

/// The failure of sides that cannot be compared.
fn refusal(comparison: &Comparison) -> Option<Failure> {
    let reason = comparison.incomparable.as_ref()?;
    let hint = if comparison.baseline.is_empty() {
        "name the runs to compare with by `--baseline`, or accept that there are none with `--allow no-baseline`"
    } else if reason == SAME {
        "name two runs; a gate on one trace alone could never fail"
    } else if !comparison.is_refused && comparison.work.is_some() {
        "`--by category` needs the names of kernels alone"
    } else if comparison.is_refused {
        "`--allow incomparable` compares all the same; `--by operator` or `--by category` compares different GPUs"
    } else {
        "`rtl-summary --section trace,kernels` shows the contents of each side"
    };
    Some(Failure::input(anyhow::anyhow!("cannot compare: {reason}")).with_hint(hint))
}

fn sides(diff: &Diff) -> Result<[Vec<PathBuf>; 2], Failure> {
    if let Some(folder) = &diff.gates.history {
        let candidate = if diff.candidate.is_empty() { &diff.traces } else { &diff.candidate };
        return Ok([past_runs(folder)?, candidate.clone()]);
    }
    if !diff.others.is_empty() && !diff.traces.is_empty() {
        return Ok([diff.traces.clone(), diff.others.clone()]);
    }
    let (mut baseline, candidate) = match diff.traces.as_slice() {
        [] => (diff.baseline.clone(), diff.candidate.clone()),
        [candidate] if diff.allows(Allow::NoBaseline) => (Vec::new(), vec![candidate.clone()]),
        [_] => {
            return Err(Failure::usage("one trace cannot be compared with itself")
                .with_hint("name the baseline, then the candidate: rtl-diff before.db after.db"));
        }
        [baseline, candidate] => (vec![baseline.clone()], vec![candidate.clone()]),
        [_, _, _, ..] => {
            return Err(Failure::usage(format!("{} traces: which are the baseline?", diff.traces.len()))
                .with_hint("write `--` between the runs of both sides: rtl-diff a*.db -- b*.db"));
        }
    };
    if candidate.is_empty() {
        return Err(Failure::usage("missing: the runs of the candidate")
            .with_hint("rtl-diff before.db after.db, or --baseline a*.db --candidate b*.db"));
    }
    if diff.allows(Allow::NoBaseline) && baseline.iter().all(|path| !rtl_schema::Input::exists(path)) {
        baseline.clear();
    }
    Ok([baseline, candidate])
}

/// The runs in a folder or a data set, oldest first by name. Hidden files are no runs.
fn past_runs(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if let Some(runs) = rtl_schema::runs_of_data_set(folder)? {
        return Ok(runs);
    }
    let unreadable = |error: std::io::Error| {
        Failure::input(error)
            .context(format!("cannot read {}", folder.display()))
            .with_hint("--history takes a data set, or a folder with one trace or report for each past run")
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

/// Returns true if both sides have one run, of files with equal content.
fn is_same_trace(comparison: &Comparison) -> bool {
    let ([before], [after]) = (comparison.baseline.as_slice(), comparison.candidate.as_slice()) else {
        return false;
    };
    before.len() == after.len() && before.iter().zip(after).all(|(one, other)| same_content(one, other))
}

fn same_content(one: &Path, other: &Path) -> bool {
    if one == other
        || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
    {
        return true;
    }
    if size(one) != size(other) {
        return false;
    }
    let content = |path| rtl_schema::Input::open(path).ok()?.reader().ok();
    let contents = content(one).zip(content(other));
    contents.is_some_and(|(one, other)| same_bytes(one, other).unwrap_or(false))
}

/// Traces may be larger than memory.
fn same_bytes(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let [mut bytes, mut others] = [(); 2].map(|()| vec![0; 1 << 18]);
    loop {
        let count = one.read(&mut bytes)?;
        if count == 0 {
            return Ok(other.read(&mut others)? == 0);
        }
        other.read_exact(&mut others[..count])?;
        if bytes[..count] != others[..count] {
            return Ok(false);
        }
    }
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
