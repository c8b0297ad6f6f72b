//! For people at a terminal: readable without colour.

use std::io::{self, Write};
use std::path::PathBuf;

use super::report::{RenderOptions, Report};
use super::tables;
use crate::gates::signed;

pub(super) fn render(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let comparison = report.comparison;
    let paint = options.paint;
    let word = match report.headline() {
        "no gate" => "no gate".to_owned(),
        "pass" => paint.green("pass"),
        word @ "inconclusive" => paint.yellow(word),
        word => paint.red(word),
    };
    writeln!(out, "{}: {word}", paint.bold("verdict"))?;
    for (side, runs) in [("baseline", &comparison.baseline), ("candidate", &comparison.candidate)] {
        writeln!(out, "  {} {}", paint.dim(&format!("{side:<10}")), cli::escape_control(&described(runs)))?;
    }
    writeln!(out, "  {} {}", paint.dim("kernels   "), tables::change_counts(&comparison.rows))?;
    for line in tables::notes(report).into_iter().chain(tables::allowed(report)) {
        let line = cli::terminal::wrapped(&cli::escape_control(&line), 2);
        writeln!(out, "{} {line}", paint.yellow("!"))?;
    }
    gates(report, options, out)?;
    let rows = comparison.rows.len();
    let heading = match options.rows.min(rows) {
        shown if shown < rows => format!("Kernels ({shown} of {})", cli::units::count(rows as u64)),
        _ => "Kernels".to_owned(),
    };
    for (heading, table) in [
        ("Recorded differently", tables::differences(report)),
        (heading.as_str(), tables::kernels(report, options.rows)),
        ("Runs", tables::totals(report)),
        ("Where the change of wall comes from", tables::decomposition(report)),
    ] {
        if !table.is_empty() {
            writeln!(out, "\n{}", paint.bold(heading))?;
            table.render(options.layout, out)?;
        }
    }
    Ok(())
}

/// The gates, each with the kernels that fail it or that it cannot decide on.
fn gates(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let table = tables::gates(report);
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", options.paint.bold("Gates"))?;
    table.render(options.layout, out)?;
    for gate in report.gates {
        let shown = gate.rows.len().min(options.rows);
        for row in &gate.rows[..shown] {
            let change = match row.ratio {
                Some(ratio) => signed(ratio - 1.0, false),
                None => format!("{} of GPU time", cli::units::percent(row.share)),
            };
            let line = format!("{} {}: {}: {change}", gate.outcome.text(), gate.rule.title(), row.label());
            writeln!(out, "  {}", cli::terminal::wrapped(&cli::escape_control(&line), 2))?;
        }
        if shown < gate.rows.len() {
            writeln!(out, "  and {} more", gate.rows.len() - shown)?;
        }
    }
    Ok(())
}

/// `a.db`, or the number of runs and the first.
fn described(runs: &[Vec<PathBuf>]) -> String {
    let run = |files: &[PathBuf]| match files {
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
