//! One table as RFC 4180, with units in the field names.

use cli::{Failure, Layout, Output};

use crate::file_info;
use crate::report::Report;
use crate::request::Request;
use crate::section::{Block, RenderOptions};

pub(super) fn render(
    request: &Request<'_>,
    report: Option<&Report>,
    view: RenderOptions,
    out: &mut Output,
) -> Result<(), Failure> {
    let (Some(report), Some(section)) = (report, request.sections.first()) else { return Ok(()) };
    if request.options.info {
        return file_info::render(report, Layout::Csv, out);
    }
    let blocks = (section.blocks)(report, view);
    if let Some(Block::Table { table, .. }) = blocks.first() {
        table.render(Layout::Csv, out)?;
    }
    Ok(())
}
