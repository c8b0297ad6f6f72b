//! `rtl-top TARGET...`: shows what a recorded process does now.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_top::run)
}
