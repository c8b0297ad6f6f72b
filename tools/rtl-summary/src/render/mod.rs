//! Prints reports, one file per format.

mod csv;
mod json;
mod markdown;
mod text;

use std::io::Write;

use cli::args::Format;
use cli::{Failure, Output};

use crate::report::Report;
use crate::request::Request;
use crate::section::RenderOptions;

/// Prints the reports in the requested format; `combined` is the report on all traces.
///
/// # Errors
/// Those of the writer.
pub(crate) fn render(
    request: &Request<'_>,
    mut reports: Vec<Report>,
    combined: Option<Report>,
    out: &mut Output,
) -> Result<(), Failure> {
    let (inputs, options) = (reports.len(), request.options);
    let format = options.display.format;
    if format == Format::Json && options.style.is_none() {
        return json::render(reports, combined, request.top, out);
    }
    reports.extend(combined);
    let view = RenderOptions {
        by: options.by,
        top: request.top,
        full_names: options.display.full_names || format == Format::Markdown,
        is_csv: format == Format::Csv,
    };
    if options.style.is_some() {
        return styled(&reports, inputs, out);
    }
    match format {
        Format::Csv => csv::render(request, reports.last(), view, out),
        Format::Markdown => markdown::render(request, &reports, inputs, view, out),
        Format::Text | Format::Json => text::render(request, &reports, inputs, view, out),
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
