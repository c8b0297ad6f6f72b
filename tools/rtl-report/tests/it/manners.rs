//! Files that the program writes or refuses to write, and its errors.

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

#[test]
fn ranks_without_a_common_clock_are_said_to_have_none() {
    for (nodes, is_said) in [(1, false), (2, true)] {
        let folder = tempfile::tempdir().unwrap();
        let job = support::Job { nodes, ranks_per_node: 2, ..support::Job::default() };
        job.generate(folder.path()).unwrap();
        let ranks: Vec<String> = (0..2 * nodes).map(|rank| format!("rank{rank}.db")).collect();
        let run = run(folder.path(), &ranks.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(run.code, 0, "{}", run.messages);
        let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert_eq!(page.contains("The clocks of the ranks are not aligned"), is_said, "{nodes} nodes");
    }
}

#[test]
fn the_page_of_many_ranks_shows_a_part_of_them_and_sums_that_are_those_of_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    // More ranks than a table shows.
    let nodes = support::many().max(320) / 8;
    let job = support::Job { nodes, ranks_per_node: 8, steps: 12, kernels: 3, ..support::Job::default() };
    let files = job.generate(folder.path()).unwrap();
    let page = fs::read_to_string(crate::page(folder.path(), &files)).unwrap();
    let table = |id: &str| {
        let begin = format!("<table id=\"{id}\">");
        page.split(&begin).nth(1).unwrap().split("</table>").next().unwrap()
    };
    for (name, (calls, total_ns)) in support::kernel_sums(&files).unwrap() {
        let row = table("kernels").split("<tr>").find(|row| row.contains(&name)).unwrap();
        for value in [calls, total_ns] {
            assert!(row.contains(&format!("data-v=\"{value}\"")), "{name}: {value} is not in {row}");
        }
    }
    for id in ["ranks", "gpus"] {
        let (_, body) = table(id).split_once("<tbody>").unwrap();
        assert_eq!(body.matches("<tr>").count(), 256, "{id}");
    }
    assert!(page.contains(&format!("The first 256 of {} rows", cli::units::count(files.len() as u64))));
    assert!(page.len() < 500_000 + files.len() * 5_000, "{} bytes", page.len());
}

#[test]
fn a_baseline_that_cannot_be_compared_is_an_error_that_the_page_shows() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(support::fixture("two-kernels"), folder.path().join("after.db")).unwrap();
    fs::copy(support::database("", support::Layout::Native).unwrap(), folder.path().join("before.db"))
        .unwrap();
    let run = run(folder.path(), &["after.db", "--baseline", "before.db"]);
    assert_eq!(run.code, 3, "{}", run.messages);
    assert!(run.messages.starts_with("rtl-report: error: cannot compare: "), "{}", run.messages);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("badge bad\">not comparable</a>"));
    let missing = crate::run(folder.path(), &["after.db", "--force", "--baseline", "missing.db"]);
    assert_eq!(missing.code, 3);
    assert!(
        missing.messages.starts_with("rtl-report: error: no such file: missing.db\n"),
        "{}",
        missing.messages
    );
}
