//! `rtl-summary TRACE...`: reports where the GPU time went.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_summary::run)
}
