//! The drawings of pages are the blessed ones, as letters for colours (`tests/browser/drawings.mjs`).
//! `SNAPSHOTS=overwrite` blesses the current ones; read the diff.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use support::browser::{Drawing, drawings};

use crate::run;

/// One letter of a drawing, and this many of 1,000, may differ: edges, which another version of the browser may smooth otherwise.
const TOLERANCE: usize = 5;

fn blessed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/pictures/{name}.txt"))
}

fn text(drawings: &[Drawing]) -> String {
    drawings.iter().fold(String::new(), |mut text, drawing| {
        writeln!(text, "{}\n  {}", drawing.label, drawing.rows.join("\n  ")).unwrap();
        text
    })
}

/// The drawings that [`text`] wrote.
fn parsed(text: &str) -> Vec<Drawing> {
    let mut drawings: Vec<Drawing> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("  "), drawings.last_mut()) {
            (Some(row), Some(drawing)) => drawing.rows.push(row.to_owned()),
            _ => drawings.push(Drawing { label: line.to_owned(), rows: Vec::new() }),
        }
    }
    drawings
}

fn is_alike(drawing: &Drawing, blessed: &Drawing) -> bool {
    let [now, then] = [drawing, blessed].map(|drawing| drawing.rows.concat());
    let differ = now.bytes().zip(then.bytes()).filter(|(now, then)| now != then).count();
    drawing.label == blessed.label
        && drawing.rows.iter().map(String::len).eq(blessed.rows.iter().map(String::len))
        && differ <= 1 + now.len() * TOLERANCE / 1000
}

/// Writes the page of each of these command lines, and compares its drawings with the blessed ones of that name.
fn assert_blessed(folder: &Path, pages: &[(&str, Vec<String>)]) {
    let page = |(name, arguments): &(&str, Vec<String>)| {
        let output = format!("{name}.html");
        let mut arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        arguments.extend(["--quiet", "-o", &output]);
        let run = run(folder, &arguments);
        assert_eq!((run.code, run.messages.as_str()), (0, ""), "{name}");
        folder.join(output)
    };
    let paths: Vec<PathBuf> = pages.iter().map(page).collect();
    let Some(seen) = drawings(&paths) else { return };
    for ((name, _), drawings) in pages.iter().zip(seen) {
        if std::env::var("SNAPSHOTS").is_ok_and(|what| what == "overwrite") {
            fs::write(blessed(name), text(&drawings)).unwrap();
        }
        let blessed = parsed(&fs::read_to_string(blessed(name)).unwrap());
        let labels =
            |drawings: &[Drawing]| drawings.iter().map(|drawing| drawing.label.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&drawings), labels(&blessed), "{name}");
        for (drawing, blessed) in drawings.iter().zip(&blessed) {
            assert!(
                is_alike(drawing, blessed),
                "{name}: now\n{}blessed\n{}",
                text(std::slice::from_ref(drawing)),
                text(std::slice::from_ref(blessed))
            );
        }
    }
}

#[test]
fn drawings_of_stories_are_the_blessed_ones() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = support::fixture("two-kernels");
    let job = support::Job { nodes: 1, ranks_per_node: 4, slow: Some((2, 1.3)), ..support::Job::default() };
    job.generate(folder.path()).unwrap();
    let ranks = (0..4).map(|rank| format!("rank{rank}.db")).collect();
    let pages = [("two-kernels", vec![fixture.to_str().unwrap().to_owned()]), ("job", ranks)];
    assert_blessed(folder.path(), &pages);
}

#[test]
fn drawings_of_real_traces_are_the_blessed_ones() {
    let Some(shared) = support::shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |trace: &str| shared.join(trace).to_str().unwrap().to_owned();
    let ranks = [0, 1, 2, 3].map(|rank| path(&format!("kineto/h200/gpt-dist_slowhost-rank{rank}.json.gz")));
    let h200 = |trace: &str| path(&format!("kineto/h200/gpt-{trace}.json.gz"));
    let pages = [
        ("vllm", vec![path("traces/real/rpd2-vllm-fp8.rpd.gz")]),
        ("qwen", vec![path("kineto/mi300-qwen.json.gz")]),
        ("slowhost", ranks.to_vec()),
        ("comparison", vec![h200("sync"), "--baseline".to_owned(), h200("healthy")]),
    ];
    assert_blessed(folder.path(), &pages);
}

#[test]
fn a_drawing_that_lacks_a_part_is_not_the_blessed_one() {
    let drawing = |row: &str| Drawing { label: "a".to_owned(), rows: vec![row.to_owned(); 2] };
    let whole = drawing(&"00001111".repeat(9));
    let edge =
        Drawing { rows: vec![whole.rows[0].clone(), whole.rows[0].replacen("01", "00", 1)], ..whole.clone() };
    assert!(is_alike(&whole, &whole) && is_alike(&edge, &whole));
    let lacking =
        Drawing { rows: vec![whole.rows[0].clone(), whole.rows[0].replacen("11", "..", 1)], ..whole.clone() };
    assert!(!is_alike(&lacking, &whole) && !is_alike(&drawing("0000"), &whole));
    assert_eq!(parsed(&text(&[whole.clone(), edge.clone()])), [whole, edge]);
}
