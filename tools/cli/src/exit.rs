//! The exit codes, which are the same numbers in every tool so that scripts need to know them once.

use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: success. A reader that closed the pipe early (`| head`) counts as success.
    Success,
    /// 1: a requested gate failed.
    GateFailed,
    /// 2: the command line is invalid.
    Usage,
    /// 3: an input cannot be read or compared.
    Input,
    /// 4: inconclusive, where the user asked to fail on that.
    Inconclusive,
    /// The exit code of a command that the tool ran, or the reason why the command was not run; the tool's help lists
    /// the codes.
    Command(u8),
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::GateFailed => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Inconclusive => 4,
            Self::Command(code) => code,
        }
    }

    /// Lines of the help for the exit codes that most tools have.
    pub const SUCCESS: Meaning = ("0", "success");
    pub const USAGE: Meaning = ("2", "usage error");
    pub const UNREADABLE: Meaning = ("3", "an input cannot be read or compared");
}

/// An exit code and its meaning, as the help shows them.
pub type Meaning = (&'static str, &'static str);

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
