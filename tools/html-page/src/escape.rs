//! Texts of traces.

use std::borrow::Cow;

/// A text of a trace without characters that control or reorder what is around it.
pub fn text(text: &str) -> Cow<'_, str> {
    cli::escape_control(text)
}
