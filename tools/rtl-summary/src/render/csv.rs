//! One table as RFC 4180, with units in the field names.

use cli::{Failure, Layout, Output};

use super::{View, tables};
use crate::answer::Answer;
use crate::args::{Arguments, Section};
use crate::info;

pub(super) fn render(
    arguments: &Arguments,
    answer: Option<&Answer>,
    view: View,
    out: &mut Output,
) -> Result<(), Failure> {
    let Some(answer) = answer else { return Ok(()) };
    if arguments.info {
        return info::render(answer, Layout::Csv, out);
    }
    let section = arguments.section.first().copied().unwrap_or(Section::Kernels);
    if let Some(table) = tables::section(section, answer, view) {
        table.render(Layout::Csv, out)?;
    }
    Ok(())
}
