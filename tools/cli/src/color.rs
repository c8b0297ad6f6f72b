//! Colour that a report reads well without.

use clap::ValueEnum;

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Into pipes and files too
    Always,
    /// Never
    Never,
}

/// Puts text in colour, or leaves it alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For an output that is a terminal or is not; reads NO_COLOR and TERM.
    pub fn new(choice: Choice, terminal: bool) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self::decide(choice, terminal, no_color || dumb)
    }

    fn decide(choice: Choice, terminal: bool, unwanted: bool) -> Self {
        Self { on: choice == Choice::Always || choice == Choice::Auto && terminal && !unwanted }
    }

    /// Headings.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Worse than it should be.
    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// Better than it was.
    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Worth a look.
    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_unless_asked_for() {
        let on = |choice, terminal, unwanted| Paint::decide(choice, terminal, unwanted).on;
        assert!(on(Choice::Auto, true, false));
        assert!(!on(Choice::Auto, false, false));
        assert!(!on(Choice::Auto, true, true), "NO_COLOR");
        assert!(on(Choice::Always, false, true), "an explicit flag outranks NO_COLOR");
        assert!(!on(Choice::Never, true, false));
    }

    #[test]
    fn without_colour_the_text_is_untouched() {
        assert_eq!(Paint::default().bold("Kernels"), "Kernels");
        assert_eq!(Paint { on: true }.bold("Kernels"), "\x1b[1mKernels\x1b[0m");
    }
}
