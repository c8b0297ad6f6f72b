//! The tables of the text report for issues and pull requests, with full names.

use std::io::Write;

use cli::{Failure, Layout, Output, escape_control};

use crate::section::Block;

pub(super) fn write(block: &Block, out: &mut Output) -> Result<(), Failure> {
    match block {
        Block::Lines(lines) => {
            for (label, text) in lines {
                writeln!(out, "- {label}: {}", escape_control(text))?;
            }
        }
        Block::Table { heading, table } if !table.is_empty() => {
            writeln!(out, "\n### {heading}\n")?;
            table.render(Layout::Markdown, out)?;
        }
        Block::Remarks(sentences) if !sentences.is_empty() => {
            writeln!(out)?;
            list(sentences, out)?;
        }
        Block::Findings(sentences) if !sentences.is_empty() => {
            writeln!(out, "\n### Sanity\n")?;
            list(sentences, out)?;
        }
        _ => {}
    }
    Ok(())
}

fn list(sentences: &[String], out: &mut Output) -> Result<(), Failure> {
    for sentence in sentences {
        writeln!(out, "- {}", escape_control(sentence))?;
    }
    Ok(())
}
