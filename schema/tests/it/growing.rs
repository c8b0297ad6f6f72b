//! A recording that its writer extends while it is read: every read sees one published state.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rtl_schema::layout::tags;
use rtl_schema::{Error, Select, Tables, Trace};
use rtl_write::{Op, OpKind, Recording};
use tempfile::TempDir;

/// Ops of each publication.
const BATCH: i64 = 150;

/// A recording whose publications each add [`BATCH`] ops of one name and replace the row of their number.
struct Growing {
    folder: TempDir,
    recording: Recording,
    published: i64,
}

impl Growing {
    fn new(publications: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut recording = Recording::create(&folder.path().join("trace.db"), None).unwrap();
        recording.push_metadata(tags::RTL_SCHEMA, "1").unwrap();
        let mut growing = Self { folder, recording, published: 0 };
        (0..publications).for_each(|_| growing.publish());
        growing
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("trace.db")
    }

    fn publish(&mut self) {
        let number = self.published;
        let name = self.recording.intern(&format!("kernel {number} {}", "x".repeat(50))).unwrap();
        for row in 0..BATCH {
            let start = number * 1_000_000 + row;
            let op = Op {
                description: Some(name),
                gpu: Some(0),
                queue: Some(1),
                start,
                end: Some(start + 1),
                kind: OpKind::KernelExecution,
                ..Op::default()
            };
            self.recording.push_op(&op).unwrap();
        }
        self.published += 1;
        let state = [(tags::COMPLETE, "0".to_owned()), ("rank", self.published.to_string())];
        self.recording.publish(&state).unwrap();
    }
}

/// The publication that was read, after a check of all its rows.
fn publication(tables: &Tables) -> i64 {
    let published = tables.processes[0].rank.expect("the row of the last publication");
    let rows = &tables.dispatches;
    assert_eq!(rows.len() as i64, i64::from(published) * BATCH);
    for (at, row) in rows.iter().enumerate() {
        let name = tables.strings.get(row.name);
        assert!(name.starts_with(&format!("kernel {} x", at as i64 / BATCH)), "row {at}: {name}");
    }
    i64::from(published)
}

fn read(path: &Path) -> Result<i64, Error> {
    Ok(publication(&Trace::open(path)?.read(&Select::everything())?))
}

#[test]
fn a_trace_stays_what_it_was_when_it_was_opened() {
    let mut growing = Growing::new(20);
    let trace = Trace::open(growing.path()).unwrap();
    for _ in 0..300 {
        growing.publish();
    }
    assert_eq!(publication(&trace.read(&Select::everything()).unwrap()), 20);
    assert_eq!(read(&growing.path()).unwrap(), 320);
}

#[test]
fn pieces_are_of_one_state_although_others_are_published_between_them() {
    let mut growing = Growing::new(700);
    let path = growing.path();
    let (mut pieces, mut rows) = (0, 0);
    Trace::open(&path)
        .unwrap()
        .stream(&Select::everything(), |piece| {
            (pieces, rows) = (pieces + 1, rows + piece.dispatches.len());
            for _ in 0..100 {
                growing.publish();
            }
            Ok::<(), Error>(())
        })
        .unwrap();
    assert!(pieces > 1, "{pieces} pieces");
    assert_eq!(rows as i64, 700 * BATCH);
}

/// Ends the writer, also where a read fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn every_read_beside_a_writer_that_publishes_succeeds() {
    let mut growing = Growing::new(10);
    let path = growing.path();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (growing, is_over) = (&mut growing, &is_over);
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                growing.publish();
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        });
        let _end = End(is_over);
        let mut last = 0;
        for _ in 0..60 {
            let published = read(&path).unwrap();
            assert!(published >= last, "{published} after {last}");
            last = published;
        }
    });
    assert_eq!(read(&path).unwrap(), growing.published);
}

#[test]
fn nothing_remains_of_reading_a_recording_that_its_writer_has_not_ended() {
    let growing = Growing::new(30);
    let before = std::fs::read(growing.path()).unwrap();
    assert_eq!(read(&growing.path()).unwrap(), 30);
    let trace = Trace::open(growing.path()).unwrap();
    let counts = trace.row_counts().unwrap();
    assert!(counts.contains(&("rocpd_op".to_owned(), (30 * BATCH) as u64)), "{counts:?}");
    assert_eq!(std::fs::read(growing.path()).unwrap(), before);
    assert_eq!(std::fs::read_dir(growing.folder.path()).unwrap().count(), 1);
}
