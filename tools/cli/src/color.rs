//! ANSI colours. No report relies on them, because pipes, files and some terminals have none.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Into pipes and files too
    Always,
    Never,
}

/// Adds ANSI colours to text, or returns the text unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// An automatic choice obeys NO_COLOR and `TERM=dumb`.
    pub fn new(choice: ColorChoice, terminal: bool) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Self::decide(choice, terminal, no_color || dumb)
    }

    fn decide(choice: ColorChoice, terminal: bool, disabled: bool) -> Self {
        Self { on: choice == ColorChoice::Always || choice == ColorChoice::Auto && terminal && !disabled }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

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
        let on = |choice, terminal, disabled| Paint::decide(choice, terminal, disabled).on;
        assert!(on(ColorChoice::Auto, true, false));
        assert!(!on(ColorChoice::Auto, false, false));
        assert!(!on(ColorChoice::Auto, true, true), "NO_COLOR");
        assert!(on(ColorChoice::Always, false, true), "an explicit flag outranks NO_COLOR");
        assert!(!on(ColorChoice::Never, true, false));
    }

    #[test]
    fn without_colour_the_text_is_unchanged() {
        assert_eq!(Paint::default().bold("Kernels"), "Kernels");
        assert_eq!(Paint { on: true }.bold("Kernels"), "\x1b[1mKernels\x1b[0m");
    }
}
