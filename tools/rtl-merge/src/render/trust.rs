//! Why the figures cannot be believed.

use std::io::{self, Write};

use cli::terminal;

use crate::document::Document;

/// Prints a line for each reason.
pub(super) fn text(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    for reason in &document.trust_reasons {
        let place = reason.input.and_then(|input| document.inputs.get(input));
        let place = place.map_or(String::new(), |input| format!("{}: ", input.path));
        let line = format!("trust {}: {place}{}", reason.trust.label(), reason.sentence);
        writeln!(out, "\n{}", terminal::wrapped(&cli::escape_control(&line), 0))?;
    }
    Ok(())
}
