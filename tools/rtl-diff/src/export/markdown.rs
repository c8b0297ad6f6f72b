//! A comment for a pull request. Its first line is the same in every comment, so that a job can find its earlier one. It
//! names files and kernels and no command line, which could hold secrets.

use std::io::{self, Write};

use cli::Layout;

use super::report::{RenderOptions, Report};
use super::tables;

/// A job finds its own comment by this line.
const MARKER: &str = "<!-- rtl-diff -->";

/// GitHub refuses comments of more characters than this (its own limit is 65,536).
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
    let mut out = Vec::new();
    let word = report.headline();
    let sign = match word {
        "no gate" => ":information_source:",
        "pass" => ":white_check_mark:",
        "fail" => ":x:",
        _ => ":warning:",
    };
    writeln!(out, "{MARKER}\n## {sign} GPU time: {word}\n\n{}\n", tables::change_counts(&comparison.rows))?;
    for line in tables::notes(report).into_iter().chain(tables::allowed(report)) {
        writeln!(out, "- {}", cli::markdown_text(&line))?;
    }
    section(&mut out, "Gates", &tables::gates(report))?;
    section(&mut out, "Where the change of wall comes from", &tables::decomposition(report))?;
    let (changed, all) =
        (comparison.rows.iter().filter(|row| row.has_changed()).count(), comparison.rows.len());
    if changed > 0 {
        section(&mut out, "Changed kernels", &tables::kernels(report, changed.min(rows)))?;
    }
    if all > changed && rows > changed {
        writeln!(out, "\n<details><summary>{} of {all} kernels</summary>\n", rows.min(all))?;
        tables::kernels(report, rows).render(Layout::Markdown, &mut out)?;
        writeln!(out, "\n</details>")?;
    }
    writeln!(out, "\n<details><summary>Runs</summary>")?;
    section(&mut out, "Totals", &tables::totals(report))?;
    section(&mut out, "Recorded differently", &tables::differences(report))?;
    writeln!(out, "\n</details>")?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn section(out: &mut Vec<u8>, heading: &str, table: &cli::Table) -> io::Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n### {heading}\n")?;
    table.render(Layout::Markdown, out)
}
