//! `rtl-report TRACE...`: one HTML page with the pictures of traces.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_report::run)
}
