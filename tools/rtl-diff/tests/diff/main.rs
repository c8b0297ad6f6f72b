//! The program as its users meet it: a command line in, an answer, a message and an exit code out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod collectives;
mod cut_off;
mod document;
mod explained;
mod formats;
mod gates;
mod many;
mod page;
mod reading;
mod real;
mod refusals;
mod sides;
mod streams;
mod work;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Layout;
use support::rusqlite::Connection;

/// A folder of traces, in which the program runs.
struct Folder(tempfile::TempDir);

struct Run {
    code: i32,
    answer: String,
    messages: String,
}

/// The name, number of calls and duration of a kernel of a made trace.
type Kernel<'a> = (&'a str, u32, i64);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    /// A trace of kernels one after the other on GPU 0, 100 ns apart: each kernel's calls vary by a few ns around the
    /// given duration, with a pattern that `seed` moves.
    fn trace_in(&self, layout: Layout, file: &str, seed: i64, kernels: &[Kernel<'_>]) -> PathBuf {
        let mut story = String::new();
        let mut now = 1_000;
        for (name, calls, duration) in kernels {
            for call in 0..i64::from(*calls) {
                let wobble = (call * 7 + seed * 3) % 11 - 5;
                let end = now + duration + duration * wobble / 1_000;
                story += &format!(
                    "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {now}, {end}, '{name}');\n"
                );
                now = end + 100;
            }
        }
        let path = self.path(file);
        std::fs::copy(support::database(&story, layout).unwrap(), &path).unwrap();
        path
    }

    fn trace(&self, file: &str, seed: i64, kernels: &[Kernel<'_>]) -> PathBuf {
        self.trace_in(Layout::Native, file, seed, kernels)
    }

    fn tag(&self, file: &str, tag: &str, value: &str) {
        let connection = Connection::open(self.path(file)).unwrap();
        connection.execute("INSERT INTO rocpd_metadata(tag, value) VALUES (?1, ?2)", [tag, value]).unwrap();
    }

    fn program(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-diff"));
        command.args(line.split_whitespace()).current_dir(self.0.path());
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, line: &str) -> Run {
        let output = self.program(line).output().unwrap();
        Run {
            code: output.status.code().unwrap(),
            answer: String::from_utf8(output.stdout).unwrap(),
            messages: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The program must end with `code` and print nothing to standard error.
    #[track_caller]
    fn answer(&self, code: i32, line: &str) -> String {
        let run = self.run(line);
        assert_eq!((run.code, run.messages.as_str()), (code, ""), "rtl-diff {line}\n{}", run.answer);
        run.answer
    }

    #[track_caller]
    fn json(&self, code: i32, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.answer(code, &format!("{line} --to json"))).unwrap()
    }

    /// The document of a comparison that ends with `code`, and with an error that contains `message` and a hint.
    #[track_caller]
    fn json_of_failure(&self, code: i32, line: &str, message: &str) -> serde_json::Value {
        let run = self.run(&format!("{line} --to json"));
        let (error, hint) = run.messages.split_once('\n').unwrap_or_default();
        assert!(error.contains(message) && hint.starts_with("hint: "), "rtl-diff {line}\n{}", run.messages);
        assert_eq!((run.code, hint.lines().count()), (code, 1), "rtl-diff {line}\n{}", run.answer);
        serde_json::from_str(&run.answer).unwrap()
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }
}

/// The kernels of two runs between which nothing happened. Durations are those of a training step, in ns.
const STEADY: [Kernel<'static>; 3] =
    [("gemm", 40, 100_000), ("softmax", 40, 20_000), ("ncclDevKernel_AllReduce", 20, 9_000)];

fn status<'a>(document: &'a serde_json::Value, name: &str) -> &'a str {
    let kernels = document["kernels"].as_array().unwrap();
    kernels.iter().find(|kernel| kernel["name"] == name).unwrap()["status"].as_str().unwrap()
}

fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let mut all: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap()))
        .collect();
    all.sort();
    all
}
