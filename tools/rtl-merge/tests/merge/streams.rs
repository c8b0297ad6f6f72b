//! Inputs and outputs that are no regular files.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::{Command, Output};

use support::Job;

use crate::Folder;

fn folder() -> Folder {
    Folder::of(&Job { nodes: 1, ranks_per_node: 2, steps: 5, kernels: 30, api: true, ..Job::default() })
}

fn shell(folder: &Folder, script: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.0.path()).env("RTL", env!("CARGO_BIN_EXE_rtl-merge"));
    shell.output().unwrap()
}

#[test]
fn pipes_are_merged_as_their_content_is() {
    let folder = folder();
    folder.merge("-o expected.db rank0.db rank1.db");
    let expected = folder.tables("expected.db");
    for (at, inputs) in
        ["rank0.db - < <(cat rank1.db)", "<(cat rank0.db) <(gzip -c rank1.db)"].into_iter().enumerate()
    {
        let output = shell(&folder, &format!("$RTL --quiet -o out{at}.db {inputs}"));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let tables = folder.tables(&format!("out{at}.db"));
        assert_eq!(tables.dispatches.len(), expected.dispatches.len(), "{inputs}");
        assert_eq!(tables.api_calls.len(), expected.api_calls.len(), "{inputs}");
    }
}

#[test]
fn a_merged_trace_replaces_neither_a_fifo_nor_standard_output() {
    let folder = folder();
    for force in ["", "--force"] {
        for output in ["fifo", "/dev/stdout"] {
            let script = format!("mkfifo fifo 2>&-; $RTL {force} -o {output} rank0.db rank1.db > file");
            let run = shell(&folder, &script);
            assert_eq!(run.status.code(), Some(2));
            let messages = String::from_utf8(run.stderr).unwrap();
            assert!(messages.contains(&format!("{output} is not a regular file\nhint:")), "{messages}");
            assert!(fs::symlink_metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
        }
    }
    assert_eq!(folder.files(), ["fifo", "file", "rank0.db", "rank1.db"]);
}

#[test]
fn a_summary_is_written_through_a_fifo() {
    let folder = folder();
    let script = "mkfifo fifo; cat fifo > got & $RTL --quiet --to summary -o fifo rank0.db rank1.db; wait";
    let output = shell(&folder, script);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let got: serde_json::Value = serde_json::from_slice(&fs::read(folder.path("got")).unwrap()).unwrap();
    assert_eq!(got["schema"], "rtl-summary/1");
    assert!(fs::symlink_metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
}
