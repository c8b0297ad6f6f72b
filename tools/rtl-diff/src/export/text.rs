//! For people at a terminal: readable without colour.

use std::io::{self, Write};

use super::{Answer, View, tables};
use crate::gates::Verdict;

pub(super) fn render(answer: &Answer<'_>, view: View, out: &mut dyn Write) -> io::Result<()> {
    let comparison = answer.comparison;
    let paint = view.paint;
    let word = answer.verdict.label();
    let word = match answer.verdict {
        _ if comparison.incomparable.is_some() => paint.red("not comparable"),
        _ if answer.gates.is_empty() => "no gate".to_owned(),
        Verdict::Pass => paint.green(word),
        Verdict::Fail => paint.red(word),
        Verdict::Inconclusive => paint.yellow(word),
    };
    writeln!(out, "{}: {word}", paint.bold("verdict"))?;
    for (side, runs) in [("baseline", &comparison.baseline), ("candidate", &comparison.candidate)] {
        writeln!(out, "  {} {}", paint.dim(&format!("{side:<10}")), cli::visible(&described(runs)))?;
    }
    writeln!(out, "  {} {}", paint.dim("kernels   "), tables::census(&comparison.rows))?;
    for line in tables::sentences(answer) {
        writeln!(out, "{} {}", paint.yellow("!"), cli::visible(&line))?;
    }
    for line in tables::allowed(answer) {
        writeln!(out, "{} {}", paint.yellow("!"), cli::visible(&line))?;
    }
    let rows = comparison.rows.len();
    let heading = match view.rows.min(rows) {
        shown if shown < rows => format!("Kernels ({shown} of {})", cli::units::count(rows as u64)),
        _ => "Kernels".to_owned(),
    };
    for (heading, table) in [
        ("Gates", tables::gates(answer)),
        ("Recorded differently", tables::differences(answer)),
        (heading.as_str(), tables::kernels(answer, view.rows)),
        ("Runs", tables::totals(answer)),
        ("Where the change of wall comes from", tables::books(answer)),
    ] {
        if !table.is_empty() {
            writeln!(out, "\n{}", paint.bold(heading))?;
            table.render(view.layout, out)?;
        }
    }
    Ok(())
}

/// `a.db`, or how many runs and the first.
fn described(runs: &[Vec<std::path::PathBuf>]) -> String {
    let run = |files: &[std::path::PathBuf]| match files {
        [] => String::new(),
        [one] => one.display().to_string(),
        [first, ..] => format!("{} and {} more ranks", first.display(), files.len() - 1),
    };
    match runs {
        [] => "none".to_owned(),
        [one] => run(one),
        [first, ..] => format!("{} runs: {}, ...", runs.len(), run(first)),
    }
}
