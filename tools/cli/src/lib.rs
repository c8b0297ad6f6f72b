//! The command line of every rtl tool.
//!
//! [`run()`] turns a function into a program with exit codes, one-line errors with hints and silent broken pipes; [`Table`]
//! prints rows as text, CSV or Markdown; [`units`] and [`args`] keep numbers and flags the same in all tools. This crate
//! reads no trace and computes nothing; only it and the tools print.
//!
//! The main types: [`Failure`] (an error with the [`Exit`] code and a hint), [`Output`] (standard output and
//! standard error), [`Table`] (rows under headers).
//!
//! ```no_run
//! use std::io::Write;
//!
//! use cli::{Exit, Failure, Output};
//!
//! /// Counts the bytes of a file.
//! #[derive(clap::Parser)]
//! #[command(name = "rtl-count", version)]
//! struct Arguments {
//!     /// The file to look at.
//!     file: std::path::PathBuf,
//! }
//!
//! impl cli::args::CommandLine for Arguments {}
//!
//! fn count(arguments: &Arguments, out: &mut Output) -> Result<Exit, Failure> {
//!     let bytes = std::fs::read(&arguments.file)
//!         .map_err(|error| Failure::input(error).context("cannot read").with_hint("check the path"))?;
//!     writeln!(out, "{}", cli::units::count(bytes.len() as u64))?;
//!     Ok(Exit::Success)
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     cli::run(|arguments: Arguments, out| count(&arguments, out))
//! }
//! ```

pub mod args;
pub mod color;
pub mod destination;
mod escape;
mod exit;
mod failure;
pub mod filter;
mod inputs;
mod memory;
mod moved;
mod output;
mod progress;
pub mod report;
mod run;
mod shorten;
mod table;
pub mod terminal;
pub mod units;

pub use escape::{escape_control, markdown_code, markdown_name, markdown_text};
pub use exit::{Exit, Meaning};
pub use failure::{Failure, ResultExt};
pub use inputs::{read_in_order, without_repetitions};
pub use memory::limit as memory_limit;
pub use moved::refusal as moved_flag;
pub use output::Output;
pub use progress::Progress;
pub use run::{Called, call, command, completions, manual, read_data_sets, run, run_line, similar};
pub use shorten::shorten_distinct;
pub use table::{Align, Cell, Column, Layout, Table, TableOf};
