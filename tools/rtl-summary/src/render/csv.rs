//! One table as RFC 4180, with units in the field names.

use cli::{Failure, Layout, Output};

use crate::file_info;
use crate::options::Options;
use crate::report::Report;
use crate::section::{Block, RenderOptions};

pub(super) fn render(
    options: &Options,
    report: Option<&Report>,
    view: RenderOptions,
    out: &mut Output,
) -> Result<(), Failure> {
    let (Some(report), Some(section)) = (report, options.sections.first()) else { return Ok(()) };
    if options.info {
        return file_info::render(report, Layout::Csv, out);
    }
    let blocks = (section.blocks)(report, view);
    if let Some(Block::Table { table, .. }) = blocks.first() {
        table.render(Layout::Csv, out)?;
    }
    Ok(())
}
