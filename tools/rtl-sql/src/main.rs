//! `rtl-sql TRACE... [SQL]`: SQL on traces.

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(rtl_sql::run)
}
