//! Failures of a tool, each of which is one line for people, an exit code for scripts and, where one is known, a hint.

use std::io;

use crate::Exit;

/// An error with its causes, the exit code and, where one is known, a hint.
///
/// `?` turns any error into a failure with [`Exit::Input`], and with [`Exit::Usage`] where an output must not be written.
/// The hints of [`rtl_schema::Error`], [`atomic_file::Error`] and errors of data sets are kept;
/// [`ResultExt`] adds context, another exit code or another hint.
#[derive(Debug)]
pub struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        let error = error.into();
        let trace = error.downcast_ref::<rtl_schema::Error>().map(rtl_schema::Error::hint);
        let output = || error.downcast_ref().map(atomic_file::Error::hint);
        #[cfg(feature = "dataset")]
        let output = || output().or_else(|| error.downcast_ref::<dataset::Error>()?.hint());
        let hint = room(&error).or(trace).or_else(output).map(str::to_owned);
        Self { exit, error, hint }
    }

    /// The input cannot be read or compared ([`Exit::Input`]).
    pub fn input(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Input, error)
    }

    /// The command line is invalid ([`Exit::Usage`]).
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, anyhow::Error::msg(message.into()))
    }

    /// Puts `context` in front of the causes: `context: cause`.
    #[must_use]
    pub fn context(self, context: impl Into<String>) -> Self {
        Self { error: self.error.context(context.into()), ..self }
    }

    /// Replaces the hint: what the user can try, on one line, without `hint:`. An empty text removes it.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self { hint: (!hint.is_empty()).then_some(hint), ..self }
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }

    pub fn error(&self) -> &anyhow::Error {
        &self.error
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns true if a cause is a broken pipe: the reader of the output ended early, as `| head` does.
    pub fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        })
    }

    pub fn message(&self) -> String {
        let mut causes: Vec<String> = Vec::new();
        for cause in self.error.chain() {
            // Some libraries repeat the text of their source in their own.
            let text = cause.to_string();
            // Temporary files are none of the user's: tempfile adds their names behind the reason.
            let text = text.split(" at path \"").next().unwrap_or_default().trim();
            let text = crate::escape_control(text).into_owned();
            if !causes.last().is_some_and(|last| last.ends_with(&text)) {
                causes.push(text);
            }
        }
        causes.join(": ")
    }

    /// The lines for people: `name: error: context: cause`, then `hint: ...`.
    pub fn lines(&self, name: &str) -> String {
        let error = format!("{name}: error: {}\n", self.message());
        match &self.hint {
            Some(hint) => format!("{error}hint: {}\n", crate::escape_control(hint)),
            None => error,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error = error.into();
        let is_refused = error.downcast_ref().is_some_and(atomic_file::Error::is_refusal);
        #[cfg(feature = "dataset")]
        let is_refused = is_refused || error.downcast_ref().is_some_and(dataset::Error::is_refusal);
        Self::new(if is_refused { Exit::Usage } else { Exit::Input }, error)
    }
}

/// The hint of an error behind which is a full disk, a quota or a limit of the process.
fn room(error: &anyhow::Error) -> Option<&'static str> {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.find_map(|cause| match cause.kind() {
        io::ErrorKind::StorageFull => Some("free space on the disk, or write to another one"),
        io::ErrorKind::QuotaExceeded => {
            Some("the quota of this user is exhausted: remove files, or write elsewhere")
        }
        io::ErrorKind::FileTooLarge => {
            Some("a limit on the size of files is reached: `ulimit -f unlimited` lifts that of a shell")
        }
        _ => None,
    })
}

/// Adds to the failure of a result, as the methods of [`Failure`] do.
pub trait ResultExt<T> {
    fn with_exit(self, exit: Exit) -> Result<T, Failure>;
    fn with_context(self, context: impl FnOnce() -> String) -> Result<T, Failure>;
    fn with_hint(self, hint: impl Into<String>) -> Result<T, Failure>;
}

impl<T, E: Into<Failure>> ResultExt<T> for Result<T, E> {
    fn with_exit(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure { exit, ..error.into() })
    }

    fn with_context(self, context: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| error.into().context(context()))
    }

    fn with_hint(self, hint: impl Into<String>) -> Result<T, Failure> {
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
    fn a_cause_that_its_wrapper_repeats_is_printed_once() {
        let failure = Failure::input(anyhow::anyhow!("disk full").context("cannot write: disk full"));
        assert_eq!(failure.lines("rtl-x"), "rtl-x: error: cannot write: disk full\n");
    }

    #[test]
    fn names_of_temporary_files_are_not_shown() {
        let missing = tempfile::NamedTempFile::new_in("/nowhere").expect_err("no such folder");
        let failure = Failure::input(missing).context("cannot write /nowhere/out.json");
        let lines = failure.lines("rtl-x");
        assert!(lines.starts_with("rtl-x: error: cannot write /nowhere/out.json: No such file"), "{lines}");
        assert!(!lines.contains(".tmp"), "{lines}");
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
    fn the_hint_of_a_trace_that_cannot_be_read_is_kept() {
        let missing = || rtl_schema::Error::Missing { path: "a.db".into() };
        let error = missing();
        assert_eq!(Failure::from(missing()).context("survey").hint(), Some(error.hint()));
    }

    #[test]
    fn a_result_can_be_given_another_exit_code_and_a_hint() {
        let failed = Err::<(), _>(broken_pipe()).with_exit(Exit::Inconclusive).with_hint("try again");
        let failure = failed.expect_err("it was an error");
        assert_eq!((failure.exit(), failure.hint()), (Exit::Inconclusive, Some("try again")));
    }

    #[test]
    fn a_name_with_a_line_break_cannot_forge_a_second_line() {
        let failure = Failure::usage("unknown kernel: a\nb");
        assert_eq!(failure.lines("rtl-x").lines().count(), 1);
        let failure = failure.with_hint("rtl-x 'a\nb'");
        assert_eq!(failure.lines("rtl-x").lines().count(), 2);
    }
}
