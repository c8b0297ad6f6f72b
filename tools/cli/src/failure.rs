use std::io;

use crate::Exit;

/// Why a tool stopped: an error with its causes, the exit code and, where there is one, what to try.
///
/// `?` turns any error into a failure with [`Exit::Input`] and no hint; [`Explain`] and the methods here
/// say more.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// A failure that ends the program with `exit`.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Self { exit, error: error.into(), hint: None }
    }

    /// An input that cannot be read or compared ([`Exit::Input`]).
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Input, error)
    }

    /// An option whose value makes no sense ([`Exit::Usage`]).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, anyhow::Error::msg(message.into()))
    }

    /// Puts `what` in front of the causes: `what: why`.
    #[must_use]
    pub fn context(self, what: impl Into<String>) -> Self {
        Self { error: self.error.context(what.into()), ..self }
    }

    /// Adds what the user can try; one line, without the `hint:` in front. An empty text is no hint.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint: (!hint.is_empty()).then_some(hint), ..self }
    }

    /// The exit code it ends with.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The error with its causes.
    pub fn error(&self) -> &anyhow::Error {
        &self.error
    }

    /// What the user can try.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether somewhere among the causes the reader of our output went away, as `| head` does.
    pub fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        })
    }

    /// The lines that tell it: `name: error: what: why`, then `hint: what to try`.
    pub fn lines(&self, name: &str) -> String {
        let mut causes: Vec<String> = Vec::new();
        for cause in self.error.chain() {
            // A library that pastes its source into its own text would say everything twice.
            let text = crate::visible(cause.to_string().trim()).into_owned();
            if !causes.last().is_some_and(|last| last.ends_with(&text)) {
                causes.push(text);
            }
        }
        let error = format!("{name}: error: {}\n", causes.join(": "));
        match &self.hint {
            Some(hint) => format!("{error}hint: {hint}\n"),
            None => error,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::input(error)
    }
}

/// Says more about the error of a result while passing it on with `?`.
pub trait Explain<T> {
    /// Ends the program with `exit` should this fail.
    ///
    /// # Errors
    /// The error of the result.
    fn or_exit(self, exit: Exit) -> Result<T, Failure>;

    /// Puts `what` in front of the causes.
    ///
    /// # Errors
    /// The error of the result.
    fn while_doing(self, what: impl FnOnce() -> String) -> Result<T, Failure>;

    /// Adds what the user can try.
    ///
    /// # Errors
    /// The error of the result.
    fn or_hint(self, hint: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> Explain<T> for Result<T, E> {
    fn or_exit(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit, ..error.into() })
    }

    fn while_doing(self, what: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| error.into().context(what()))
    }

    fn or_hint(self, hint: impl Into<String>) -> Result<T, Failure> {
        self.map_err(|error| error.into().with_hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_pipe() -> io::Error {
        io::Error::from(io::ErrorKind::BrokenPipe)
    }

    #[test]
    fn an_error_is_one_line_of_causes_and_a_hint() {
        let failure = Failure::input(anyhow::anyhow!("no such file").context("cannot read a.db"))
            .with_hint("check the path");
        assert_eq!(
            failure.lines("rtl-x"),
            "rtl-x: error: cannot read a.db: no such file\nhint: check the path\n"
        );
    }

    #[test]
    fn a_cause_that_its_wrapper_already_told_is_told_once() {
        let failure = Failure::input(anyhow::anyhow!("disk full").context("cannot write: disk full"));
        assert_eq!(failure.lines("rtl-x"), "rtl-x: error: cannot write: disk full\n");
    }

    #[test]
    fn a_broken_pipe_is_found_below_other_causes() {
        let failure = Failure::from(broken_pipe()).context("writing the report");
        assert!(failure.is_broken_pipe());
        assert!(!Failure::usage("no").is_broken_pipe());
    }

    #[test]
    fn the_question_mark_means_an_input_that_cannot_be_read() {
        let failing = || -> Result<(), Failure> { Err(broken_pipe())? };
        assert_eq!(failing().map_err(|failure| failure.exit()), Err(Exit::Input));
    }

    #[test]
    fn a_result_can_be_given_another_exit_code_and_a_hint() {
        let failed = Err::<(), _>(broken_pipe()).or_exit(Exit::Inconclusive).or_hint("try again");
        let failure = failed.expect_err("it was an error");
        assert_eq!((failure.exit(), failure.hint()), (Exit::Inconclusive, Some("try again")));
    }

    #[test]
    fn a_name_with_a_line_break_cannot_forge_a_second_line() {
        let failure = Failure::usage("unknown kernel: a\nb");
        assert_eq!(failure.lines("rtl-x").lines().count(), 1);
    }
}
