//! `rtl VERB`: the program `rtl-VERB` in its stead.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_verbs::run)
}
