//! `rtl-diff/1`.

use std::io::{self, Write};

use super::{Answer, View};
use crate::document::Document;

pub(super) fn render(answer: &Answer<'_>, view: View, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document::of(answer, view.rows)).map_err(io::Error::from)?;
    writeln!(out)
}
