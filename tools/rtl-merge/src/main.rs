//! `rtl-merge -o merged.db rank*.db`: one trace from many ranks.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_merge::run)
}
