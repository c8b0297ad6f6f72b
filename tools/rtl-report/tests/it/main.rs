//! The program as its users meet it, and its pages in a browser.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod any_page;
mod figures;
mod fuzz_smoke;
mod hostile;
mod manners;
mod pictures;

use std::path::{Path, PathBuf};
use std::process::Command;

struct Run {
    code: i32,
    answer: String,
    messages: String,
}

fn run(folder: &Path, arguments: &[&str]) -> Run {
    let program = env!("CARGO_BIN_EXE_rtl-report");
    let mut command = Command::new(program);
    // Without a desktop `--open` prints the path.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").current_dir(folder).args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), answer: text(output.stdout), messages: text(output.stderr) }
}

/// The page of these traces.
fn page(folder: &Path, traces: &[PathBuf]) -> PathBuf {
    let page = folder.join("page.html");
    let mut arguments: Vec<&str> = traces.iter().map(|trace| trace.to_str().unwrap()).collect();
    arguments.extend(["--force", "--output", "page.html"]);
    let run = run(folder, &arguments);
    assert_eq!((run.code, run.messages.as_str()), (0, ""), "{}", run.messages);
    page
}
