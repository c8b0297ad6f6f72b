//! The promises of every tool of the suite, and that a trace is only read.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::Stdio;

use support::Layout;

use crate::{Folder, Run};

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::of(&["steady-training-loop"]);
    let mut child = folder
        .program("steady-training-loop.db --full-names --to json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!((child.wait().unwrap().code(), messages.as_str()), (Some(0), ""));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let folder = Folder::of(&["bad-rows"]);
    let coloured = |text: &str| text.contains('\u{1b}');
    assert!(!coloured(&folder.answer("bad-rows.db")), "a pipe gets none");
    assert!(coloured(&folder.answer("bad-rows.db --color always")));
    let run = Run::of(folder.program("bad-rows.db --color always").env("NO_COLOR", "1"));
    assert!(coloured(&run.answer), "the flag is stronger than the variable");
    let plain: String = folder.answer("bad-rows.db --color never");
    assert_eq!(plain, folder.answer("bad-rows.db"));
}

#[test]
fn the_help_has_two_examples_and_the_exit_codes() {
    let help = Folder::new().answer("--help");
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    assert_eq!(examples.lines().filter(|line| line.trim_start().starts_with("rtl-summary ")).count(), 2);
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    for flag in ["--by", "--sort", "--top", "--section", "--names", "--time", "--strict", "--to"] {
        assert!(help.contains(flag), "{flag}");
    }
}

fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder.0.path()).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), std::fs::read(file.path()).unwrap())).collect()
}

#[test]
fn reading_changes_no_byte_and_leaves_no_file() {
    let folder = Folder::of(&["ranges-nested", "bad-rows"]);
    folder.story("overlap-two-queues", Layout::Lite, "lite.db");
    folder.story("ranges-nested", Layout::Rpd3, "trace.rpd");
    // A database that was in WAL mode and has no -wal any more.
    let wal = folder.story("two-kernels", Layout::Native, "wal.db");
    let connection = support::rusqlite::Connection::open(&wal).unwrap();
    connection.execute_batch("PRAGMA journal_mode=WAL; UPDATE rocpd_op SET end = end").unwrap();
    drop(connection);
    let before = contents(&folder);
    for line in ["", "--info", "--to json", "--by shape", "--to rpt", "--to rocprofv3", "--section ranges"] {
        folder.answer(&format!("ranges-nested.db bad-rows.db lite.db trace.rpd wal.db {line}"));
        assert!(before == contents(&folder), "after {line}");
    }
}

#[test]
fn a_file_is_known_by_its_content_and_not_by_its_name() {
    let folder = Folder::of(&["two-kernels"]);
    let expected = folder.json("two-kernels.db")["kernels"].clone();
    std::fs::rename(folder.path("two-kernels.db"), folder.path("trace.json.gz")).unwrap();
    assert_eq!(folder.json("trace.json.gz")["kernels"], expected);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let folder = Folder::of(&["steady-training-loop"]);
    for format in ["text", "json", "csv", "markdown"] {
        let line = format!("steady-training-loop.db --to {format}");
        assert_eq!(folder.answer(&line), folder.answer(&line));
    }
}

#[test]
fn a_name_cannot_steer_the_terminal() {
    let story = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, 1, 9, char(27) || '[2Jevil' || char(10));";
    let folder = Folder::new();
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("evil.db")).unwrap();
    for format in ["text", "markdown"] {
        let text = folder.answer(&format!("evil.db --to {format}"));
        assert!(text.contains("evil") && !text.contains('\u{1b}'), "{text}");
    }
}
