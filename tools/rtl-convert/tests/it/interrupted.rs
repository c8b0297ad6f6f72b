//! A conversion that is stopped in the middle of its output.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use support::{Layout, Options, generate};

use crate::rocprofv3::Folder;

/// A folder with a trace that takes seconds to convert.
fn folder() -> Folder {
    let folder = Folder::new();
    let options = Options { layout: Layout::Native, ops: 100_000, ..Options::default() };
    generate(&options, &folder.path("in.db")).unwrap();
    folder
}

fn start(folder: &Folder) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    command.args(["--quiet", "in.db", "-o", "out.json"]).current_dir(folder.path(""));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Starts a conversion and sends it the signal as soon as it has begun to write.
fn interrupted(folder: &Folder, signal: &str) -> ExitStatus {
    let mut child = start(folder);
    let until = Instant::now() + Duration::from_secs(60);
    while folder.files() == ["in.db"] && Instant::now() < until {
        assert_eq!(child.try_wait().unwrap(), None, "it has ended before it wrote");
        sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap()
}

#[test]
fn after_ctrl_c_there_is_nothing_but_the_input() {
    let folder = folder();
    for signal in ["-INT", "-TERM"] {
        assert!(!interrupted(&folder, signal).success());
        assert_eq!(folder.files(), ["in.db"], "{signal}");
    }
}

#[test]
fn what_a_killed_conversion_leaves_is_removed_by_the_next_one() {
    let folder = folder();
    assert!(!interrupted(&folder, "-KILL").success());
    let left = folder.files();
    assert!(left.len() == 2 && left.iter().any(|file| file.starts_with('.')), "{left:?}");
    folder.answer("--quiet in.db -o out.json");
    assert_eq!(folder.files(), ["in.db", "out.json"]);
}
