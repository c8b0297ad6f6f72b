//! A recording that is read again and again while it grows.

use std::path::PathBuf;

use proptest::prelude::*;
use rtl_schema::layout::tags;
use rtl_schema::table::Details;
use rtl_schema::{Error, LiveTrace, Select, Tables, Trace};
use rtl_write::{Call, Op, OpKind, Recording};
use tempfile::TempDir;

/// A recording with rows of all kinds.
struct Growing {
    folder: TempDir,
    recording: Recording,
    rows: i64,
}

impl Growing {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recording = Recording::create(&folder.path().join("trace.db"), None).unwrap();
        Self { folder, recording, rows: 0 }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("trace.db")
    }

    /// Says what it is, as a recorder does with its first row.
    fn begin(&mut self) {
        for (tag, value) in [(tags::RTL_SCHEMA, "1"), (tags::PID, "4711"), (tags::RANK, "3")] {
            self.recording.push_metadata(tag, value).unwrap();
        }
    }

    fn push(&mut self, rows: i64) {
        for _ in 0..rows {
            let row = self.rows;
            self.rows += 1;
            let name = self.recording.intern(&format!("kernel {}", row % 7 + row / 1000)).unwrap();
            let kind = [OpKind::KernelExecution, OpKind::Copy, OpKind::KernelExecution, OpKind::UserMarker];
            let kind = kind[row as usize % 4];
            let op = Op {
                description: Some(name),
                gpu: Some(if kind == OpKind::UserMarker { -1 } else { row % 3 }),
                queue: Some(row % 2),
                start: row * 100 - row % 5 * 300,
                end: (row % 11 != 10).then_some(row * 100 + 50),
                bytes: (kind == OpKind::Copy).then_some(row as u64),
                details: Details::with_enqueued((row % 2 == 0).then_some(row * 100 - 20)),
                kind,
                ..Op::default()
            };
            self.recording.push_op(&op).unwrap();
            if row % 3 == 0 {
                let call = Call { start: row, duration: Some(row % 50), name: Some(name), ..Call::default() };
                self.recording.push_call(&call).unwrap();
            }
        }
    }

    fn publish(&mut self) {
        let rows = self.rows.to_string();
        let open = format!("{{\"gpuId\": 1, \"queueId\": 0, \"since\": {rows}, \"description_id\": 12}}");
        let state = [(tags::COMPLETE, "0".to_owned()), (tags::END_NS, rows), (tags::OPEN_DISPATCH, open)];
        self.recording.publish(&state).unwrap();
    }
}

/// Rows as text, by table.
#[derive(Debug, Default, PartialEq)]
struct Rows([Vec<String>; 4]);

impl Rows {
    fn add(&mut self, tables: &Tables) {
        let name = |id| tables.strings.get(id);
        let place = |id| {
            let track = tables.tracks.get(id);
            (
                tables.agents[track.agent.index()].number,
                track.queue,
                tables.processes[track.process.index()].pid,
            )
        };
        let Self([dispatches, copies, ranges, calls]) = self;
        dispatches.extend(tables.dispatches.iter().map(|row| {
            format!(
                "{} {:?} {} {:?} {:?}",
                name(row.name),
                place(row.track),
                row.start,
                row.duration,
                row.details.enqueued
            )
        }));
        copies.extend(tables.copies.iter().map(|row| {
            format!(
                "{:?} {} {:?} {:?} {:?}",
                place(row.track),
                row.start,
                row.duration,
                row.bytes,
                row.direction
            )
        }));
        ranges.extend(
            tables.ranges.iter().map(|row| format!("{} {} {:?}", name(row.name), row.start, row.duration)),
        );
        let rows = 0..tables.api_calls.len();
        calls.extend(rows.map(|row| {
            let calls = &tables.api_calls;
            format!("{} {} {:?}", name(calls.name[row]), calls.start[row], calls.duration.get(row))
        }));
    }

    fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

/// The rows that a reader finds that reads the file once.
fn whole(path: &std::path::Path) -> Rows {
    let tables = Trace::open(path).unwrap().read(&Select::everything()).unwrap();
    let mut rows = Rows::default();
    rows.add(&tables);
    // The dispatch in flight is a row of the whole, at its end.
    rows.0[0].pop();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(support::cases(12)))]

    #[test]
    fn the_rows_of_all_refreshes_are_those_of_the_file(
        steps in proptest::collection::vec((0_i64..700, 0_u8..3), 1..20),
    ) {
        let mut growing = Growing::new();
        growing.begin();
        let mut live = LiveTrace::open(growing.path()).unwrap();
        let mut rows = Rows::default();
        for (new, refreshes) in steps {
            growing.push(new);
            growing.publish();
            for _ in 0..refreshes {
                live.refresh(|chunk| rows.add(chunk)).unwrap();
            }
        }
        growing.push(1);
        growing.publish();
        live.refresh(|chunk| rows.add(chunk)).unwrap();
        prop_assert_eq!(rows, whole(&growing.path()));
        prop_assert_eq!(live.as_of(), Some(growing.rows));
        prop_assert_eq!(live.in_flight().len(), 1);
        prop_assert_eq!((live.in_flight()[0].gpu, live.in_flight()[0].since), (1, growing.rows));
    }
}

#[test]
fn a_refresh_without_a_publication_gives_nothing() {
    let mut growing = Growing::new();
    growing.begin();
    growing.push(10);
    growing.publish();
    let mut live = LiveTrace::open(growing.path()).unwrap();
    let mut rows = Rows::default();
    assert!(live.refresh(|chunk| rows.add(chunk)).unwrap());
    let before = rows.len();
    growing.push(10);
    assert!(!live.refresh(|chunk| rows.add(chunk)).unwrap());
    assert_eq!(rows.len(), before);
}

#[test]
fn a_recording_that_does_not_say_yet_what_it_is_has_no_rows() {
    let mut growing = Growing::new();
    let mut live = LiveTrace::open(growing.path()).unwrap();
    let mut rows = Rows::default();
    assert!(!live.refresh(|chunk| rows.add(chunk)).unwrap());
    growing.begin();
    growing.push(100);
    growing.publish();
    assert!(live.refresh(|chunk| rows.add(chunk)).unwrap());
    assert_eq!(rows, whole(&growing.path()));
    assert_eq!(live.tables().processes[0].rank, Some(3));
}

#[test]
fn a_recording_is_read_to_its_end_although_its_name_is_gone() {
    let mut growing = Growing::new();
    growing.begin();
    growing.push(300);
    growing.publish();
    let mut live = LiveTrace::open(growing.path()).unwrap();
    let mut rows = Rows::default();
    live.refresh(|chunk| rows.add(chunk)).unwrap();
    let moved = growing.folder.path().join("moved.db");
    std::fs::rename(growing.path(), &moved).unwrap();
    growing.push(5000);
    growing.publish();
    live.refresh(|chunk| rows.add(chunk)).unwrap();
    assert_eq!(rows, whole(&moved));
}

#[test]
fn a_refresh_reads_what_is_new_and_not_what_was_there() {
    let read = || {
        let counters = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        line.parse::<u64>().unwrap()
    };
    let mut growing = Growing::new();
    growing.begin();
    growing.push(300_000);
    growing.publish();
    let size = std::fs::metadata(growing.path()).unwrap().len();
    let mut live = LiveTrace::open(growing.path()).unwrap();
    live.refresh(|_| ()).unwrap();
    growing.push(100);
    growing.publish();
    let before = read();
    live.refresh(|_| ()).unwrap();
    let cost = read() - before;
    assert!(cost < 300_000 && size > 50 * cost, "{cost} of {size} bytes");
}

#[test]
fn a_trace_that_librtl_did_not_write_is_refused_with_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    let error = |path: &PathBuf| LiveTrace::open(path).and_then(|mut live| live.refresh(|_| ())).unwrap_err();
    assert!(matches!(error(&path), Error::Missing { .. }));
    std::fs::write(&path, "no trace").unwrap();
    assert!(matches!(error(&path), Error::NotATrace { .. }));
    let lite = "create table rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id, opType_id);
        create table rocpd_string(id, string); create table rocpd_api(id)";
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(lite).unwrap();
    let error = error(&path);
    assert!(!matches!(error, Error::Missing { .. }), "{error}");
}

#[test]
fn a_file_that_is_made_shorter_is_an_error_and_no_panic() {
    let mut growing = Growing::new();
    growing.begin();
    growing.push(20_000);
    growing.publish();
    let mut live = LiveTrace::open(growing.path()).unwrap();
    std::fs::OpenOptions::new().write(true).open(growing.path()).unwrap().set_len(100_000).unwrap();
    assert!(live.refresh(|_| ()).is_err());
}
