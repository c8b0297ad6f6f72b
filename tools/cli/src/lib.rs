//! How every rtl tool speaks: one way to start, to answer, to fail, to print tables and numbers.
//!
//! What it is: [`run()`] turns a function into a program with exit codes, one-line errors and hints,
//! `--completions` and quiet broken pipes; [`Table`] prints rows as text, CSV or Markdown; [`units`] and
//! [`args`] make numbers and flags look the same everywhere. What it is not: it knows no trace and
//! computes nothing. Only here and in the tools is anything printed.
//!
//! The types to know: [`Failure`] (why a tool stopped, with the [`Exit`] code and a hint), [`Output`]
//! (where it speaks), [`Table`] (what it says).
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
//! fn count(arguments: &Arguments, out: &mut Output) -> Result<Exit, Failure> {
//!     let bytes = std::fs::read(&arguments.file)
//!         .map_err(|error| Failure::input(error).context("cannot read").with_hint("check the path"))?;
//!     writeln!(out, "{}", cli::units::count(bytes.len() as u64))?;
//!     Ok(Exit::Answered)
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     cli::run(|arguments: Arguments, out| count(&arguments, out))
//! }
//! ```

pub mod args;
pub mod color;
mod exit;
mod failure;
mod output;
mod progress;
mod run;
mod shorten;
mod table;
pub mod terminal;
pub mod units;

pub use exit::Exit;
pub use failure::{Explain, Failure};
pub use output::Output;
pub use progress::Progress;
pub use run::run;
pub use shorten::{shorten_distinct, visible};
pub use table::{Align, Cell, Column, Layout, Table};
