//! The report for issues and pull requests.

use std::io::Write;

use cli::{Failure, Layout, Output, markdown_text};

use crate::section::{Block, Paragraph};

pub(super) fn write(block: &Block, out: &mut Output) -> Result<(), Failure> {
    match block {
        Block::Lines(lines) => {
            for (label, text) in lines {
                writeln!(out, "- {label}: {}", markdown_text(text))?;
            }
        }
        Block::Table { heading, table } if !table.is_empty() => {
            writeln!(out, "\n### {}\n", markdown_text(heading))?;
            table.render(Layout::Markdown, out)?;
        }
        Block::Paragraphs(paragraphs) => {
            for Paragraph { text, details } in paragraphs {
                writeln!(out, "- {}", markdown_text(text))?;
                for detail in details {
                    writeln!(out, "  - {}", markdown_text(detail))?;
                }
            }
        }
        Block::Remarks(sentences) if !sentences.is_empty() => {
            writeln!(out)?;
            list(sentences, out)?;
        }
        Block::Findings { warnings, remarks } if !(warnings.is_empty() && remarks.is_empty()) => {
            writeln!(out, "\n### Sanity\n")?;
            list(warnings, out)?;
            list(remarks, out)?;
        }
        _ => {}
    }
    Ok(())
}

fn list(sentences: &[String], out: &mut Output) -> Result<(), Failure> {
    for sentence in sentences {
        writeln!(out, "- {}", markdown_text(sentence))?;
    }
    Ok(())
}
