//! `rtl-summary TRACE...`: reports where the GPU time went.

use std::process::ExitCode;

fn main() -> ExitCode {
    rtl_summary::main(std::env::args_os().collect())
}
