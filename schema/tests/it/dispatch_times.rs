//! The names and times of dispatches, read without the rest of a trace, are those of the trace.

use std::path::Path;

use rtl_schema::table::Dispatches;
use rtl_schema::{Select, Strings, TimeColumns, Trace};
use rusqlite::Connection;
use support::{Layout, Options};

/// Name, start and duration of each dispatch.
type Rows = Vec<(String, i64, Option<i64>)>;

fn rows(dispatches: &Dispatches, strings: &Strings) -> Rows {
    dispatches.iter().map(|row| (strings.get(row.name).to_owned(), row.start, row.duration)).collect()
}

/// The rows of a trace as [`Trace::read`] has them.
fn of_trace(path: &Path) -> Rows {
    let tables = Trace::open(path).unwrap().read(&Select::ops()).unwrap();
    rows(&tables.dispatches, &tables.strings)
}

/// Checks every choice of columns; returns the number of pieces, `None` where only the whole trace can be read.
fn assert_times(path: &Path) -> Option<usize> {
    let mut pieces = 0;
    for columns in [[true, true], [false, false], [false, true], [true, false]] {
        let columns = TimeColumns { name: columns[0], start: columns[1] };
        let times = Trace::open(path).unwrap().into_dispatch_times().unwrap().ok()?;
        let (mut found, mut piece) = (Rows::new(), Dispatches::default());
        pieces = times.pieces();
        for number in 0..pieces {
            times.read(number, columns, &mut piece).unwrap();
            found.extend(rows(&piece, times.strings()));
        }
        let mut expected = of_trace(path);
        for (name, start, _) in &mut expected {
            if !columns.name {
                times.strings().get(rtl_schema::NameId::default()).clone_into(name);
            }
            *start = if columns.start { *start } else { 0 };
        }
        let differs =
            found.iter().zip(&expected).enumerate().find(|(_, (found, expected))| found != expected);
        assert_eq!(differs, None, "{} {columns:?}", path.display());
        assert_eq!(found.len(), expected.len(), "{} {columns:?}", path.display());
    }
    Some(pieces)
}

#[test]
fn the_times_of_every_story_are_those_of_the_trace() {
    for name in support::fixture_names() {
        // RPD's tables refuse rows without an end.
        let layouts = [Layout::Native, Layout::Lite, Layout::Rpd3];
        for layout in layouts.into_iter().filter(|layout| name != "bad-rows" || *layout != Layout::Rpd3) {
            assert!(assert_times(&support::fixture_in(&name, layout)).is_some(), "{name} as {layout:?}");
        }
    }
}

#[test]
fn long_traces_come_in_several_pieces() {
    let folder = tempfile::tempdir().unwrap();
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let path = folder.path().join(format!("{layout:?}.db"));
        let options = Options { layout, ops: 90_000, api: true, ranges: true, ..Options::default() };
        support::generate(&options, &path).unwrap();
        assert!(assert_times(&path).is_some_and(|pieces| pieces > 1), "{layout:?}");
    }
}

#[test]
fn unusual_rows_have_the_times_of_the_trace() {
    let path = support::fixture_in("two-kernels", Layout::Native);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    let connection = Connection::open(&copy).unwrap();
    connection
        .execute_batch(
            "insert into rocpd_string(string) values ('Task'), ('Unheard'), ('UserMarker');
             with types(of) as (select id from rocpd_string union all select null union all select 12345),
                times(start, end) as (values (1, 2), (5, 5 + 4294967294), (5, 5 + 4294967295), (5, 5 + 4294967296),
                    (7, 3), (-5, 9), (-9223372036854775808, 9223372036854775807), (9223372036854775807, -2),
                    (null, 4), (4, null), ('12', '20'), (1.0, 3.0), ('x', 1)),
                gpus(gpu) as (values (0), (1), (7), (300), (-1), (-2), (null), ('3'))
             insert into rocpd_op(gpuId, queueId, start, end, description_id, opType_id)
                select gpu, 0, start, end, (select min(id) from rocpd_string) + start % 3, of from types, times, gpus",
        )
        .unwrap();
    drop(connection);
    assert!(assert_times(&copy).is_some());
    // Nine types that are no copies, annotations or barriers, seven GPUs that are agents, and eleven starts.
    assert_eq!(of_trace(&copy).len(), 2 + 9 * 7 * 11);
}

#[test]
fn foreign_traces_have_the_times_that_they_have_as_a_whole() {
    let Some(shared) = support::shared() else { return };
    let mut seen = 0;
    for folder in ["traces/made", "traces/real", "golden", "hostile"] {
        let entries = std::fs::read_dir(shared.join(folder)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| path.is_file()) {
            if Trace::open(&path).is_ok_and(|trace| trace.read(&Select::ops()).is_ok()) {
                seen += usize::from(assert_times(&path).is_some());
            }
        }
    }
    println!("{seen} traces");
}

#[test]
fn a_table_that_changes_during_the_scan_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.db");
    support::generate(&Options { ops: 90_000, ..Options::default() }, &path).unwrap();
    let times = Trace::open(&path).unwrap().into_dispatch_times().unwrap().unwrap();
    let mut piece = Dispatches::default();
    for number in 0..times.pieces() - 1 {
        times.read(number, TimeColumns::default(), &mut piece).unwrap();
    }
    // The change counter of the header: a writer that takes no lock.
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[27] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = times.read(times.pieces() - 1, TimeColumns::default(), &mut piece).unwrap_err();
    assert!(error.to_string().contains("changed while it was read"), "{error}");
}
