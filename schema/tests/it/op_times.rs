//! The names and times of ops, read without the rest of a trace, are those of the trace.

use std::path::Path;

use rtl_schema::{Select, Strings, Tables, TimeColumns, Trace};
use rusqlite::Connection;
use support::{Layout, Options};

/// Name, start and duration of each dispatch, and of each copy and barrier.
#[derive(Debug, Default, PartialEq)]
struct Rows {
    dispatches: Vec<Op>,
    others: [Vec<Op>; 2],
}

type Op = (String, i64, Option<i64>);

impl Rows {
    fn add(&mut self, tables: &Tables, strings: &Strings) {
        let op = |name, start, duration| (strings.get(name).to_owned(), start, duration);
        self.dispatches.extend(tables.dispatches.iter().map(|row| op(row.name, row.start, row.duration)));
        let [copies, barriers] = &mut self.others;
        copies.extend(tables.copies.iter().map(|row| op(row.name, row.start, row.duration)));
        barriers.extend(tables.barriers.iter().map(|row| op(row.name, row.start, row.duration)));
    }
}

/// The rows of a trace as [`Trace::read`] has them.
fn of_trace(path: &Path) -> Rows {
    let tables = Trace::open(path).unwrap().read(&Select::ops()).unwrap();
    let mut rows = Rows::default();
    rows.add(&tables, &tables.strings);
    rows
}

/// Checks every choice of columns; returns the number of pieces, `None` where only the whole trace can be read.
fn assert_times(path: &Path) -> Option<usize> {
    let whole = of_trace(path);
    let mut pieces = 0;
    for choice in 0..8 {
        let columns = TimeColumns { name: choice & 1 > 0, start: choice & 2 > 0, other_ops: choice & 4 > 0 };
        let times = Trace::open(path).unwrap().into_op_times().unwrap().ok()?;
        let (mut found, mut piece) = (Rows::default(), Tables::default());
        pieces = times.pieces();
        for number in 0..pieces {
            times.read(number, columns, &mut piece).unwrap();
            found.add(&piece, times.strings());
        }
        let no_name = times.strings().get(rtl_schema::NameId::NONE);
        let expected = |(name, start, duration): &Op| -> Op {
            let name = if columns.name { name } else { no_name };
            (name.to_owned(), if columns.start { *start } else { 0 }, *duration)
        };
        let found = [&found.dispatches, &found.others[0], &found.others[1]];
        let whole = [&whole.dispatches, &whole.others[0], &whole.others[1]];
        for (table, (found, whole)) in found.iter().zip(whole).enumerate() {
            let whole: Vec<Op> = match table == 0 || columns.other_ops {
                true => whole.iter().map(expected).collect(),
                false => Vec::new(),
            };
            let differs = found.iter().zip(&whole).enumerate().find(|(_, (found, whole))| found != whole);
            assert_eq!(differs, None, "table {table} of {} {columns:?}", path.display());
            assert_eq!(found.len(), whole.len(), "table {table} of {} {columns:?}", path.display());
        }
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
    assert_eq!(of_trace(&copy).dispatches.len(), 2 + 9 * 7 * 11);
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
    // RPD's, rocm-trace-lite's and rtl's databases are among them.
    assert!(seen >= 3, "{seen} traces");
}

#[test]
fn a_table_that_changes_during_the_scan_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.db");
    support::generate(&Options { ops: 90_000, ..Options::default() }, &path).unwrap();
    let times = Trace::open(&path).unwrap().into_op_times().unwrap().unwrap();
    let mut piece = Tables::default();
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
