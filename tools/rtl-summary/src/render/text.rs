//! Sections with bold headings for a terminal, and tables that fit its width.

use std::io::Write;

use cli::color::Paint;
use cli::{Failure, Layout, Output, escape_control};

use crate::request::Request;
use crate::section::{Block, Paragraph};
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
            let heading = wrapped(&escape_control(heading), layout, 0);
            writeln!(out, "\n{}", paint.bold(&heading))?;
            table.render(layout, out)?;
        }
        Block::Table { .. } => {}
        Block::Paragraphs(paragraphs) => {
            for Paragraph { text, details } in paragraphs {
                writeln!(out, "{}", wrapped(&escape_control(text), layout, 3))?;
                for detail in details {
                    writeln!(out, "   {}", paint.dim(&wrapped(&escape_control(detail), layout, 9)))?;
                }
            }
        }
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
    match layout {
        Layout::Text { width: Some(width), .. } => cli::wrapped(text, width, indent),
        _ => text.to_owned(),
    }
}
