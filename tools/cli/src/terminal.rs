//! The width of reports, and sentences that fit it.

use unicode_width::UnicodeWidthStr;

pub const PIPE_WIDTH: usize = 120;

/// The columns of standard output: COLUMNS where set, else the terminal's width, else [`PIPE_WIDTH`].
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    decide(columns.as_deref(), terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0))
}

/// Sentences with line breaks for the width that the user or the terminal states, beside and below an indentation. In a
/// pipe they stay whole, because programs look for them.
pub fn wrapped(text: &str, indent: usize) -> String {
    let columns = std::env::var("COLUMNS").ok();
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    match columns.is_some() || terminal.is_some() {
        true => wrapped_to(text, width(), indent),
        false => text.to_owned(),
    }
}

/// `text` with line breaks, so that it fits `width` columns beside and below an indentation of `indent` columns. A word
/// that is wider than that has a line of its own.
pub fn wrapped_to(text: &str, width: usize, indent: usize) -> String {
    let mut lines = String::with_capacity(text.len());
    let mut used = indent;
    for word in text.split(' ') {
        let needed = word.width();
        if used > indent && used + 1 + needed > width {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if !lines.is_empty() {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += needed;
    }
    lines
}

fn decide(columns: Option<&str>, terminal: Option<u16>) -> usize {
    columns
        .and_then(|text| text.trim().parse().ok())
        .or(terminal.map(usize::from))
        .filter(|&width| width > 0)
        .unwrap_or(PIPE_WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_sentence_goes_on_under_its_beginning() {
        assert_eq!(wrapped_to("one two three four", 12, 2), "one two\n  three four");
        assert_eq!(wrapped_to("a-word-wider-than-the-screen b", 12, 2), "a-word-wider-than-the-screen\n  b");
    }

    #[test]
    fn the_user_then_the_terminal_then_a_fixed_width_decide() {
        assert_eq!(decide(Some("80"), Some(200)), 80);
        assert_eq!(decide(Some("wide"), Some(200)), 200);
        assert_eq!(decide(None, None), PIPE_WIDTH);
        assert_eq!(decide(None, Some(0)), PIPE_WIDTH);
    }
}
