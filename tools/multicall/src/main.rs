//! `rtl VERB`: all tools in one program.

use std::process::ExitCode;

fn main() -> ExitCode {
    multicall::run(std::env::args_os().collect())
}
