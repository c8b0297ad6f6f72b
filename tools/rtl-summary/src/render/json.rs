//! `rtl-summary/1`, on one line per document so that it can be logged.

use std::io::Write;

use cli::{Failure, Output};

use super::View;
use crate::answer::Answer;
use crate::args::By;
use crate::document::Document;

pub(super) fn render(
    answers: &[Answer],
    combined: Option<&Answer>,
    by: Option<By>,
    view: View,
    out: &mut Output,
) -> Result<(), Failure> {
    let document = Document::of(answers, combined, by, |len| view.top.of(len));
    serde_json::to_writer_pretty(&mut *out, &document).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
