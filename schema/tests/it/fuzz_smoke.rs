//! The checks of the fuzz targets of `tests/fuzz/`, on their corpus and on some thousand mutations of it that are
//! the same every time.

use crate::databases;
use std::fs;
use std::path::Path;

use rtl_schema::{Select, Trace};
use tempfile::TempDir;

const MUTATIONS: usize = 250;

/// Calls `check` with a file for every seed and its mutations.
fn replay(target: &str, check: impl Fn(&Path)) {
    for bytes in support::mutations(target, MUTATIONS) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("trace");
        fs::write(&path, bytes).unwrap();
        check(&path);
    }
}

/// A file is a trace, or an error of one line names it.
fn read_or_refuse(path: &Path) {
    if let Err(error) = Trace::open(path).and_then(|trace| trace.read(&Select::everything())) {
        assert_eq!(error.path(), path);
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[test]
fn any_bytes_open_as_a_trace_or_an_error() {
    replay("open", read_or_refuse);
}

#[test]
fn any_text_opens_as_a_trace_or_an_error() {
    replay("text", read_or_refuse);
}

#[test]
fn any_document_of_kineto_opens_as_a_trace_or_an_error() {
    replay("kineto", |path| {
        fs::write(path, support::choices::kineto(&fs::read(path).unwrap())).unwrap();
        read_or_refuse(path);
    });
}

#[test]
fn any_planes_of_xla_open_as_a_trace_or_an_error() {
    replay("xplane", |path| {
        fs::write(path, support::choices::xplane(&fs::read(path).unwrap())).unwrap();
        read_or_refuse(path);
    });
}

#[test]
fn any_export_of_nsys_opens_as_a_trace_or_an_error() {
    replay("nsys", |path| {
        let bytes = fs::read(path).unwrap();
        fs::remove_file(path).unwrap();
        support::choices::nsys(&bytes, path).unwrap();
        read_or_refuse(path);
    });
}

#[test]
fn damaged_databases_read_as_sqlite_reads_them() {
    replay("leaf", |path| _ = databases::assert_agreement(path));
}
