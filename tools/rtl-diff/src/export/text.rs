//! For people at a terminal: readable without colour.

use std::io::{self, Write};

use super::{Answer, View, tables};
use crate::gates::{Outcome, Verdict, signed};

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
        writeln!(out, "  {} {}", paint.dim(&format!("{side:<10}")), cli::escape_control(&described(runs)))?;
    }
    writeln!(out, "  {} {}", paint.dim("kernels   "), tables::census(&comparison.rows))?;
    for line in tables::sentences(answer) {
        writeln!(out, "{} {}", paint.yellow("!"), cli::escape_control(&line))?;
    }
    for line in tables::allowed(answer) {
        writeln!(out, "{} {}", paint.yellow("!"), cli::escape_control(&line))?;
    }
    gates(answer, view, out)?;
    let rows = comparison.rows.len();
    let heading = match view.rows.min(rows) {
        shown if shown < rows => format!("Kernels ({shown} of {})", cli::units::count(rows as u64)),
        _ => "Kernels".to_owned(),
    };
    for (heading, table) in [
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

/// The gates, and in full the kernels that made one fail or that it cannot decide on.
fn gates(answer: &Answer<'_>, view: View, out: &mut dyn Write) -> io::Result<()> {
    let table = tables::gates(answer);
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", view.paint.bold("Gates"))?;
    table.render(view.layout, out)?;
    for gate in answer.gates {
        let shown = gate.rows.len().min(view.rows);
        for &at in &gate.rows[..shown] {
            let row = &answer.comparison.rows[at];
            let word = if gate.outcome == Outcome::Fail { "FAIL" } else { gate.outcome.label() };
            let [before, after] = row.sides();
            let change = match before.calls > 0 && after.calls > 0 {
                true => signed(row.judgement.ratio - 1.0, false),
                false => format!("{} of GPU time", cli::units::percent(row.share)),
            };
            let line = format!("{word} {}: {}: {change}", gate.rule.title(), row.title());
            writeln!(out, "  {}", cli::escape_control(&line))?;
        }
        if shown < gate.rows.len() {
            writeln!(out, "  and {} more", gate.rows.len() - shown)?;
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
