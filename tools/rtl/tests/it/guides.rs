//! Every command in a `console` block of the documentation runs, on files of the names that it uses, and prints the lines
//! that stand below it.

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Job;

/// A command of a page and the beginnings of lines that it prints, in order.
#[derive(Debug, Default, PartialEq)]
struct Example {
    command: String,
    printed: Vec<String>,
}

/// The commands of the `console` blocks of a page, each of one line.
fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut is_console = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(kind) => is_console = kind == "console",
            None if !is_console => {}
            None => match (line.strip_prefix("$ "), found.last_mut()) {
                (Some(command), _) => {
                    found.push(Example { command: command.to_owned(), printed: Vec::new() })
                }
                (None, Some(example)) => example.printed.push(line.to_owned()),
                (None, None) => panic!("output without a command: {line}"),
            },
        }
    }
    found
}

/// All pages of the documentation.
fn pages() -> Vec<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders =
        ["", "docs", "docs/guide", "docs/reference", "docs/design"].map(|folder| project.join(folder));
    let entries = folders.iter().flat_map(|folder| folder.read_dir().unwrap());
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages
}

/// The files that pages name: a trace of PyTorch and another one, the ranks of a job, and runs of two builds.
fn write_files(folder: &Path) {
    let real = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/real/gpt-loader.json.gz");
    for name in ["train.json.gz", "other.json.gz"] {
        std::fs::copy(&real, folder.join(name)).unwrap();
    }
    for seed in 1..=3 {
        for name in ["before", "after"] {
            let run = Job { nodes: 1, ranks_per_node: 1, seed, ..Job::default() };
            let path = run.generate(folder).unwrap().remove(0);
            std::fs::rename(path, folder.join(format!("{name}{seed}.db"))).unwrap();
        }
    }
    Job::default().generate(folder).unwrap();
}

#[test]
fn the_commands_of_a_page_are_those_of_its_console_blocks() {
    let page = "```\n$ rm x\n```\n```console\n$ a b\nc\n  d\n$ e\n```\ntext\n";
    let example = |command: &str, printed: &[&str]| Example {
        command: command.to_owned(),
        printed: printed.iter().map(|line| (*line).to_owned()).collect(),
    };
    assert_eq!(examples(page), [example("a b", &["c", "  d"]), example("e", &[])]);
}

#[test]
fn every_command_of_the_guides_runs_and_prints_what_they_show() {
    let programs = Path::new(env!("CARGO_BIN_EXE_rtl")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut commands = 0;
    for page in pages() {
        let all = examples(&std::fs::read_to_string(&page).unwrap());
        if all.is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path());
        for Example { command, printed } in all {
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]).current_dir(folder.path()).env("PATH", &path).env("COLUMNS", "100");
            let output = shell.output().unwrap();
            let told = format!("{}: {command}: {output:?}", page.display());
            assert!(output.status.success(), "{told}");
            let answer = String::from_utf8(output.stdout).unwrap();
            let mut lines = answer.lines();
            for start in printed {
                assert!(lines.any(|line| line.starts_with(&start)), "{told}: no line begins with `{start}`");
            }
            commands += 1;
        }
    }
    assert!(commands > 20, "{commands}");
}
