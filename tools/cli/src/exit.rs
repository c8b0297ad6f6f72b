use std::process::ExitCode;

/// What a tool's end means to the script that called it; the same numbers in every tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: the question was answered. A reader that went away early (broken pipe) counts as served.
    Answered,
    /// 1: the answer is "no": a gate that the user asked for did not hold.
    No,
    /// 2: the command line makes no sense.
    Usage,
    /// 3: an input cannot be read or compared.
    Input,
    /// 4: inconclusive, where the user asked to fail on that.
    Inconclusive,
    /// The number of a command that the tool ran for the user, or why it was not run; its help says which.
    Command(u8),
}

impl Exit {
    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Answered => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::Inconclusive => 4,
            Self::Command(code) => code,
        }
    }

    /// The table that ends every `--help`.
    pub const HELP: &'static str = "\
Exit codes:
  0  answered
  1  answered \"no\": a gate that was asked for did not hold
  2  usage
  3  an input cannot be read or compared
  4  inconclusive, where the call asked to fail on that";
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
