//! The program as its users meet it: a command line in, an answer, a message and an exit code out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bandwidth;
mod choices;
mod cut_off;
mod document;
mod idle;
mod inputs;
mod launches;
mod manners;
mod many;
mod operators;
mod oracle;
mod ranks;
mod real;
mod recording;
mod refusals;
mod region;
mod report;
mod several;
mod threads;
mod torch;
mod trial;
mod trust;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Layout;

/// A folder of traces, in which the program runs.
struct Folder(tempfile::TempDir);

struct Run {
    code: i32,
    answer: String,
    messages: String,
}

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with these stories as `<name>.db` in our layout.
    fn of(stories: &[&str]) -> Self {
        let folder = Self::new();
        for name in stories {
            folder.story(name, Layout::Native, &format!("{name}.db"));
        }
        folder
    }

    fn story(&self, name: &str, layout: Layout, file: &str) -> PathBuf {
        let path = self.path(file);
        std::fs::copy(support::fixture_in(name, layout), &path).unwrap();
        path
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// `rtl-summary` with the words of `line`, in this folder, as into a pipe.
    fn program(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-summary"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, line: &str) -> Run {
        Run::of(&mut self.program(line))
    }

    /// The program must succeed and print nothing to standard error.
    #[track_caller]
    fn answer(&self, line: &str) -> String {
        let run = self.run(line);
        assert_eq!((run.code, run.messages.as_str()), (0, ""), "rtl-summary {line}");
        run.answer
    }

    #[track_caller]
    fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.answer(&format!("{line} --to json"))).unwrap()
    }

    /// The names of the rows of the CSV table that `line` asks for, in order.
    #[track_caller]
    fn names(&self, line: &str) -> Vec<String> {
        let csv = self.answer(&format!("{line} --to csv"));
        csv.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect()
    }
}

impl Run {
    fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap(),
            answer: String::from_utf8(output.stdout).unwrap(),
            messages: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The JSON report on a file anywhere, with more words on the command line.
#[track_caller]
fn report_on(path: &Path, line: &str) -> serde_json::Value {
    let folder = Folder::new();
    let run = Run::of(folder.program(&format!("--to json {line}")).arg(path));
    assert_eq!((run.code, run.messages.as_str()), (0, ""), "{}", path.display());
    serde_json::from_str(&run.answer).unwrap()
}
