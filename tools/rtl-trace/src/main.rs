//! `rtl-trace COMMAND...`: runs a command and records its GPU work.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_trace::run)
}
