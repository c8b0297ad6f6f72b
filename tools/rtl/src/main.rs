//! `rtl VERB`: executes `rtl-VERB`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_verbs::run)
}
