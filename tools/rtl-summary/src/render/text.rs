//! For people at a terminal: sections with a bold title, tables that fit.

use std::io::Write;

use cli::color::Paint;
use cli::{Failure, Layout, Output};

use super::{View, about, tables, title};
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
    let paint = Paint::new(arguments.display.console.color, out.is_terminal());
    let width = (!view.full_names).then(cli::terminal::width);
    let layout = Layout::Text { width, paint };
    for (position, answer) in answers.iter().chain(combined).enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        let of_one = if answer.path.is_some() { "Trace: " } else { "" };
        let title = format!("{of_one}{}", title(answer, answers.len()));
        writeln!(out, "{}", paint.bold(&cli::escape_control(&title)))?;
        if question.info {
            about_lines(answer, paint, layout, out)?;
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
    about_lines(answer, paint, layout, out)?;
    for (section, heading) in super::headings(answer, view) {
        if let Some(table) = tables::section(section, answer, view).filter(|table| !table.is_empty()) {
            writeln!(out, "\n{}", paint.bold(&heading))?;
            table.render(layout, out)?;
        }
        for sentence in super::remarks(section, answer, view.full_names) {
            writeln!(out, "{}", wrapped(&cli::escape_control(&sentence), layout, 2))?;
        }
        if section == Section::Gaps
            && let Some(gaps) = answer.report.longest_gaps.as_deref().filter(|gaps| !gaps.is_empty())
        {
            writeln!(out, "\n{}", paint.bold("Longest gaps"))?;
            tables::longest_gaps(gaps, super::origin(answer)).render(layout, out)?;
        }
    }
    let findings = super::findings(answer, view.full_names);
    if !findings.is_empty() {
        writeln!(out, "\n{}", paint.bold("Sanity"))?;
        for finding in findings {
            let lines = wrapped(&cli::escape_control(&finding), layout, 2);
            writeln!(out, "{} {lines}", paint.yellow("!"))?;
        }
    } else if question.options.sections.sanity && !question.options.sections.kernels {
        writeln!(out, "\nSanity: nothing to report")?;
    }
    Ok(())
}

fn about_lines(answer: &Answer, paint: Paint, layout: Layout, out: &mut Output) -> Result<(), Failure> {
    let Some(about) = &answer.report.about else { return Ok(()) };
    for (word, text) in about::lines(about, &answer.region, answer.path.is_none()) {
        let text = wrapped(&cli::escape_control(&text), layout, 13);
        let word = format!("{word}:");
        writeln!(out, "  {} {text}", paint.dim(&format!("{word:<10}")))?;
    }
    Ok(())
}

/// `text` broken between words so that it fits beside and below an indentation.
fn wrapped(text: &str, layout: Layout, indent: usize) -> String {
    let Layout::Text { width: Some(width), .. } = layout else { return text.to_owned() };
    let mut lines = String::with_capacity(text.len());
    let mut used = indent;
    for word in text.split(' ') {
        let needed = word.chars().count();
        if used > indent && used + 1 + needed > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if !lines.is_empty() {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += needed;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_goes_on_under_its_beginning() {
        let layout = Layout::Text { width: Some(12), paint: Paint::default() };
        assert_eq!(wrapped("one two three four", layout, 2), "one two\n  three four");
        assert_eq!(wrapped("a-word-wider-than-the-screen b", layout, 2), "a-word-wider-than-the-screen\n  b");
        assert_eq!(wrapped("one two three four", Layout::Markdown, 2), "one two three four");
    }
}
