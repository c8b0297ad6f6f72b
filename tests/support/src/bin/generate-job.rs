//! Writes the traces of a job of several ranks on clocks of their own:
//! `cargo run -p support --bin generate-job -- --slow 2=1.2 folder`.

use std::path::PathBuf;

use clap::Parser;

/// Write `rank<N>.db` for each rank of a job that works in step.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    job: support::Job,
    /// The folder to write to, which must exist.
    folder: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    arguments.job.generate(&arguments.folder)?;
    Ok(())
}
