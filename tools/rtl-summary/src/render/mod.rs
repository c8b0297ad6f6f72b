//! Prints reports, one file per format.

mod csv;
mod json;
mod markdown;
mod text;

use std::io::Write;

use cli::args::Format;
use cli::{Failure, Output};

use crate::options::Options;
use crate::report::Report;
use crate::section::RenderOptions;

/// Prints the reports in the requested format; `combined` is the report on all traces.
///
/// # Errors
/// Those of the writer.
pub fn render(
    options: &Options,
    mut reports: Vec<Report>,
    combined: Option<Report>,
    out: &mut Output,
) -> Result<(), Failure> {
    let inputs = reports.len();
    if options.format == Format::Json && options.style.is_none() {
        return json::render(reports, combined, options.top, out);
    }
    reports.extend(combined);
    let view = RenderOptions {
        by: options.by,
        top: options.top,
        full_names: options.full_names || options.format == Format::Markdown,
        is_csv: options.format == Format::Csv,
    };
    if options.style.is_some() {
        return styled(&reports, inputs, out);
    }
    match options.format {
        Format::Csv => csv::render(options, reports.last(), view, out),
        Format::Markdown => markdown::render(options, &reports, inputs, view, out),
        Format::Text | Format::Json => text::render(options, &reports, inputs, view, out),
    }
}

fn styled(reports: &[Report], inputs: usize, out: &mut Output) -> Result<(), Failure> {
    for report in reports {
        if reports.len() > 1 {
            writeln!(out, "== {} ==", report.title(inputs))?;
        }
        write!(out, "{}", report.styled.as_deref().unwrap_or_default())?;
    }
    Ok(())
}
