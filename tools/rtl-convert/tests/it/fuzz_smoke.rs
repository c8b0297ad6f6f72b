//! The checks of the fuzz targets `convert` and `json`, on their corpus.

use std::fs;
use std::path::Path;

use support::choices;

use crate::any_trace::assert_converts;

fn replay(target: &str, check: impl Fn(&Path, &[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus").join(target);
    let seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty(), "no corpus for {target}");
    for seed in seeds {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("trace"), &fs::read(seed).unwrap());
    }
}

#[test]
fn any_trace_is_converted_to_files_that_can_be_read() {
    replay("convert", |path, bytes| {
        fs::write(path, bytes).unwrap();
        assert_converts(path);
    });
}

#[test]
fn any_document_of_rocprofv3_is_converted_to_files_that_can_be_read() {
    replay("json", |path, bytes| {
        fs::write(path, choices::rocprofv3(bytes)).unwrap();
        assert_converts(path);
    });
}

#[test]
fn bytes_choose_the_values_of_a_document() {
    let document: serde_json::Value = serde_json::from_str(&choices::rocprofv3(&[1, 2, 3])).unwrap();
    assert!(document["rocprofiler-sdk-tool"][0]["buffer_records"].is_object());
}
