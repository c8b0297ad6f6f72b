//! Tools with command lines.

use std::cell::RefCell;
use std::ffi::OsString;

use clap::{Command, CommandFactory, FromArgMatches};
use cli::{Exit, Failure, Output};

/// A tool whose command is built once: that costs more than a command line.
pub struct Program(RefCell<Option<Command>>);

impl Program {
    /// A tool that was not called yet.
    pub const fn new() -> Self {
        Self(RefCell::new(None))
    }

    /// Passes a command line to `tool`; `None` where it is invalid.
    pub fn call<A: CommandFactory + FromArgMatches>(
        &self,
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
        tool: impl FnOnce(A, &mut Output) -> Result<Exit, Failure>,
    ) -> Option<Result<Exit, Failure>> {
        let parsed = self.0.borrow_mut().get_or_insert_with(A::command).try_get_matches_from_mut(words);
        let arguments = A::from_arg_matches(&parsed.ok()?).ok()?;
        Some(tool(arguments, &mut silent()))
    }
}

/// An output that keeps nothing.
pub(crate) fn silent() -> Output {
    Output::new("fuzz", Box::new(std::io::sink()), Box::new(std::io::sink()))
}
