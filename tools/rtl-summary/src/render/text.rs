//! Sections with bold headings for a terminal, and tables that fit its width.

use std::io::Write;

use cli::color::Paint;
use cli::{Failure, Layout, Output, escape_control};

use crate::request::Request;
use crate::section::Block;
use crate::sections::KERNELS;

pub(super) fn write(
    block: &Block,
    request: &Request<'_>,
    paint: Paint,
    layout: Layout,
    out: &mut Output,
) -> Result<(), Failure> {
    match block {
        Block::Lines(lines) => {
            for (label, text) in lines {
                let label = paint.dim(&format!("{:<10}", format!("{label}:")));
                writeln!(out, "  {label} {}", wrapped(&escape_control(text), layout, 13))?;
            }
        }
        Block::Table { heading, table } if !table.is_empty() => {
            writeln!(out, "\n{}", paint.bold(heading))?;
            table.render(layout, out)?;
        }
        Block::Table { .. } => {}
        Block::Remarks(sentences) => {
            for sentence in sentences {
                writeln!(out, "{}", wrapped(&escape_control(sentence), layout, 2))?;
            }
        }
        Block::Findings(sentences) if sentences.is_empty() => {
            if !request.includes(&KERNELS) {
                writeln!(out, "\nSanity: nothing to report")?;
            }
        }
        Block::Findings(sentences) => {
            writeln!(out, "\n{}", paint.bold("Sanity"))?;
            for sentence in sentences {
                writeln!(out, "{} {}", paint.yellow("!"), wrapped(&escape_control(sentence), layout, 2))?;
            }
        }
    }
    Ok(())
}

/// `text` with line breaks so that it fits beside and below an indentation.
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
