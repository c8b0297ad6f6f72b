//! `rtl-diff BASELINE CANDIDATE`: did it get slower?

use std::process::ExitCode;

fn main() -> ExitCode {
    rtl_diff::main(std::env::args_os().collect())
}
