//! A trace is recognised by content, never by name, and any other file gives one clear line.

use std::io::Write;

use crate::fixture::{LITE, RPD2, RPD3, database};
use rtl_schema::{Dialect, Error, Select, Trace};
use tempfile::{NamedTempFile, TempDir};

fn dialect(sql: &str) -> Dialect {
    Trace::open(database(sql).path()).expect("a trace").dialect()
}

fn refused(sql: &str) -> Error {
    Trace::open(database(sql).path()).expect_err("no trace")
}

fn holding(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("its content");
    file
}

fn refused_bytes(bytes: &[u8]) -> Error {
    Trace::open(holding(bytes).path()).expect_err("no trace")
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("gzip");
    encoder.finish().expect("gzip")
}

const VERSION: &str = "insert into rocpd_metadata (tag, value) values ('schema_version', ";

#[test]
fn each_layout_is_known_by_its_tables() {
    assert_eq!(dialect(LITE), Dialect::Lite);
    assert_eq!(dialect(RPD3), Dialect::Rpd3);
    assert_eq!(dialect(&format!("{RPD2}{VERSION}'2')")), Dialect::Rpd2);
}

#[test]
fn rpd_without_a_version_is_rpd_all_the_same() {
    assert_eq!(dialect(RPD2), Dialect::Rpd2);
    assert_eq!(dialect(&format!("{RPD3} delete from rocpd_metadata;")), Dialect::Rpd3);
}

#[test]
fn rpd_2_that_calls_itself_3_is_read_by_its_columns() {
    assert_eq!(dialect(&format!("{RPD2}{VERSION}'3')")), Dialect::Rpd2);
}

#[test]
fn rocprofv3_states_version_3_too_and_is_not_rpd() {
    let tables = "create table rocpd_metadata (id integer primary key, guid text, tag text, value text);
        create table rocpd_string (id integer primary key, guid text, string text);
        create table rocpd_kernel_dispatch (id integer primary key, guid text);
        insert into rocpd_metadata values (1, 'g', 'schema_version', '3');";
    let file = database(tables);
    assert!(!matches!(
        Trace::open(file.path()).map(|trace| trace.dialect()),
        Ok(Dialect::Rpd2 | Dialect::Rpd3 | Dialect::Lite | Dialect::Native)
    ));
}

#[test]
fn our_own_files_say_so_whatever_else_they_look_like() {
    let native = format!(
        "{LITE} insert into rocpd_metadata values (1, 'rtl_schema', '1'), (2, 'schema_version', 'rtl-1');"
    );
    assert_eq!(dialect(&native), Dialect::Native);
}

#[test]
fn a_newer_schema_is_refused_with_the_newest_that_is_known() {
    let error = refused(&format!("{RPD3} delete from rocpd_metadata; {VERSION}'4')"));
    assert!(
        matches!(&error, Error::TooNew { dialect: "RPD", version, known: "3", .. } if version == "4"),
        "{error}"
    );
    assert!(
        error.to_string().starts_with("RPD schema 4 is newer than 3, the newest that rtl knows: "),
        "{error}"
    );
    let error = refused(&format!("{LITE} insert into rocpd_metadata values (1, 'rtl_schema', '2');"));
    assert!(
        matches!(&error, Error::TooNew { dialect: "rtl", version, known: "1", .. } if version == "2"),
        "{error}"
    );
    assert_eq!(error.hint(), "update rtl");
}

#[test]
fn the_name_of_the_file_does_not_matter() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("results.json");
    std::fs::copy(database(LITE).path(), &path).expect("a copy");
    assert_eq!(Trace::open(&path).expect("a trace").dialect(), Dialect::Lite);
}

#[test]
fn gzip_is_looked_through() {
    let rows = "insert into rocpd_string values (1, 'gemm'), (2, 'KernelExecution');
        insert into rocpd_op values (1, 0, 0, 0, null, 10, 30, 1, 2, 0);";
    let plain = std::fs::read(database(&format!("{LITE}{rows}")).path()).expect("the bytes");
    let trace = Trace::open(holding(&compressed(&plain)).path()).expect("a trace");
    assert_eq!(trace.dialect(), Dialect::Lite);
    assert_eq!(trace.read(&Select::everything()).expect("its rows").dispatches.len(), 1);
}

#[test]
fn bytes_behind_a_gzip_file_are_ignored_and_said() {
    let plain = std::fs::read(database(LITE).path()).expect("the bytes");
    for (behind, is_said) in [("", false), ("-- signature --", true)] {
        let bytes = [compressed(&plain), behind.into()].concat();
        let trace = Trace::open(holding(&bytes).path()).expect("a trace");
        assert_eq!(trace.read(&Select::everything()).expect("its rows").info.trailing_bytes, is_said);
    }
}

#[test]
fn a_gzip_file_that_is_cut_off_is_damaged() {
    let plain = std::fs::read(database(LITE).path()).expect("the bytes");
    let bytes = compressed(&plain);
    let error = refused_bytes(&bytes[..bytes.len() / 2]);
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    assert!(matches!(refused_bytes(&compressed(b"")), Error::Empty { .. }));
}

#[test]
fn what_is_no_file_with_content_says_so() {
    let folder = TempDir::new().expect("a folder");
    let missing = Trace::open(folder.path().join("absent.db")).expect_err("no trace");
    assert!(matches!(missing, Error::Missing { .. }), "{missing}");
    assert!(missing.to_string().ends_with("absent.db"), "{missing}");
    assert!(matches!(Trace::open(folder.path()), Err(Error::Folder { .. })));
    assert!(matches!(refused_bytes(b""), Error::Empty { .. }));
}

