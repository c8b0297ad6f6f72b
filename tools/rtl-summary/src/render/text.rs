//! For people at a terminal: sections with a bold title, tables that fit.

use std::io::Write;

use cli::color::Paint;
use cli::{Failure, Layout, Output};

use super::{View, about, sanity, tables, title};
use crate::answer::Answer;
use crate::args::{Arguments, Section};
use crate::info;
use crate::question::Question;

pub(super) fn render(
    arguments: &Arguments,
    question: &Question,
    answers: &[Answer],
    combined: Option<&Answer>,
    view: View,
    out: &mut Output,
) -> Result<(), Failure> {
    let paint = Paint::new(arguments.display.speech.color, out.is_terminal());
    let width = (!view.full_names).then(cli::terminal::width);
    let layout = Layout::Text { width, paint };
    for (position, answer) in answers.iter().chain(combined).enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", paint.bold(&cli::visible(&title(answer, answers.len()))))?;
        if question.info {
            about_lines(answer, paint, out)?;
            info::render(answer, layout, out)?;
        } else {
            report(question, answer, view, paint, layout, out)?;
        }
    }
    Ok(())
}

fn report(
    question: &Question,
    answer: &Answer,
    view: View,
    paint: Paint,
    layout: Layout,
    out: &mut Output,
) -> Result<(), Failure> {
    about_lines(answer, paint, out)?;
    for (section, heading) in super::headings(answer, view) {
        if let Some(table) = tables::section(section, answer, view).filter(|table| !table.is_empty()) {
            writeln!(out, "\n{}", paint.bold(&heading))?;
            table.render(layout, out)?;
        }
        if section == Section::Gaps
            && let Some(gaps) = answer.report.longest_gaps.as_deref().filter(|gaps| !gaps.is_empty())
        {
            writeln!(out, "\n{}", paint.bold("Longest gaps"))?;
            tables::longest_gaps(gaps, super::origin(answer)).render(layout, out)?;
        }
    }
    let findings = answer.report.sanity.as_ref().map(sanity::sentences).unwrap_or_default();
    if !findings.is_empty() {
        writeln!(out, "\n{}", paint.bold("Sanity"))?;
        for finding in findings {
            writeln!(out, "{} {}", paint.yellow("!"), cli::visible(&finding))?;
        }
    } else if question.options.sections.sanity && !question.options.sections.kernels {
        writeln!(out, "\nSanity: nothing to report")?;
    }
    Ok(())
}

fn about_lines(answer: &Answer, paint: Paint, out: &mut Output) -> Result<(), Failure> {
    let Some(about) = &answer.report.about else { return Ok(()) };
    for (word, text) in about::lines(about, &answer.region) {
        writeln!(out, "  {} {}", paint.dim(&format!("{word:<11}")), cli::visible(&text))?;
    }
    Ok(())
}
