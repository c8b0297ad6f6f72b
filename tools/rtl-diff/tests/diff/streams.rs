//! Inputs and outputs that are no regular files.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::process::{Command, Output};

use crate::{Folder, STEADY};

fn shell(folder: &Folder, script: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-c", script]).current_dir(folder.0.path()).env("RTL", env!("CARGO_BIN_EXE_rtl-diff"));
    shell.output().unwrap()
}

#[test]
fn pipes_are_compared_as_their_content_is() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    let kernels = |output: Output| {
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["kernels"].clone()
    };
    let expected = kernels(shell(&folder, "$RTL a.db b.db --to json"));
    assert!(expected.is_array());
    for script in [
        "cat b.db | $RTL a.db - --to json",
        "$RTL <(cat a.db) <(cat b.db) --to json",
        "mkfifo f; cat a.db > f & $RTL f <(gzip -c b.db) --to json",
    ] {
        assert_eq!(kernels(shell(&folder, script)), expected, "{script}");
    }
}

#[test]
fn a_report_for_standard_output_is_its_only_document_and_leaves_its_place_to_others() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    for script in
        ["{ echo before; COMMAND; echo after; } > got", "{ echo before; COMMAND; echo after; } | cat > got"]
    {
        shell(&folder, &script.replace("COMMAND", "$RTL --quiet a.db b.db --to json -o /dev/stdout"));
        let got = fs::read_to_string(folder.path("got")).unwrap();
        let document =
            got.strip_prefix("before\n").and_then(|got| got.strip_suffix("after\n")).unwrap_or(&got);
        let report: serde_json::Value = serde_json::from_str(document).unwrap();
        assert!(report["kernels"].is_array(), "{script}");
    }
}

#[test]
fn reports_are_written_through_fifos_and_standard_output() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    for script in [
        "mkfifo fifo; cat fifo > got & $RTL --quiet a.db b.db --to json -o fifo > /dev/null; wait",
        "$RTL --quiet a.db b.db --to json -o /dev/fd/3 3>&1 > /dev/null | cat > got",
    ] {
        let output = shell(&folder, script);
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let got: serde_json::Value = serde_json::from_slice(&fs::read(folder.path("got")).unwrap()).unwrap();
        assert!(got["kernels"].is_array(), "{script}");
    }
    assert!(fs::symlink_metadata(folder.path("fifo")).unwrap().file_type().is_fifo());
}
