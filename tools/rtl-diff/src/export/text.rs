//! The report for people at a terminal: readable without colour, with the answer in the first line.

use std::io::{self, Write};
use std::path::PathBuf;

use cli::Table;
use rtl_analysis::work::WorkKey;

use super::digest::Digest;
use super::report::{RenderOptions, Report};
use super::tables;
use crate::comparison::WorkComparison;
use crate::gates::{Outcome, Rule, signed};

pub(super) fn render(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let comparison = report.comparison;
    let paint = options.paint;
    let digest = Digest::new(report);
    let headline = sentence(&digest.headline(), 2);
    let word = match digest.word {
        word @ ("pass" | "faster" | "unchanged") => paint.green(word),
        word @ ("fail" | "slower" | "not comparable") => paint.red(word),
        word => paint.yellow(word),
    };
    let reason = headline.strip_prefix(digest.word).unwrap_or_default();
    writeln!(out, "{word}{}", paint.bold(reason))?;
    for (side, runs) in [("baseline", &comparison.baseline), ("candidate", &comparison.candidate)] {
        writeln!(out, "  {} {}", paint.dim(&format!("{side:<10}")), cli::escape_control(&described(runs)))?;
    }
    if let Some(next) = &digest.next {
        writeln!(out, "  {} {}", paint.dim("next      "), sentence(next, 13))?;
    }
    match &comparison.work {
        _ if comparison.incomparable.is_some() => {}
        Some(compared) => work(report, compared, &digest, options, out)?,
        None => changes(&digest, options, out)?,
    }
    gates(report, options, out)?;
    let rest = digest.rest.as_ref().map(|rest| match options.all {
        true => rest.clone(),
        false => format!("{rest}; --all prints all tables"),
    });
    for line in digest.wall.iter().chain(&rest) {
        writeln!(out, "{}", sentence(line, 2))?;
    }
    let differences = tables::differences_in_words(report).into_iter().filter(|_| !options.all);
    for line in tables::notes(report).into_iter().chain(tables::allowed(report)).chain(differences) {
        writeln!(out, "{} {}", paint.yellow("!"), sentence(&line, 2))?;
    }
    if options.all {
        everything(report, options, out)?;
    }
    Ok(())
}

/// Prints where each side wins, and the terms of the wall of a step.
fn work(
    report: &Report<'_>,
    work: &WorkComparison,
    digest: &Digest<'_>,
    options: RenderOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    for line in super::work::winners(report, work) {
        writeln!(out, "{}", sentence(&line, 2))?;
    }
    let heading = match (work.key, work.is_per_step) {
        (WorkKey::Step, _) => "Steps by position",
        (_, true) => "One step",
        (_, false) => "The whole run",
    };
    section(heading, &super::work::table(report, work, options.rows), options, out)?;
    for line in super::work::unmatched(work).iter().chain(&digest.remedy) {
        writeln!(out, "{}", sentence(line, 2))?;
    }
    writeln!(out)
}

fn changes(digest: &Digest<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let changed = digest.changed.len().min(options.rows);
    let undecided = digest.undecided.len().min(options.rows);
    section(
        &heading("Changed", changed, digest.changed.len()),
        &tables::changed(&digest.changed[..changed]),
        options,
        out,
    )?;
    let heading = heading("Undecided", undecided, digest.undecided.len());
    section(&heading, &tables::undecided(&digest.undecided[..undecided]), options, out)?;
    if let Some(remedy) = &digest.remedy {
        writeln!(out, "{}", cli::terminal::wrapped(remedy, 2))?;
    }
    writeln!(out)
}

fn sentence(text: &str, indent: usize) -> String {
    cli::terminal::wrapped(&cli::escape_control(text), indent)
}

fn heading(word: &str, shown: usize, all: usize) -> String {
    match shown < all {
        true => format!("{word} ({shown} of {})", cli::units::count(all as u64)),
        false => word.to_owned(),
    }
}

fn section(heading: &str, table: &Table, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", options.paint.bold(heading))?;
    table.render(options.layout, out)
}

/// Prints one line for each gate that does not hold, unless a table shows why, and one for all others.
fn gates(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut passed = Vec::new();
    for gate in report.gates {
        let allowed = gate
            .threshold
            .map(|threshold| format!(" (allowed {})", signed(threshold, gate.rule == Rule::Idle)));
        let allowed = allowed.unwrap_or_default();
        if gate.outcome == Outcome::Pass {
            passed.push(format!("{}{allowed}", report.title(gate.rule)));
            continue;
        }
        if gate.rule == Rule::Kernel && !gate.rows.is_empty() {
            continue;
        }
        let line = format!("{} {}{allowed}: {}", gate.outcome.text(), report.title(gate.rule), gate.message);
        writeln!(out, "{}", sentence(&line, 2))?;
        if matches!(gate.rule, Rule::Drift | Rule::New | Rule::Removed) {
            for row in gate.rows.iter().take(options.rows) {
                writeln!(out, "  {}", sentence(&row.label(), 2))?;
            }
        }
    }
    if !passed.is_empty() {
        writeln!(out, "{}", cli::terminal::wrapped(&format!("pass {}", passed.join(", ")), 2))?;
    }
    Ok(())
}

fn everything(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let rows = report.comparison.rows.len();
    let kernels = heading("Kernels", options.rows.min(rows), rows);
    for (heading, table) in [
        ("Gates", tables::gates(report)),
        ("Recorded differently", tables::differences(report)),
        (kernels.as_str(), tables::kernels(report.first_rows(options.rows))),
        ("Runs", tables::totals(report)),
        ("Where the change of wall comes from", tables::decomposition(report)),
    ] {
        section(heading, &table, options, out)?;
    }
    Ok(())
}

/// The name of the only file, or the number of runs and the first.
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
