//! A live view of recorded processes: the library behind `rtl-top`.
//!
//! [`args`] is the command line, `target` finds recordings, `watch` reads what is new of each, `text` makes lines of the
//! figures, and `screen` shows these until the end. All figures come from [`rtl_analysis::live`].

pub mod args;
pub mod document;
mod recorders;
pub mod screen;
mod target;
pub mod text;
mod watch;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use cli::{Exit, Failure, Output};

use crate::args::{Arguments, Format};
use crate::document::{Document, Recording, SCHEMA};
use crate::screen::Source;
use crate::text::View;
use crate::watch::Watched;

const ROWS: usize = 10;

pub fn run(arguments: Arguments, out: &mut Output) -> Result<Exit, Failure> {
    let paths = target::recordings(&arguments.targets)?;
    let mut job = Job { watched: Vec::new(), refused: Vec::new(), arguments: &arguments };
    let failures = job.add(&paths);
    if job.watched.is_empty() {
        return Err(failures.into_iter().next().unwrap_or_else(|| Failure::usage("nothing to watch")));
    }
    if !arguments.quiet {
        failures.iter().for_each(|failure| out.warning(&format!("left out: {:#}", failure.error())));
    }
    let is_live =
        !arguments.once && arguments.to.is_none() && job.watched.iter().any(|watched| !watched.is_over());
    if is_live {
        if !(out.is_terminal() && std::io::stdin().is_terminal()) {
            return Err(
                Failure::usage("the live view needs a terminal").with_hint("--once prints the state once")
            );
        }
        // The screen is restored before a signal ends this process.
        atomic_file::keep_on_signals(platform::signals::ENDS);
        if let Some(signal) = screen::show(&mut job, arguments.interval, arguments.top)? {
            return Ok(Exit::Command(128 + signal));
        }
    }
    let document = job.document();
    match arguments.to.unwrap_or_default() {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?,
        Format::Text => {
            let width = if arguments.full_names { None } else { Some(cli::terminal::width()) };
            let rows = arguments.top.unwrap_or(ROWS);
            let view = View { width, height: None, rows: Some(rows) };
            for line in text::lines(&document, view)? {
                writeln!(out, "{}", line.text)?;
            }
        }
    }
    Ok(Exit::Success)
}

struct Job<'a> {
    watched: Vec<Watched>,
    /// Files of folders that are no recordings.
    refused: Vec<PathBuf>,
    arguments: &'a Arguments,
}

impl Job<'_> {
    /// Adds recordings; returns the failures of those that cannot be watched.
    fn add(&mut self, paths: &[PathBuf]) -> Vec<Failure> {
        let opened = paths.iter().map(|path| Watched::open(path, self.arguments.window));
        let (watched, failures): (Vec<_>, Vec<_>) = opened.partition(Result::is_ok);
        self.watched.extend(watched.into_iter().flatten());
        failures.into_iter().filter_map(Result::err).map(Failure::input).collect()
    }
}

impl Source for Job<'_> {
    /// Recordings that appear in a folder are added.
    fn refresh(&mut self) -> Result<bool, Failure> {
        let folders = self.arguments.targets.iter().map(Path::new).filter(|target| target.is_dir());
        let known: Vec<&Path> = self.watched.iter().map(Watched::path).collect();
        let files = folders.flat_map(target::in_folder);
        let new: Vec<PathBuf> = files.filter(|path| !known.contains(&path.as_path())).collect();
        for path in new.iter().filter(|path| !self.refused.contains(path)).cloned().collect::<Vec<_>>() {
            match Watched::open(&path, self.arguments.window) {
                Ok(watched) => self.watched.push(watched),
                // The file may get content later.
                Err(error) if error.is_without_content() => {}
                Err(_) => self.refused.push(path),
            }
        }
        for watched in &mut self.watched {
            watched.refresh()?;
        }
        Ok(!self.watched.iter().all(Watched::is_over))
    }

    fn document(&self) -> Document {
        let mut recordings: Vec<Recording> = self.watched.iter().map(Watched::recording).collect();
        recordings.sort_by(|one, other| (one.rank, &one.path).cmp(&(other.rank, &other.path)));
        Document { schema: SCHEMA.to_owned(), recordings }
    }
}
