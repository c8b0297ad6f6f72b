//! Writes a synthetic trace: `cargo run --release -p support --bin generate -- --ops 1000000 out.db`.

use std::path::PathBuf;

use clap::Parser;

/// Write a synthetic trace of any size; one seed, one file.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    options: support::Options,
    /// The file to write, replacing what is there.
    out: PathBuf,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    support::generate(&arguments.options, &arguments.out)
}
