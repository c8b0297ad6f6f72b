//! Writes a code object with as many kernels as asked, for ROCr's loader on a simulated GPU.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use support::code_object::{Kernel, Symbols, Target, code_object, many};

/// Writes a code object that the ROCm runtime loads: no compiler needed, nothing in it computes
///
/// Examples:
///   code-object --kernels 20000 many.co
///   code-object --target gfx942 --name vec_add --name _Z4copyPfS_i two.co
#[derive(Parser)]
#[command(verbatim_doc_comment)]
struct Arguments {
    /// The processor: gfx90a, gfx942, gfx950, gfx1100
    #[arg(long, default_value = "gfx90a", value_parser = target)]
    target: Target,
    /// How many kernels with generated names
    #[arg(long, default_value_t = 0)]
    kernels: usize,
    /// A kernel of this name, as mangled
    #[arg(long)]
    name: Vec<String>,
    /// Print where each kernel's name is in the order of the file, one to a line
    #[arg(long)]
    list: bool,
    /// The file to write
    output: PathBuf,
}

fn target(name: &str) -> Result<Target, String> {
    Target::named(name).ok_or_else(|| "not a target that the simulator knows".to_owned())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut kernels: Vec<Kernel> = arguments.name.iter().map(|name| Kernel::named(name.as_str())).collect();
    kernels.extend(many(arguments.kernels));
    std::fs::write(&arguments.output, code_object(arguments.target, &kernels, Symbols::Both))
        .with_context(|| format!("cannot write {}", arguments.output.display()))?;
    if arguments.list {
        let mut output = std::io::stdout().lock();
        for kernel in &kernels {
            output.write_all(&kernel.name)?;
            output.write_all(b"\n")?;
        }
    }
    Ok(())
}
