//! Every format, on a trace in which one kernel got slower.

use snapbox::{assert_data_eq, str};

use crate::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 100_000), ("void f<int>(a & b)", 40, 20_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 120_000), ("void f<int>(a & b)", 40, 20_000)]);
    folder
}

#[test]
fn text() {
    assert_data_eq!(folder().answer(1, "--gate a.db b.db"), str![[r#""#]]);
}

#[test]
fn markdown() {
    assert_data_eq!(folder().answer(1, "--gate a.db b.db --format markdown"), str![[r#""#]]);
}

#[test]
fn junit() {
    assert_data_eq!(folder().answer(1, "--gate a.db b.db --format junit"), str![[r#""#]]);
}

#[test]
fn github() {
    assert_data_eq!(folder().answer(1, "--gate a.db b.db --format github"), str![[r#""#]]);
}

#[test]
fn csv() {
    assert_data_eq!(folder().answer(0, "a.db b.db --format csv"), str![[r#""#]]);
}

#[test]
fn bencher() {
    assert_data_eq!(folder().answer(0, "a.db b.db --format bencher"), str![[r#""#]]);
}

#[test]
fn github_action_benchmark() {
    assert_data_eq!(folder().answer(0, "a.db b.db --format github-action-benchmark"), str![[r#""#]]);
}

#[test]
fn several_outputs_are_written_whether_the_gate_holds_or_not() {
    let folder = folder();
    folder.answer(1, "--gate a.db b.db -o markdown=comment.md -o json=diff.json -o junit=gate.xml");
    assert!(folder.read("comment.md").starts_with("<!-- rtl-diff -->\n"));
    let document: serde_json::Value = serde_json::from_str(&folder.read("diff.json")).unwrap();
    assert_eq!(document["schema"], "rtl-diff/1");
    assert!(folder.read("gate.xml").contains("<failure message=\"1 kernel regressed\">"));
}

#[test]
fn the_help_has_two_examples_and_shells_can_complete() {
    let folder = Folder::new();
    let help = folder.answer(0, "--help");
    let (_, examples) = help.split_once("Examples:\n").unwrap();
    assert_eq!(examples.lines().filter(|line| line.trim_start().starts_with("rtl-diff ")).count(), 2);
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.answer(0, &format!("--completions {shell}"));
        assert!(script.contains("rtl-diff") && script.contains("max-kernel"), "{shell}");
    }
}
