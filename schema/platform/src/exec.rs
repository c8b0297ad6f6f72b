//! Another program in place of this one.

use std::ffi::OsStr;
use std::io;
use std::process::Command;

/// Runs a program in place of this one, under `name`. It returns only on Windows, with the exit code of the program, 1 where
/// that is no byte; the program has its own name there.
///
/// # Errors
/// The program cannot be run.
pub fn exec(command: &mut Command, name: &OsStr) -> io::Result<u8> {
    cfg_select! {
        unix => {
            use std::os::unix::process::CommandExt;
            Err(command.arg0(name).exec())
        }
        windows => {
            let _ = name;
            let code = command.status()?.code();
            Ok(code.and_then(|code| code.try_into().ok()).unwrap_or(1))
        }
    }
}
