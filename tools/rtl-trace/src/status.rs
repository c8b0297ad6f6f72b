//! Exit codes by the rules of env(1) and timeout(1): that of the command, else one of our own.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use cli::{Exit, Failure};

/// rtl-trace itself has failed.
pub const OWN: Exit = Exit::Command(125);
/// The command exists and cannot be executed.
pub const NOT_EXECUTABLE: Exit = Exit::Command(126);
/// There is no such command.
pub const NOT_FOUND: Exit = Exit::Command(127);

/// A failure of rtl-trace itself, which ends with [`OWN`].
pub fn failure(what: impl Into<String>) -> Failure {
    Failure::new(OWN, anyhow::Error::msg(what.into()))
}

/// The exit code of a command that has ended: its own, or 128 + n for signal n.
#[must_use]
pub fn exit_of(status: ExitStatus) -> Exit {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    match code.and_then(|code| u8::try_from(code).ok()) {
        Some(0) => Exit::Success,
        Some(code) => Exit::Command(code),
        None => OWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(exit_of(ExitStatus::from_raw(0)), Exit::Success);
        assert_eq!(exit_of(ExitStatus::from_raw(3 << 8)), Exit::Command(3));
        assert_eq!(exit_of(ExitStatus::from_raw(9)), Exit::Command(137));
        assert_eq!(exit_of(ExitStatus::from_raw(11 | 0x80)), Exit::Command(139), "with a core");
    }
}
