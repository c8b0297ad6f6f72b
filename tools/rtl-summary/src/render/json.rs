//! The document `rtl-summary/1`.

use std::io::Write;

use cli::report::{Document, SCHEMA, Sections};
use cli::{Failure, Output};

use crate::report::Report;
use crate::request::Request;

pub(super) fn render(
    reports: Vec<Report>,
    combined: Option<Report>,
    request: &Request<'_>,
    out: &mut Output,
) -> Result<(), Failure> {
    let document = document(reports, combined, request);
    serde_json::to_writer_pretty(&mut *out, &document).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

pub(crate) fn document(
    mut reports: Vec<Report>,
    combined: Option<Report>,
    request: &Request<'_>,
) -> Document {
    let top = request.top;
    let cut = |mut sections: Sections| {
        for rows in sections.kernels.iter_mut().chain(&mut sections.groups) {
            rows.truncate(top);
        }
        if let Some(calls) = &mut sections.api {
            calls.truncate(top);
        }
        if let Some(latency) = &mut sections.launches {
            latency.kernels.truncate(top);
        }
        sections
    };
    let mut take = |(input, report): (usize, &mut Report)| Sections {
        input: Some(input),
        ..cut(std::mem::take(&mut report.sections))
    };
    let (sections, parts) = match combined {
        Some(combined) => {
            let each = reports.iter_mut().enumerate().filter(|_| request.options.each);
            (cut(combined.sections), each.map(take).collect())
        }
        None => {
            let first = reports.iter_mut().enumerate().next().map(&mut take).unwrap_or_default();
            (Sections { input: None, ..first }, Vec::new())
        }
    };
    Document {
        schema: SCHEMA.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        inputs: reports.into_iter().map(|report| report.input).collect(),
        approximate: Vec::new(),
        sections,
        reports: parts,
    }
}
