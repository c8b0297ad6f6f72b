//! A comment for a pull request. Its first line is the same in every comment, so that a job can find the one it wrote
//! before. It names files and kernels and no command line, which could hold secrets.

use std::io::{self, Write};

use cli::Layout;

use super::{Answer, View, tables};
use crate::gates::Verdict;

/// What a job looks for to find its own comment.
const MARKER: &str = "<!-- rtl-diff -->";

/// GitHub refuses comments of more characters than this (its own limit is 65,536).
const LIMIT: usize = 60_000;

pub(super) fn render(answer: &Answer<'_>, view: View, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = view.rows;
    loop {
        let text = comment(answer, rows)?;
        if text.chars().count() <= LIMIT || rows == 0 {
            return out.write_all(text.as_bytes());
        }
        rows = rows.min(answer.comparison.rows.len()) / 2;
    }
}

fn comment(answer: &Answer<'_>, rows: usize) -> io::Result<String> {
    let comparison = answer.comparison;
    let mut out = Vec::new();
    let (sign, word) = match answer.verdict {
        _ if comparison.incomparable.is_some() => (":warning:", "not comparable"),
        Verdict::Pass if answer.gates.is_empty() => (":information_source:", "no gate"),
        Verdict::Pass => (":white_check_mark:", "pass"),
        Verdict::Fail => (":x:", "fail"),
        Verdict::Inconclusive => (":warning:", "inconclusive"),
    };
    writeln!(out, "{MARKER}\n## {sign} GPU time: {word}\n\n{}\n", tables::census(&comparison.rows))?;
    for line in tables::sentences(answer).into_iter().chain(tables::allowed(answer)) {
        writeln!(out, "- {}", escaped(&line))?;
    }
    section(&mut out, "Gates", &tables::gates(answer))?;
    section(&mut out, "Where the change of wall comes from", &tables::books(answer))?;
    let (changed, all) =
        (comparison.rows.iter().filter(|row| row.has_changed()).count(), comparison.rows.len());
    if changed > 0 {
        section(&mut out, "Changed kernels", &tables::kernels(answer, changed.min(rows)))?;
    }
    if all > changed && rows > changed {
        writeln!(out, "\n<details><summary>{} of {all} kernels</summary>\n", rows.min(all))?;
        tables::kernels(answer, rows).render(Layout::Markdown, &mut out)?;
        writeln!(out, "\n</details>")?;
    }
    writeln!(out, "\n<details><summary>Runs</summary>")?;
    section(&mut out, "Totals", &tables::totals(answer))?;
    section(&mut out, "Recorded differently", &tables::differences(answer))?;
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

/// Names hold what Markdown and HTML would take for their own.
fn escaped(text: &str) -> String {
    cli::escape_control(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('*', "\\*")
        .replace('_', "\\_")
}
