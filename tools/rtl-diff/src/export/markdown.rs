//! A comment for a pull request. It names files and kernels and no command line, which could hold secrets.

use std::io::{self, Write};

use cli::Layout;

use super::digest::Digest;
use super::report::{RenderOptions, Report};
use super::tables;
use super::work;

/// The first line of every comment, by which a job finds its earlier one.
const MARKER: &str = "<!-- rtl-diff -->";

/// GitHub refuses comments of more than 65,536 characters.
const LIMIT: usize = 60_000;

pub(super) fn render(report: &Report<'_>, options: RenderOptions, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = options.rows;
    loop {
        let text = comment(report, rows)?;
        if text.chars().count() <= LIMIT || rows == 0 {
            return out.write_all(text.as_bytes());
        }
        rows = rows.min(report.comparison.rows.len()) / 2;
    }
}

fn comment(report: &Report<'_>, rows: usize) -> io::Result<String> {
    let comparison = report.comparison;
    let digest = Digest::new(report);
    let mut out = Vec::new();
    let sign = match digest.word {
        "pass" | "faster" | "unchanged" => ":white_check_mark:",
        "fail" | "slower" | "not comparable" => ":x:",
        _ => ":warning:",
    };
    writeln!(out, "{MARKER}\n## {sign} GPU time: {}\n\n{}", digest.word, cli::markdown_text(&digest.reason))?;
    if let Some(next) = &digest.next {
        writeln!(out, "\n{}", cli::markdown_text(next))?;
    }
    if let Some(compared) = comparison.work.as_ref().filter(|_| comparison.incomparable.is_none()) {
        writeln!(out)?;
        for line in work::winners(report, compared) {
            writeln!(out, "- {}", cli::markdown_text(&line))?;
        }
        let heading = if compared.is_per_step { "One step" } else { "The whole run" };
        section(&mut out, heading, &work::table(report, compared, rows))?;
        for line in work::unmatched(compared).iter().chain(&digest.remedy) {
            writeln!(out, "\n{}", cli::markdown_text(line))?;
        }
    } else if comparison.incomparable.is_none() {
        let [changed, undecided] =
            [&digest.changed, &digest.undecided].map(|all| &all[..all.len().min(rows)]);
        section(&mut out, "Changed", &tables::changed(changed))?;
        more(&mut out, digest.changed.len() - changed.len())?;
        section(&mut out, "Undecided", &tables::undecided(undecided))?;
        more(&mut out, digest.undecided.len() - undecided.len())?;
        if let Some(remedy) = &digest.remedy {
            writeln!(out, "\n{}", cli::markdown_text(remedy))?;
        }
    }
    writeln!(out)?;
    for line in digest.wall.iter().chain(&digest.rest) {
        writeln!(out, "- {}", cli::markdown_text(line))?;
    }
    for line in tables::notes(report).into_iter().chain(tables::allowed(report)) {
        writeln!(out, "- {}", cli::markdown_text(&line))?;
    }
    let all = comparison.rows.len();
    let shown = report.first_rows(rows);
    if !shown.is_empty() {
        let count = if shown.len() < all { format!("{} of {all}", shown.len()) } else { all.to_string() };
        writeln!(out, "\n<details><summary>{count} {} with full names</summary>\n", report.noun(all))?;
        tables::with_full_names(shown).render(Layout::Markdown, &mut out)?;
        writeln!(out, "\n</details>")?;
    }
    writeln!(out, "\n<details><summary>Gates, runs, and the change of wall</summary>")?;
    section(&mut out, "Gates", &tables::gates(report))?;
    section(&mut out, "Where the change of wall comes from", &tables::decomposition(report))?;
    section(&mut out, "Totals", &tables::totals(report))?;
    section(&mut out, "Recorded differently", &tables::differences(report))?;
    writeln!(out, "\n</details>")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn more(out: &mut Vec<u8>, count: usize) -> io::Result<()> {
    if count > 0 {
        writeln!(out, "\nand {} more", cli::units::count(count as u64))?;
    }
    Ok(())
}

fn section(out: &mut Vec<u8>, heading: &str, table: &cli::Table) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### {heading}\n")?;
    table.render(Layout::Markdown, out)
}
