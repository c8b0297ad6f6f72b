//! Inputs that are no traces, and command lines that make no sense.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use support::Layout;
use support::rusqlite::Connection;

use crate::Folder;

/// `file` is refused with one line that names it and one hint.
#[track_caller]
fn refused(folder: &Folder, file: &str, reason: &str) {
    let run = folder.run(file);
    assert_eq!((run.code, run.answer.as_str()), (3, ""), "{file}: {}", run.messages);
    let lines: Vec<&str> = run.messages.lines().collect();
    let [error, hint] = lines[..] else { panic!("{file}: {}", run.messages) };
    assert!(error.starts_with("rtl-summary: error: "), "{error}");
    assert!(error.contains(file), "the file is named: {error}");
    assert!(error.contains(reason), "{error}");
    assert!(hint.starts_with("hint: ") && hint.len() > 10, "{hint}");
}

fn sql(path: &Path, statements: &str) {
    Connection::open(path).unwrap().execute_batch(statements).unwrap();
}

#[test]
fn a_missing_file() {
    refused(&Folder::new(), "nothing.db", "no such file");
}

#[test]
fn a_folder() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("traces")).unwrap();
    refused(&folder, "traces", "a folder, not a trace");
}

#[test]
fn an_empty_file() {
    let folder = Folder::new();
    folder.file("empty.db", "");
    refused(&folder, "empty.db", "the file is empty");
}

#[test]
fn a_text() {
    let folder = Folder::new();
    folder.file("notes.db", "The quick brown fox jumps over the lazy dog.\n");
    refused(&folder, "notes.db", "not a trace");
}