#[test]
fn a_database_of_something_else_is_named_by_its_tables() {
    let error = refused("create table users (id integer); create table orders (id integer);");
    assert!(
        error.to_string().starts_with("a SQLite database with orders, users, but no trace that rtl knows: "),
        "{error}"
    );
    let many = refused(
        "create table a (x); create table b (x); create table c (x); create table d (x); create table e (x);",
    );
    assert!(many.to_string().starts_with("a SQLite database with a, b, c and 2 more, but"), "{many}");
    let none = refused("create table a (x); drop table a;");
    assert!(none.to_string().starts_with("a SQLite database without tables, but"), "{none}");
    assert!(none.is_without_content() && !many.is_without_content(), "{none:?}");
}

#[test]
fn tables_that_only_borrow_a_name_are_no_trace() {
    let error = refused("create table rocpd_op (id integer primary key, note text);");
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
}

#[test]
fn text_and_bytes_of_other_tools_are_refused() {
    for (bytes, says) in [
        (b"Name,Calls\nk,1\n".as_slice(), "neither SQLite nor JSON"),
        (b"\x0a\x05\x00\x01\x02", "binary, not SQLite"),
        (b"\x37\x7f\x06\x82\x00\x2d\xe2\x18", "the -wal of a SQLite database"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed by zstd"),
    ] {
        let error = refused_bytes(bytes);
        assert!(matches!(error, Error::NotATrace { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.hint().contains("rocprofv3"), "{}", error.hint());
    }
}

#[test]
fn a_file_of_a_known_format_is_called_by_its_name() {
    let tar = [vec![b'a'; 257], b"ustar\0".to_vec()].concat();
    for (bytes, name, hint) in [
        (
            b"{\"traceEvents\": [{\"ph\": \"X\"}]}".as_slice(),
            "Chrome's trace format without events",
            "torch.profiler",
        ),
        (
            b"[{\"name\": \"aten::slice\", \"ph\": \"X\", \"ts\": 1, \"pid\": \"CPU functions\"}]",
            "a profile of the old torch.autograd.profiler",
            "record with torch.profiler",
        ),
        (b"  [1, 2]", "JSON without a trace", "rocprofv3"),
        (b"\x80\x04\x95..\x8c\x08segments\x94", "a PyTorch memory snapshot (pickle)", "export_chrome_trace"),
        (b"\x80\x02}q\x00.", "a Python pickle", "name a trace"),
        (b"PERFILE2\x68\0\0\0", "a recording of perf", "rtl trace"),
        (b"{\"nodes\":[{\"id\":1,\"callFrame\":{}}]}", "a Chrome CPU profile (.cpuprofile)", "samples"),
        (b"\x7fELF\x02\x01\x01\0", "an ELF file", "rtl trace -- PROGRAM"),
        (b"PAR1\x15\x04\x15", "a Parquet file", "DuckDB"),
        (b"\x0a\x03\x50\x01\x01\x0a\x02\x40\x01", "a Perfetto trace (.pftrace)", "ui.perfetto.dev"),
        (b"name,start_ns,duration_ns\nk,1,2\n", "a table that rtl-convert has written (CSV)", "made from"),
        (
            b"\"Name\",\"Calls\",\"TotalDurationNs\"\n",
            "statistics of rocprofv3 or rocprof",
            "kernel_trace.csv",
        ),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer", "git lfs pull"),
        (b"\n<!DOCTYPE HTML><title>404</title>", "an HTML page", "fetch the file again"),
        (b"{\"schema\": \"rtl-summary/1\"}", "a report of rtl-summary (JSON)", "rtl-diff"),
        (&tar, "a tar archive", "unpack"),
    ] {
        let error = refused_bytes(bytes);
        assert!(matches!(error, Error::Unread { .. }), "{error}");
        assert!(error.to_string().starts_with(name), "{error}");
        assert!(error.to_string().contains(", which rtl does not read: "), "{error}");
        assert!(error.hint().contains(hint), "{name}: {}", error.hint());
    }
}

#[test]
fn a_folder_of_our_own_tables_says_so() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("ops.parquet"), "PAR1").expect("a table");
    let error = Trace::open(folder.path()).expect_err("no trace");
    assert!(error.to_string().starts_with("a folder of tables that rtl-convert has written"), "{error}");
}

#[test]
fn a_database_that_is_cut_off_never_panics() {
    let rows: String = (1..4000)
        .map(|id| format!("insert into rocpd_string values ({id}, 'kernel number {id}');"))
        .collect();
    let bytes = std::fs::read(database(&format!("{LITE}{rows}")).path()).expect("the bytes");
    for length in [5, 16, 60, 99, 100, 2000, 4096, 8192, bytes.len() / 2, bytes.len() - 4096] {
        let file = holding(&bytes[..length]);
        let outcome = Trace::open(file.path()).and_then(|trace| trace.read(&Select::everything()));
        let error = outcome.expect_err("a damaged database");
        assert!(
            matches!(error, Error::Damaged { .. } | Error::Sqlite { .. } | Error::Foreign { .. }),
            "{length} bytes: {error}"
        );
    }
}

#[test]
fn the_reference_lists_every_dialect() {
    let page = std::fs::read_to_string("../docs/reference/schema.md").expect("a page of the reference");
    let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let row = |dialect: &Dialect| format!("| `{}` | {} |", dialect.label(), dialect.description());
    assert_eq!(listed[..Dialect::ALL.len()], Dialect::ALL.iter().map(row).collect::<Vec<_>>());
}
