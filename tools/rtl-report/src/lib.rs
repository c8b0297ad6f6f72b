//! Pages with the pictures of a trace: the library behind `rtl-report`.
//!
//! The figures are those of `rtl-summary` ([`cli::report::Document`]), which the page holds as data, and the pictures those
//! of [`rtl_analysis::pictures`]. `sections` has one file for each section of the page; `html-page` draws.

pub mod args;
mod sections;
mod view;

use std::io::Write;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists};
use cli::args::{Console, Display};
use cli::destination::{Endings, format_of};
use cli::{Exit, Failure, Output};
use rtl_summary::sections::SECTIONS;

use crate::args::Arguments;
pub use crate::args::Options;
use crate::view::{Pictures, View};

/// The sections of the report that the page shows.
const SHOWN: [&str; 11] = [
    "findings",
    "trace",
    "trust",
    "kernels",
    "categories",
    "gpus",
    "idle",
    "memory",
    "copies",
    "ranks",
    "collectives",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Page {
    Html,
}

impl Endings for Page {
    fn endings(&self) -> &'static [&'static str] {
        &[".html", ".htm"]
    }
}

pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let Arguments { traces, options } = arguments;
    let path = options.output.clone().unwrap_or_else(|| PathBuf::from("report.html"));
    format_of(Some(&path), None, Page::Html)?;
    let exit = write(&options, &traces, &path, out)?;
    if options.open && path.is_file() {
        let page = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !platform::browser::open(page.as_os_str()) {
            writeln!(out, "{}", cli::escape_control(&path.display().to_string()))?;
        }
    }
    Ok(exit)
}

/// Writes the page of the traces to `path`. Of several traces those that can be read are shown, and the exit code is
/// [`Exit::Input`]. A baseline that cannot be compared is an error although the page is written, which has the reason, too.
pub fn write(options: &Options, traces: &[PathBuf], path: &Path, out: &mut Output) -> Result<Exit, Failure> {
    let inputs: Vec<&Path> = traces.iter().chain(&options.baseline).map(PathBuf::as_path).collect();
    let rules = atomic_file::Options { if_exists: IfExists::forced(options.force), inputs: &inputs };
    // A path that cannot be written is an error before minutes of reading.
    let file = AtomicFile::create(path, &rules)?;
    let console = Console { quiet: options.quiet, ..Console::default() };
    let summary = rtl_summary::Options {
        section: SECTIONS.into_iter().filter(|section| SHOWN.contains(&section.name)).collect(),
        top: Some(usize::MAX),
        categories: options.categories.clone(),
        filter: options.filter.clone(),
        display: Display { console: console.clone(), ..Display::default() },
        ..rtl_summary::Options::default()
    };
    let Some(found) = rtl_summary::document(&summary, traces, Pictures::new, out)? else {
        return Ok(Exit::Input);
    };
    let comparison = match options.baseline.as_slice() {
        [] => None,
        baseline => Some(rtl_diff::for_page([baseline, traces], &options.filter, &console, out)?),
    };
    let (part, refusal) = comparison.map(|comparison| (comparison.part, comparison.failure)).unzip();
    let page = sections::page(&View::new(&found.document, &found.pictures, path), part);
    let mut writer = file.writer()?;
    writer.write_all(page.render().as_bytes())?;
    writer.finish()?;
    file.commit()?;
    match refusal.flatten() {
        Some(refusal) => Err(refusal),
        None => Ok(found.exit),
    }
}