#[test]
fn a_binary() {
    let folder = Folder::new();
    folder.file("program.db", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    refused(&folder, "program.db", "an ELF file");
}

#[test]
fn a_database_of_something_else() {
    let folder = Folder::new();
    sql(&folder.path("shop.db"), "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT)");
    refused(&folder, "shop.db", "customers");
}

#[test]
fn json_of_something_else() {
    let folder = Folder::new();
    folder.file("package.json", r#"{"name": "x", "version": "1.0.0"}"#);
    refused(&folder, "package.json", "JSON without a trace");
}

#[test]
fn broken_json() {
    let folder = Folder::new();
    folder.file("trace.json", r#"{"rocprofiler-sdk-tool": [{"metadata": {"#);
    refused(&folder, "trace.json", "damaged or cut off");
}

#[test]
fn json_that_is_broken_before_its_end() {
    let folder = Folder::new();
    let size = |value: &str| {
        format!(r#"{{"rocprofiler-sdk-tool": [{{"agents": [{{"size": {value}, "type": 2}}]}}]}}"#)
    };
    for (value, fault) in [
        ("NaN", "broken JSON (expected value at line 1 column 48)"),
        ("1,,", "broken JSON (key must be a string at line 1 column 50)"),
        (&"[".repeat(200), "broken JSON (recursion limit exceeded at line 1 column"),
    ] {
        folder.file("trace.json", size(value));
        refused(&folder, "trace.json", fault);
    }
    folder.file("events.json", r#"{"traceEvents": [{"name": "gpu", "ph": "X"}], x"#);
    refused(&folder, "events.json", "Chrome's trace format without events");
    folder.file("events.json", r#"{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [@"#);
    refused(&folder, "events.json", "broken JSON (no event before byte");
}

#[test]
fn a_database_that_was_cut_off() {
    let folder = Folder::new();
    let whole = std::fs::read(support::fixture("steady-training-loop")).unwrap();
    folder.file("cut.db", &whole[..whole.len() / 2]);
    refused(&folder, "cut.db", "damaged or cut off");
}

#[test]
fn a_compressed_file_that_was_cut_off() {
    let folder = Folder::new();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&std::fs::read(support::fixture("two-kernels")).unwrap()).unwrap();
    let whole = gzip.finish().unwrap();
    folder.file("cut.db.gz", &whole[..whole.len() / 2]);
    refused(&folder, "cut.db.gz", "damaged or cut off");
}

#[test]
fn a_schema_that_is_newer_than_this_program() {
    let folder = Folder::of(&["two-kernels"]);
    sql(
        &folder.path("two-kernels.db"),
        "UPDATE rocpd_metadata SET value = '99' WHERE tag = 'rtl_schema';
         UPDATE rocpd_metadata SET value = 'rtl-99' WHERE tag = 'schema_version'",
    );
    refused(&folder, "two-kernels.db", "newer");
    folder.story("two-kernels", Layout::Rpd3, "new.rpd");
    sql(&folder.path("new.rpd"), "UPDATE rocpd_metadata SET value = '9' WHERE tag = 'schema_version'");
    refused(&folder, "new.rpd", "newer");
}

#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::of(&["two-kernels"]);
    let path = folder.path("two-kernels.db");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        return support::skip(support::Need::Machine, "root, who may read everything");
    }
    refused(&folder, "two-kernels.db", "cannot read");
}

/// `line` is refused as a usage error in one line and a hint.
#[track_caller]
fn misused(line: &str, reason: &str) {
    let run = Folder::of(&["two-kernels"]).run(line);
    assert_eq!((run.code, run.answer.as_str()), (2, ""), "{line}: {}", run.messages);
    let lines: Vec<&str> = run.messages.lines().collect();
    let [error, hint] = lines[..] else { panic!("{line}: {}", run.messages) };
    assert!(error.starts_with("rtl-summary: error: ") && error.contains(reason), "{error}");
    assert!(hint.starts_with("hint: "), "{hint}");
}

#[test]
fn command_lines_that_make_no_sense() {
    misused("", "missing: <TRACE>");
    misused("two-kernels.db --by colour", "invalid value 'colour' for '--by <KEY>'");
    misused("two-kernels.db --sort size", "invalid value 'size' for '--sort <KEY>'");
    misused("two-kernels.db --section everything", "invalid value 'everything'");
    misused("two-kernels.db --top many", "expected a number or `all`");
    misused("two-kernels.db --topp 3", "unexpected argument '--topp'");
    misused("two-kernels.db --to xml", "invalid value 'xml'");
    misused("two-kernels.db --kernel gemm(", "--kernel: invalid regular expression");
    misused("two-kernels.db --time noon..", "--time: not a moment: noon");
    misused("two-kernels.db --rank -1", "");
    misused("two-kernels.db --info --section gpus", "--info");
    misused("two-kernels.db --to csv --section gpus,gaps", "csv holds one table");
    misused("two-kernels.db --to csv --section sanity", "this section has no table");
}

#[test]
fn rules_that_are_none() {
    let folder = Folder::of(&["two-kernels"]);
    folder.file("rules.toml", "[[rule]]\ncategory = \"x\"\nmatch = \"(\"\n");
    let run = folder.run("two-kernels.db --categories rules.toml");
    assert_eq!((run.code, run.messages.lines().count()), (2, 2), "{}", run.messages);
    let run = folder.run("two-kernels.db --categories none.toml");
    assert_eq!((run.code, run.messages.lines().count()), (3, 2), "{}", run.messages);
}

#[test]
fn strict_refuses_rows_that_cannot_be_right() {
    let folder = Folder::of(&["bad-rows", "two-kernels", "overlap-two-queues"]);
    let run = folder.run("bad-rows.db --strict --section sanity");
    assert_eq!(run.code, 3);
    assert!(run.answer.contains("Sanity\n"), "the findings are shown all the same: {}", run.answer);
    assert!(run.messages.starts_with("rtl-summary: error: not sound: bad-rows.db: "), "{}", run.messages);
    assert_eq!(run.messages.lines().count(), 2, "{}", run.messages);
    assert_eq!(folder.run("two-kernels.db --strict").code, 0);
    let notes = folder.run("overlap-two-queues.db --strict");
    assert_eq!((notes.code, notes.messages.as_str()), (0, ""), "an overlap is a note");
}
