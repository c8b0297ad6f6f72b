//! For issues and pull requests: the tables of the text report, with full names.

use std::io::Write;

use cli::{Failure, Layout, Output};

use super::{View, about, tables, title};
use crate::answer::Answer;
use crate::args::Section;
use crate::info;
use crate::question::Question;

pub(super) fn render(
    question: &Question,
    answers: &[Answer],
    combined: Option<&Answer>,
    view: View,
    out: &mut Output,
) -> Result<(), Failure> {
    for (position, answer) in answers.iter().chain(combined).enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        writeln!(out, "## `{}`\n", title(answer, answers.len()))?;
        if let Some(about) = &answer.report.about {
            for (word, text) in about::lines(about, &answer.region, answer.path.is_none()) {
                writeln!(out, "- {word}: {}", cli::escape_control(&text))?;
            }
        }
        if question.info {
            info::render(answer, Layout::Markdown, out)?;
            continue;
        }
        for (section, heading) in super::headings(answer, view) {
            if let Some(table) = tables::section(section, answer, view).filter(|table| !table.is_empty()) {
                writeln!(out, "\n### {heading}\n")?;
                table.render(Layout::Markdown, out)?;
            }
            for (at, sentence) in super::remarks(section, answer, true).iter().enumerate() {
                writeln!(out, "{}- {}", if at == 0 { "\n" } else { "" }, cli::escape_control(sentence))?;
            }
            if section == Section::Gaps
                && let Some(gaps) = answer.report.longest_gaps.as_deref().filter(|gaps| !gaps.is_empty())
            {
                writeln!(out, "\n### Longest gaps\n")?;
                tables::longest_gaps(gaps, super::origin(answer)).render(Layout::Markdown, out)?;
            }
        }
        let findings = super::findings(answer, true);
        if !findings.is_empty() {
            writeln!(out, "\n### Sanity\n")?;
            for finding in findings {
                writeln!(out, "- {}", cli::escape_control(&finding))?;
            }
        }
    }
    Ok(())
}
