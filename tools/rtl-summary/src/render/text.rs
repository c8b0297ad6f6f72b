//! The report for a terminal: sections with bold headings, and tables that fit the width.

use std::io::Write;

use cli::color::Paint;
use cli::{Failure, Layout, Output, escape_control, terminal};

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
                writeln!(out, "  {label} {}", wrapped(text, layout, 13))?;
            }
        }
        Block::Table { heading, table } if !table.is_empty() => {
            writeln!(out, "\n{}", paint.bold(&wrapped(heading, layout, 0)))?;
            table.render(layout, out)?;
        }
        Block::Table { .. } => {}
        Block::Paragraphs(paragraphs) => {
            for Paragraph { text, details } in paragraphs {
                writeln!(out, "{}", wrapped(text, layout, 3))?;
                for detail in details {
                    writeln!(out, "   {}", paint.dim(&wrapped(detail, layout, 9)))?;
                }
            }
        }
        Block::Remarks(sentences) => {
            for sentence in sentences {
                writeln!(out, "{}", wrapped(sentence, layout, 2))?;
            }
        }
        Block::Findings { warnings, remarks } if warnings.is_empty() && remarks.is_empty() => {
            if !request.includes(&KERNELS) {
                writeln!(out, "\nSanity: nothing to report")?;
            }
        }
        Block::Findings { warnings, remarks } => {
            writeln!(out, "\n{}", paint.bold("Sanity"))?;
            for sentence in warnings {
                writeln!(out, "{} {}", paint.yellow("!"), wrapped(sentence, layout, 2))?;
            }
            for sentence in remarks {
                writeln!(out, "  {}", wrapped(sentence, layout, 2))?;
            }
        }
    }
    Ok(())
}

/// `text` without control characters, with line breaks so that it fits beside and below an indentation.
fn wrapped(text: &str, layout: Layout, indent: usize) -> String {
    let text = escape_control(text);
    match layout {
        Layout::Text { width: Some(width), .. } => terminal::wrapped_to(&text, width, indent),
        _ => text.into_owned(),
    }
}
