//! A damaged run is an error of one line that names the file, and a hint.

use std::fs;
use std::path::{Path, PathBuf};

use support::Options;

use super::{add, generated, rtl};

const RUN: &str = "runs/job=default/run=one";

/// The folder has a data set of one run.
fn set() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { ops: 200, api: true, ranges: true, ..Options::default() };
    add(folder.path(), &generated(folder.path(), "a.db", &options), "one");
    folder
}

/// The report fails with one line about this file, and a hint.
fn assert_refused(folder: &Path, file: &str, words: &str) {
    let refused = rtl(folder, &["summary", "runs"]);
    let lines: Vec<&str> = refused.messages.lines().collect();
    let [error, hint] = lines[..] else { panic!("{}", refused.messages) };
    assert_eq!(refused.code, 3, "{error}");
    assert!(error.starts_with("rtl: error: ") && error.contains(words), "{error}");
    assert!(error.ends_with(&format!("{RUN}/{file}")), "{error}");
    assert!(hint.starts_with("hint: "), "{hint}");
}

fn dispatches(folder: &Path) -> PathBuf {
    folder.join(RUN).join("kind=dispatches/bucket=-1/part-0.parquet")
}

#[test]
fn a_missing_file_is_named() {
    let (table, facts) = (set(), set());
    fs::remove_file(dispatches(table.path())).unwrap();
    assert_refused(table.path(), "kind=dispatches", "0 of 1 files are there");
    fs::remove_dir_all(table.path().join(RUN).join("kind=dispatches")).unwrap();
    assert_refused(table.path(), "kind=dispatches", "the folder of a table is missing");
    fs::remove_file(facts.path().join(RUN).join("_trace.json")).unwrap();
    assert_refused(facts.path(), "_trace.json", "the file is missing");
}

#[test]
fn a_run_without_its_manifest_is_not_there() {
    let folder = set();
    fs::remove_file(folder.path().join(RUN).join("_manifest.json")).unwrap();
    let refused = rtl(folder.path(), &["summary", "runs"]);
    assert_eq!(refused.code, 3);
    assert!(
        refused.messages.starts_with("rtl: error: a data set without a complete run: runs\nhint: "),
        "{}",
        refused.messages
    );
}

#[test]
fn manifests_of_others_are_refused() {
    let folder = set();
    let manifest = folder.path().join(RUN).join("_manifest.json");
    for (text, words) in [
        ("{", "damaged run of a data set"),
        ("{}", "the manifest of another program's data set"),
        (r#"{"schema": "rtl-dataset/1"}"#, "damaged run of a data set"),
        (r#"{"schema": "rtl-dataset/2"}"#, "the newer layout rtl-dataset/2"),
    ] {
        fs::write(&manifest, text).unwrap();
        assert_refused(folder.path(), "_manifest.json", words);
    }
}

#[test]
fn a_run_in_the_layout_without_widths_is_called_older() {
    let folder = set();
    let manifest = folder.path().join(RUN).join("_manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let older: String = text.split_inclusive('\n').filter(|line| !line.contains("\"width\"")).collect();
    fs::write(&manifest, older.replace(",\n    }", "\n    }")).unwrap();
    assert_refused(folder.path(), "_manifest.json", "a run in an older layout (its tables have no width)");
}

#[test]
fn files_of_other_columns_are_refused() {
    let folder = set();
    let kernels = folder.path().join(RUN).join("kind=kernel_stats/bucket=-1");
    fs::copy(kernels.join("part-0.parquet"), dispatches(folder.path())).unwrap();
    let file = "kind=dispatches/bucket=-1/part-0.parquet";
    assert_refused(folder.path(), file, "a row without a start");
    fs::write(dispatches(folder.path()), "no Parquet").unwrap();
    assert_refused(folder.path(), file, "damaged run of a data set");
}

#[test]
fn a_folder_of_other_parquet_files_is_no_trace() {
    let folder = set();
    fs::create_dir(folder.path().join("tables")).unwrap();
    fs::copy(dispatches(folder.path()), folder.path().join("tables/part-0.parquet")).unwrap();
    for place in ["tables", "tables/part-0.parquet"] {
        let refused = rtl(folder.path(), &["summary", place]);
        assert_eq!((refused.code, refused.messages.lines().count()), (3, 2), "{}", refused.messages);
        assert!(refused.messages.contains(place), "{}", refused.messages);
    }
}

#[test]
fn a_damaged_file_is_refused_or_read_and_nothing_panics() {
    let folder = set();
    let place = dispatches(folder.path());
    let whole = fs::read(&place).unwrap();
    let is_refused = |content: &[u8]| {
        fs::write(&place, content).unwrap();
        let ran = rtl(folder.path(), &["summary", "runs"]);
        assert!([0, 3].contains(&ran.code), "{}: {}", ran.code, ran.messages);
        assert!(!ran.messages.contains("panicked"), "{}", ran.messages);
        assert!(ran.code == 0 || ran.messages.lines().count() == 2, "{}", ran.messages);
        ran.code == 3
    };
    for part in 0..8 {
        assert!(is_refused(&whole[..whole.len() * part / 8]), "{part} of 8");
    }
    let changed = |at: usize, bit: usize| {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (bit % 8);
        is_refused(&changed)
    };
    // Neither statistics of the footer, which are not read, nor pages have checksums: some damage is not found.
    let in_footer = (0..20).filter(|step| changed(whole.len() - 9 - step * 74, *step)).count();
    let before = (0..20).filter(|step| changed(step * whole.len() / 20, *step)).count();
    assert!(in_footer > 0 && before > 0, "{in_footer} and {before} of 20");
}
