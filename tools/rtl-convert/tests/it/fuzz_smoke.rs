//! The checks of the fuzz targets `convert`, `json`, `manifest` and `parquet`, on their corpus.

use std::fs;
use std::path::Path;

use support::choices;

use crate::any_trace::assert_converts;

fn replay(target: &str, check: impl Fn(&Path, &[u8])) {
    for seed in support::seeds(target) {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("trace"), &seed);
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

#[cfg(feature = "columns")]
#[test]
fn any_file_of_a_data_set_is_read_or_refused() {
    use crate::any_run::AnyRun;
    let run = AnyRun::new();
    let [texts, tables] = run.seeds();
    assert!(tables.len() >= 8, "{} tables", tables.len());
    texts.iter().for_each(|(name, seed)| assert!(run.assert_text(seed), "{name}"));
    tables.iter().for_each(|(name, seed)| assert!(run.assert_table(seed), "{name}"));
    if std::env::var_os("SNAPSHOTS").is_some_and(|value| value == "overwrite") {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus");
        for (target, seeds) in [("manifest", texts), ("parquet", tables)] {
            for (name, seed) in seeds {
                fs::create_dir_all(corpus.join(target)).unwrap();
                fs::write(corpus.join(target).join(name), seed).unwrap();
            }
        }
    }
    for bytes in support::mutations("manifest", 60) {
        run.assert_text(&bytes);
    }
    for bytes in support::mutations("parquet", 30) {
        run.assert_table(&bytes);
    }
}
