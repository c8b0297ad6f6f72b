//! The program as its users meet it, and every row of the merged trace against those of its sources.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_traces;
mod clocks;
mod collectives;
mod content;
mod cut_off;
mod document;
mod fuzz_smoke;
mod identity;
mod imbalance;
mod interrupted;
mod kineto;
mod many;
mod refusals;
mod story;
mod streams;
mod summary;
mod threads;

use std::path::PathBuf;
use std::process::Command;

use rtl_schema::{Select, Tables, Trace};
use serde_json::Value;
use support::{Job, Layout};

/// A folder of traces, in which the program runs.
struct Folder(tempfile::TempDir);

/// The result of one call of the program.
#[derive(Debug)]
struct Run {
    code: i32,
    answer: String,
    messages: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with the traces `rank<N>.db` of a job.
    fn of(job: &Job) -> Self {
        let folder = Self::new();
        job.generate(folder.0.path()).unwrap();
        folder
    }

    /// Adds a story in any layout.
    fn story(&self, name: &str, layout: Layout, file: &str) -> PathBuf {
        let path = self.path(file);
        std::fs::copy(support::fixture_in(name, layout), &path).unwrap();
        path
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// The files in it, sorted.
    fn files(&self) -> Vec<String> {
        let name =
            |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = std::fs::read_dir(self.0.path()).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// `rtl-merge` with these words, in this folder.
    fn run(&self, line: &str) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-merge"));
        let output = command.args(line.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run {
            code: output.status.code().unwrap(),
            answer: text(output.stdout),
            messages: text(output.stderr),
        }
    }

    /// The report of a merge that goes well.
    fn merge(&self, line: &str) -> Value {
        let run = self.run(&format!("--force --print json {line}"));
        assert_eq!((run.code, run.messages.as_str()), (0, ""));
        serde_json::from_str(&run.answer).unwrap()
    }

    /// All that a trace holds.
    fn tables(&self, file: &str) -> Tables {
        Trace::open(self.path(file)).unwrap().read(&Select::everything()).unwrap()
    }
}

/// The words `rank0.db rank1.db ...`.
fn ranks(count: u32) -> String {
    (0..count).map(|rank| format!("rank{rank}.db ")).collect()
}
