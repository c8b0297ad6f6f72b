//! Every command that the documentation shows runs, on files of the names that it uses. Below a command of a `console` block
//! stand the beginnings of lines that it prints.

mod elsewhere;
mod examples;
mod files;
mod recorded;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use examples::{Example, examples};
use support::Need;

/// The programs of this build and the pages that show them.
struct Pages {
    programs: PathBuf,
    project: PathBuf,
}

impl Pages {
    fn new() -> Self {
        let programs = Path::new(env!("CARGO_BIN_EXE_rtl")).parent().unwrap().to_owned();
        Self {
            programs,
            project: Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap(),
        }
    }

    /// All pages of the documentation, by their path in the project.
    fn all(&self) -> Vec<String> {
        let folders = ["", "docs", "docs/guide", "docs/reference", "docs/design", "docs/bench", "ci"];
        let tools = self.project.join("tools").read_dir().unwrap().map(|entry| entry.unwrap().path());
        let folders = folders.iter().map(|folder| self.project.join(folder)).chain(tools);
        let mut pages: Vec<PathBuf> = folders
            .filter(|folder| folder.is_dir())
            .flat_map(|folder| folder.read_dir().unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "md"))
            .collect();
        pages.sort();
        let name = |path: PathBuf| path.strip_prefix(&self.project).unwrap().to_str().unwrap().to_owned();
        pages.into_iter().map(name).collect()
    }

    fn examples_of(&self, page: &str) -> Vec<Example> {
        examples(&std::fs::read_to_string(self.project.join(page)).unwrap())
    }

    /// Runs a command in the folder, where programs in `first` come before those of this build. A script has the folder and a
    /// trace as its arguments, as those of `ci/gpu-time` have.
    fn run(&self, command: &str, folder: &Path, first: &Path) -> Output {
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{}:{path}", first.display(), self.programs.display());
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command, "sh", ".", "recorded.db"])
            .current_dir(folder)
            .env("PATH", path)
            .env("COLUMNS", "100");
        shell.stdin(Stdio::null()).output().unwrap()
    }
}

#[test]
fn every_command_that_the_pages_show_runs_and_prints_what_they_show() {
    let pages = Pages::new();
    let has_duckdb = duckdb::load().map_err(|error| support::skip(Need::Duckdb, error)).is_ok();
    let (mut commands, mut failed) = (0, Vec::new());
    for page in pages.all() {
        // Commands of a console follow one another; others stand alone.
        let console = tempfile::tempdir().unwrap();
        for Example { command, printed, is_console } in pages.examples_of(&page) {
            let is_sql = ["rtl-sql", "rtl sql"].iter().any(|program| command.starts_with(program));
            if elsewhere::is_tested(&command) || recorded::is_meant(&command) || (is_sql && !has_duckdb) {
                continue;
            }
            let alone = tempfile::tempdir().unwrap();
            let folder = if is_console { console.path() } else { alone.path() };
            files::provide(&pages, &command, folder);
            let output = pages.run(&files::without_a_browser(&command), folder, Path::new("."));
            let answer = String::from_utf8_lossy(&output.stdout);
            let mut lines = answer.lines();
            let missing = printed.iter().find(|start| !lines.any(|line| line.starts_with(*start)));
            if !output.status.success() || missing.is_some() {
                failed.push(format!("{page}: {command}: {missing:?} of {output:?}"));
            }
            commands += 1;
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(commands > 100, "{commands}");
}
