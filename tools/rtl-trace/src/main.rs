//! `rtl-trace CMD`: a command with its GPU work recorded.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_trace::run)
}
