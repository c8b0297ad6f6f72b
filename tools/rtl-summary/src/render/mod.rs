//! Prints reports in the format that was asked for.

mod json;
mod markdown;
mod text;

use std::io::Write;

use cli::args::Format;
use cli::color::Paint;
use cli::{Failure, Layout, Output, escape_control};
use rtl_analysis::DisplayNames;

pub(crate) use self::json::document;
use crate::file_info;
use crate::report::Report;
use crate::request::{Request, is_short};
use crate::section::{Block, RenderOptions};
use crate::sections::{self, blocks};

/// `combined` is the report on all traces.
pub(crate) fn render(
    request: &Request<'_>,
    mut reports: Vec<Report>,
    mut combined: Option<Report>,
    out: &mut Output,
) -> Result<(), Failure> {
    let (inputs, options) = (reports.len(), request.options);
    let format = options.display.format;
    if options.health {
        // Ranks are computed for the verdict alone.
        reports.iter_mut().chain(&mut combined).for_each(|report| report.sections.ranks = None);
    }
    if format == Format::Json && options.style.is_none() {
        return json::render(reports, combined, request, out);
    }
    if !options.each && combined.is_some() {
        reports.clear();
    }
    reports.extend(combined);
    if options.health {
        return health(&reports, inputs, out);
    }
    let full_names = options.display.full_names;
    if options.style.is_some() {
        return styled(&reports, inputs, out);
    }
    if format == Format::Csv {
        return csv(request, reports.last(), out);
    }
    let paint = Paint::new(options.display.console.color, out.is_terminal());
    let layout = match format {
        Format::Markdown => Layout::Markdown,
        _ => Layout::Text { width: (!full_names).then(cli::terminal::width), paint },
    };
    for (position, report) in reports.iter().enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        let title = report.title(inputs);
        let prefix = if report.is_combined && inputs > 1 { "" } else { "Trace: " };
        match format {
            Format::Markdown => writeln!(out, "## {}\n", cli::markdown_code(&title))?,
            _ => writeln!(out, "{}", paint.bold(&escape_control(&format!("{prefix}{title}"))))?,
        }
        let names = match full_names {
            true => DisplayNames::default(),
            false => DisplayNames::of(report.printed_kernels(request.top)),
        };
        let view = RenderOptions {
            by: options.by,
            top: request.top,
            names: &names,
            is_chosen: !options.section.is_empty(),
            is_csv: false,
            is_short: is_short(options),
        };
        for block in blocks(report, view, options.info) {
            let block = block.with_short_names(&names);
            match format {
                Format::Markdown => markdown::write(&block, out)?,
                _ => text::write(&block, request, paint, layout, out)?,
            }
        }
        if options.info {
            file_info::render(report, layout, out)?;
        }
    }
    Ok(())
}

/// Prints one table.
fn csv(request: &Request<'_>, report: Option<&Report>, out: &mut Output) -> Result<(), Failure> {
    let (Some(report), Some(section)) = (report, request.sections.first()) else { return Ok(()) };
    if request.options.info {
        return file_info::render(report, Layout::Csv, out);
    }
    let names = DisplayNames::default();
    let view = RenderOptions {
        by: request.options.by,
        top: request.top,
        names: &names,
        is_chosen: true,
        is_csv: true,
        is_short: false,
    };
    if let Some(Block::Table { table, .. }) = (section.blocks)(report, view).first() {
        table.render(Layout::Csv, out)?;
    }
    Ok(())
}

/// Prints the verdict, and one line for each reason.
fn health(reports: &[Report], inputs: usize, out: &mut Output) -> Result<(), Failure> {
    for report in reports {
        let Some(health) = sections::health(report) else { continue };
        let title = match reports.len() {
            1 => String::new(),
            _ => format!("{}: ", escape_control(&report.title(inputs))),
        };
        writeln!(out, "{title}trust: {}", health.trust.label())?;
        for sentence in sections::sentences(health.reasons.iter()) {
            writeln!(out, "  {}", escape_control(&sentence))?;
        }
    }
    Ok(())
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
