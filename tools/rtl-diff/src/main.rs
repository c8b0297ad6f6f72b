//! `rtl-diff BASELINE CANDIDATE`: did it get slower?

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_diff::run)
}
