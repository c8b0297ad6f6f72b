//! Mistakes that users make: each is answered by one line that names the failure, the file and the reason, and by a hint.

mod list;

use std::path::Path;
use std::process::Command;

use support::{Layout, Need, fixture_in, skip};

use self::list::{FLAGS, INPUTS, OUTPUTS, SELECTIONS};

#[test]
fn every_mistake_is_answered_by_an_error_and_a_hint() {
    let program = Path::new(env!("CARGO_BIN_EXE_rtl"));
    let tools = ["summary", "diff", "convert", "merge", "trace"].map(|verb| format!("rtl-{verb}"));
    if !tools.iter().all(|tool| program.with_file_name(tool).exists()) {
        return skip(Need::Build, "not everything is built (cargo build --workspace)");
    }
    let folder = tempfile::tempdir().unwrap();
    write_inputs(folder.path());
    let mut faults = Vec::new();
    let mistakes = INPUTS.iter().chain(&FLAGS).chain(&SELECTIONS).chain(&OUTPUTS);
    for (line, code, error, hint) in mistakes {
        let (tool, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let mut command = Command::new(program.with_file_name(tool));
        command.args(arguments.split_whitespace()).current_dir(folder.path());
        let output = command.env("RTL_LIB", folder.path().join("librtl.so")).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        let mut lines = messages.lines();
        let [first, second] = [lines.next().unwrap_or_default(), lines.next().unwrap_or_default()];
        let is_answered = output.status.code() == Some(*code)
            && first.starts_with(&format!("{tool}: error: "))
            && first.contains(error)
            && second.strip_prefix("hint: ").is_some_and(|text| text.contains(hint))
            && lines.next().is_none()
            && output.stdout.is_empty()
            // No name of a temporary file, and no line that was drawn for another purpose.
            && !messages.contains("/.rtl-")
            && !messages.contains('␊');
        if !is_answered {
            faults.push(format!("{line}: {:?}: {messages}", output.status.code()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn write_inputs(folder: &Path) {
    for (story, file) in [
        ("two-kernels", "one.db"),
        ("overlap-two-queues", "two.db"),
        ("eight-gpus", "eight.db"),
        ("ranges-nested", "ranges.db"),
    ] {
        std::fs::copy(fixture_in(story, Layout::Native), folder.join(file)).unwrap();
    }
    let whole = std::fs::read(folder.join("one.db")).unwrap();
    let report = Command::new(Path::new(env!("CARGO_BIN_EXE_rtl")).with_file_name("rtl-summary"))
        .args(["--to", "json"])
        .arg(folder.join("one.db"))
        .output()
        .unwrap();
    // An empty deflate stream that lacks its end.
    let gzip = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b];
    let files: [(&str, &[u8]); 15] = [
        ("empty.db", b""),
        ("notes.db", b"The quick brown fox jumps over the lazy dog.\n"),
        ("program.db", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"),
        ("trace.zip", b"PK\x03\x04\0\0\0\0"),
        ("trace.zst", b"\x28\xb5\x2f\xfd\0\0\0\0"),
        ("one.db-wal", b"\x37\x7f\x06\x82\0\0\0\0"),
        ("package.json", b"{\"name\": \"x\", \"version\": \"1.0.0\"}"),
        ("report.json", &report.stdout),
        ("cut.db", &whole[..whole.len() / 2]),
        ("cut.db.gz", &gzip),
        ("cut.json", b"{\"rocprofiler-sdk-tool\": [{\"metadata\": {\""),
        ("train.py", b"print()"),
        ("rules.toml", b"[[rule]]\ncategory = \"x\"\nmatch = \"(\"\n"),
        ("librtl.so", b"a library"),
        ("traces/readme", b"no trace"),
    ];
    std::fs::create_dir(folder.join("traces")).unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}
