//! `rtl-convert IN -o OUT`: a trace in another format.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_convert::run)
}
