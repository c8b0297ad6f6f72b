//! The width of reports.

/// The width of tables that go into a pipe or a file, in columns.
pub const PIPE_WIDTH: usize = 120;

/// Columns for tables on standard output: COLUMNS where set, else the terminal's width, else
/// [`PIPE_WIDTH`].
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok();
    decide(columns.as_deref(), terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0))
}

/// Sentences with line breaks for the width that the user or the terminal states, beside and below an indentation. In a
/// pipe they stay whole: programs look for them.
pub fn wrapped(text: &str, indent: usize) -> String {
    let columns = std::env::var("COLUMNS").ok();
    let terminal = terminal_size::terminal_size_of(std::io::stdout());
    match columns.is_some() || terminal.is_some() {
        true => crate::wrapped(text, width(), indent),
        false => text.to_owned(),
    }
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
    fn the_user_then_the_terminal_then_a_fixed_width_decide() {
        assert_eq!(decide(Some("80"), Some(200)), 80);
        assert_eq!(decide(Some("wide"), Some(200)), 200);
        assert_eq!(decide(None, None), PIPE_WIDTH);
        assert_eq!(decide(None, Some(0)), PIPE_WIDTH);
    }
}
