//! Files for readers of rocprofv3's files, against the rows of the source and against rocprofv3's own files.

mod arbitrary;
mod csv;
mod database;
mod json;
mod lines;
mod tracelens;

use std::path::{Path, PathBuf};
use std::process::Command;

use rtl_schema::{Select, Tables, Trace};
use support::Layout;

/// A folder in which the program runs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A native trace `in.db` of this story.
    pub(crate) fn story(story: &str) -> Self {
        let folder = Self::new();
        let made = support::database(story, Layout::Native).unwrap();
        std::fs::copy(made, folder.path("in.db")).unwrap();
        folder
    }

    /// Exit code, answer and messages of `rtl-convert` with these words.
    pub(crate) fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
        let output = command.args(line.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// The answer of `rtl-convert` where it has nothing to complain of.
    #[track_caller]
    pub(crate) fn answer(&self, line: &str) -> String {
        let (code, answer, messages) = self.run(line);
        assert_eq!((code, messages.as_str()), (0, ""));
        answer
    }

    /// The names of all files, in order.
    pub(crate) fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

pub(crate) fn read(path: &Path) -> Tables {
    Trace::open(path).unwrap().read(&Select::everything()).unwrap()
}

/// Stories of hazards, each with what it is.
pub(crate) const HAZARDS: [(&str, &str); 7] = [
    ("nothing", ""),
    ("only markers", "INSERT INTO ranges(number, start, end, text, tid) VALUES (1, 5, 5, 'here', 7), (2, 6, 9, 'step', 7);"),
    ("one GPU numbered 5", "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (5, 2, 10, 20, 'gemm');"),
    (
        "101 queues",
        "WITH RECURSIVE queue(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM queue WHERE n < 100)
         INSERT INTO kernels(gpu, queue, start, end, name) SELECT 0, n, 10 * n, 10 * n + 5, 'k' FROM queue;",
    ),
    ("an op on no GPU", "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (NULL, 1, 10, 20, 'lost'), (0, 1, 10, 20, 'found');"),
    (
        "bad rows",
        "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 10, NULL, 'cut off'), (0, 0, 20, 15, 'backwards'),
            (0, 0, 30, 40, 'good');
         INSERT INTO barriers(gpu, queue, start, end) VALUES (0, 0, 50, 60);",
    ),
    (
        "copies",
        "INSERT INTO copies(gpu, queue, start, end, way, bytes, peer, tid, correlation) VALUES
            (0, 0, 1000, 1100, 'CopyHostToDevice', 1000, NULL, 9, 4), (1, 0, 1400, 1600, 'CopyDeviceToHost', 4000, NULL, 9, 5),
            (0, 1, 2000, 2400, 'CopyDeviceToDevice', 8000, 1, 9, 6), (0, 0, 2500, 2510, 'FillBuffer', 256, NULL, 9, 7),
            (0, 0, 2600, 2650, 'CopyHostToDevice', NULL, NULL, NULL, NULL), (0, 0, 2700, 2750, 'Copy', 1, NULL, NULL, NULL);",
    ),
];

/// Names that a careless writer breaks on.
pub(crate) fn hostile_names() -> Vec<String> {
    let short = [
        "it's",
        "say \"no\"",
        "C:\\new\\table",
        "a\nb\tc\r",
        "\u{1}\u{7f}\u{85}",
        "\u{1f600} kernel",
        "a,b;c",
        "",
    ];
    short.iter().map(|name| (*name).to_owned()).chain([format!("{}\"'\\", "x".repeat(65_536))]).collect()
}

/// A story with a kernel, a range and a marker of each of these names.
pub(crate) fn story_of_names(names: &[String]) -> String {
    let quoted = |name: &String| format!("'{}'", name.replace('\'', "''"));
    let rows = names.iter().map(quoted).enumerate().map(|(at, name)| {
        format!(
            "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {at}0, {at}5, {name});
             INSERT INTO ranges(number, start, end, text, tid) VALUES ({at} + 1, {at}0, {at}9, {name}, 7);\n"
        )
    });
    rows.collect()
}
