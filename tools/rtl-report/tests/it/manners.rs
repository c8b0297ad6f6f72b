//! Outputs and errors.

use std::fs;

use crate::run;

#[test]
fn the_page_is_report_html_and_an_existing_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(support::fixture("two-kernels"), folder.path().join("t.db")).unwrap();
    let first = run(folder.path(), &["t.db", "--open"]);
    assert_eq!((first.code, first.answer.as_str(), first.messages.as_str()), (0, "report.html\n", ""));
    let again = run(folder.path(), &["t.db"]);
    assert_eq!(again.code, 2);
    assert_eq!(again.messages, "rtl-report: error: report.html exists\nhint: --force replaces it\n");
    assert_eq!(run(folder.path(), &["t.db", "--force"]).code, 0);
}

#[test]
fn a_trace_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(support::fixture("two-kernels"), folder.path().join("t.db")).unwrap();
    let before = fs::read(folder.path().join("t.db")).unwrap();
    assert_eq!(run(folder.path(), &["t.db", "--force", "-o", "t.db"]).code, 2);
    assert_eq!(fs::read(folder.path().join("t.db")).unwrap(), before);
}

#[test]
fn a_trace_that_cannot_be_read_leaves_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let missing = run(folder.path(), &["missing.db"]);
    assert_eq!(missing.code, 3);
    assert!(missing.messages.starts_with("rtl-report: error: no such file: missing.db\nhint: "));
    assert!(!folder.path().join("report.html").exists());
}

#[test]
fn of_several_traces_those_that_can_be_read_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(support::fixture("two-kernels"), folder.path().join("t.db")).unwrap();
    let run = run(folder.path(), &["t.db", "missing.db"]);
    assert_eq!(run.code, 3);
    assert!(run.messages.contains("no such file: missing.db"), "{}", run.messages);
    assert!(folder.path().join("report.html").exists());
}

#[test]
fn a_trace_without_ops_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let trace = support::database("", support::Layout::Native).unwrap();
    let run = run(folder.path(), &[trace.to_str().unwrap()]);
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().contains("Verdict"));
}
