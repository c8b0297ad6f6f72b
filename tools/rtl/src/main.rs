//! `rtl VERB`: all tools in one program.

use std::process::ExitCode;

fn main() -> ExitCode {
    rtl_verbs::run(std::env::args_os().collect())
}
