//! The live view in a terminal.

use std::time::Duration;

use cli::Failure;
use rtl_top::document::Document;
use rtl_top::screen::{Source, show};
use rustix::process::{Pid, Signal, kill_process};

use crate::growing::Growing;
use crate::terminal::Terminal;

/// The codes that leave the terminal as it was: the other screen is gone, the cursor is visible.
const RESTORED: [&str; 2] = ["\x1b[?1049l", "\x1b[?25h"];

fn top(arguments: &[&str]) -> Terminal {
    Terminal::run(env!("CARGO_BIN_EXE_rtl-top"), arguments)
}

fn assert_restored(written: &str) {
    for sequence in RESTORED {
        assert!(written.contains(sequence), "{written:?}");
    }
}

#[test]
fn the_view_follows_the_file_and_ends_with_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, Some(3));
    growing.run(20);
    let mut terminal = top(&[growing.path().to_str().unwrap(), "--interval", "0.05"]);
    terminal.wait_for("pid 4711  rank 3  node1  recording");
    growing.run(100_000);
    terminal.wait_for("60.0%");
    growing.end();
    let (status, written) = terminal.end();
    assert!(status.success());
    assert_restored(&written);
    let (_, after) = written.rsplit_once(RESTORED[0]).unwrap();
    assert!(after.contains("ended") && after.contains("gemm_kernel"), "the last state stays: {after:?}");
}

#[test]
fn keys_and_signals_end_the_view_and_restore_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, None);
    growing.run(20);
    let path = growing.path().to_str().unwrap();
    for key in ["q", "\x03", "\x1b"] {
        let mut terminal = top(&[path]);
        terminal.wait_for("gemm_kernel");
        terminal.press(key);
        let (status, written) = terminal.end();
        assert!(status.success(), "{key:?}: {status}");
        assert_restored(&written);
    }
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut terminal = top(&[path]);
        terminal.wait_for("gemm_kernel");
        kill_process(Pid::from_raw(terminal.pid() as i32).unwrap(), signal).unwrap();
        let (status, written) = terminal.end();
        assert_eq!(status.code(), Some(code), "{signal:?}");
        assert_restored(&written);
    }
}

#[test]
fn a_terminal_that_changes_its_size_gets_another_picture() {
    let folder = tempfile::tempdir().unwrap();
    let mut growing = Growing::new(folder.path(), 4711, None);
    growing.run(1000);
    let mut terminal = top(&[growing.path().to_str().unwrap(), "--interval", "3600"]);
    terminal.wait_for("gemm_kernel");
    terminal.resize(140, 50);
    // There was no room for calls before.
    terminal.wait_for("hipMemcpyAsync");
    for (columns, lines) in [(1, 1), (20, 5), (300, 100)] {
        terminal.resize(columns, lines);
        std::thread::sleep(Duration::from_millis(50));
    }
    terminal.press("q");
    let (status, written) = terminal.end();
    assert!(status.success());
    assert_restored(&written);
}

#[test]
fn a_folder_shows_a_line_for_each_rank_and_those_that_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut ranks: Vec<Growing> =
        (0..2).map(|rank| Growing::new(folder.path(), 4000 + i64::from(rank), Some(rank))).collect();
    ranks.iter_mut().for_each(|rank| rank.run(100));
    let mut terminal = top(&[folder.path().to_str().unwrap(), "--interval", "0.05"]);
    terminal.wait_for("2 recordings  2 recording");
    let mut late = Growing::new(folder.path(), 4002, Some(2));
    late.run(10);
    terminal.wait_for("4002");
    terminal.press("q");
    assert!(terminal.end().0.success());
}

/// A source whose first refresh panics.
struct Panicking;

impl Source for Panicking {
    fn document(&self) -> Document {
        Document::default()
    }

    fn refresh(&mut self) -> Result<bool, Failure> {
        panic!("on purpose")
    }
}

#[test]
#[ignore = "panics; `a_panic_restores_the_terminal` runs it in a terminal of its own"]
fn panics_on_purpose() {
    let _ = show(&mut Panicking, Duration::from_millis(50), None);
}

#[test]
fn a_panic_restores_the_terminal() {
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", "live::panics_on_purpose", "--ignored", "--nocapture"];
    let (status, written) = Terminal::run(this.to_str().unwrap(), &arguments).end();
    assert!(!status.success());
    assert_restored(&written);
    let (_, after) = written.split_once(RESTORED[0]).unwrap();
    assert!(after.contains("on purpose"), "the message is on the user's screen: {written:?}");
}
