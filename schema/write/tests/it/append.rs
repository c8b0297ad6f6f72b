//! A recording is a whole database after every single write.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::rc::Rc;

use proptest::prelude::*;
use rtl_schema::Error;
use rtl_schema::table::Details;
use rtl_write::{Call, NativeWriter, Op, OpKind, Recording, Target};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

type Result<T = ()> = anyhow::Result<T>;

/// A file in memory that remembers every write, and that can be full.
#[derive(Debug, Clone, Default)]
struct Log(Rc<RefCell<Writes>>);

#[derive(Debug, Default)]
struct Writes {
    writes: Vec<(u64, Vec<u8>)>,
    /// How many writes succeed.
    room: Option<usize>,
}

impl Target for Log {
    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut log = self.0.borrow_mut();
        if log.room.is_some_and(|room| log.writes.len() >= room) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        log.writes.push((offset, bytes.to_vec()));
        Ok(())
    }
}

impl Log {
    fn count(&self) -> usize {
        self.0.borrow().writes.len()
    }

    /// The file after its first `count` writes.
    fn file(&self, count: usize) -> Vec<u8> {
        let mut file = Vec::new();
        for (offset, bytes) in &self.0.borrow().writes[..count] {
            write(&mut file, *offset, bytes);
        }
        file
    }
}

fn write(file: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let start = offset as usize;
    file.resize(file.len().max(start + bytes.len()), 0);
    file[start..start + bytes.len()].copy_from_slice(bytes);
}

/// Opens bytes as SQLite sees them.
fn open(folder: &Path, file: &[u8]) -> Result<Connection> {
    let path = folder.join("state.db");
    std::fs::write(&path, file)?;
    Ok(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?)
}

fn check(connection: &Connection) -> Result {
    let answer: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    anyhow::ensure!(answer == "ok", answer);
    Ok(())
}

/// All rows of a table, as text.
fn rows(connection: &Connection, table: &str) -> Result<Vec<String>> {
    answers(connection, &format!("SELECT * FROM {table} ORDER BY rowid"))
}

fn answers(connection: &Connection, query: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(query)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        let values = (0..columns).map(|at| Ok(format!("{:?}", row.get_ref(at)?)));
        Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// One step of a recording.
#[derive(Debug, Clone)]
enum Step {
    Op(Op),
    Call(Call),
    Text(String),
    Metadata(String),
    Publish,
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let number = prop_oneof![0..2_i64, -200..200_i64, any::<i32>().prop_map(i64::from), any::<i64>()];
    let op = (number.clone(), proptest::option::of(number.clone()), any::<[bool; 12]>(), any::<[u32; 6]>());
    let op = op.prop_map(|(start, end, known, sizes)| Op {
        gpu: known[0].then_some(i64::from(sizes[0] % 8)),
        queue: known[1].then_some(i64::from(sizes[1] % 300)),
        start,
        end,
        kind: if known[2] { OpKind::Copy } else { OpKind::KernelExecution },
        items: known[3].then_some([u64::from(sizes[2]), 1, u64::from(sizes[3] % 3)]),
        workgroup: known[3].then_some([sizes[4] % 1024, 1, sizes[3] % 3]),
        tid: known[4].then_some(4711),
        correlation: i64::from(sizes[5] % 2) * start,
        bytes: known[5].then_some(u64::from(sizes[0])),
        peer: known[6].then_some(3),
        lds: known[7].then_some(sizes[3]),
        symbol: known[8].then_some(-1),
        pid: known[9].then_some(99),
        details: Details::with_enqueued(known[10].then_some(start)),
        ..Op::default()
    });
    let call = (number, any::<[bool; 4]>()).prop_map(|(start, known)| Call {
        start,
        tid: known[0].then_some(12),
        duration: known[1].then_some(7),
        stream: known[2].then_some(i64::MIN),
        result: i64::from(known[3]) * 719,
        ..Call::default()
    });
    let length = prop_oneof![6 => 0..300_usize, 1 => 3_900..4_200_usize, 1 => 8_000..8_400_usize, 1 => 0..70_000_usize];
    let text = (length, any::<char>()).prop_map(|(length, c)| c.to_string().repeat(length / c.len_utf8()));
    let step = prop_oneof![
        20 => op.prop_map(Step::Op),
        5 => call.prop_map(Step::Call),
        3 => text.clone().prop_map(Step::Text),
        2 => text.prop_map(Step::Metadata),
        2 => Just(Step::Publish),
    ];
    proptest::collection::vec((step, 1..60_usize), 1..most).prop_map(|steps| {
        let repeated = steps.into_iter().map(|(step, times)| {
            let times = if matches!(step, Step::Op(_) | Step::Call(_)) { times } else { 1 };
            std::iter::repeat_n(step, times)
        });
        repeated.flatten().collect()
    })
}

/// Takes the steps on both writers; after each publication, how many writes and ops there were.
fn record(steps: &[Step], log: &Log, other: &Path) -> Result<Vec<(usize, usize)>> {
    let mut recording = Recording::start(log.clone(), Path::new("trace.db"), None)?;
    let mut writer = NativeWriter::create(other)?;
    let mut published = vec![(log.count(), 0)];
    let mut ops = 0;
    for step in steps {
        match step {
            Step::Op(op) => {
                ops += 1;
                assert_eq!((recording.push_op(op)?, writer.push_op(op)?), (ops, ops));
            }
            Step::Call(call) => assert_eq!(recording.push_call(call)?, writer.push_call(call)?),
            Step::Text(text) => assert_eq!(recording.intern(text)?, writer.intern(text)?),
            Step::Metadata(value) => {
                recording.push_metadata("made", value)?;
                writer.push_metadata("made", value)?;
            }
            Step::Publish => {
                recording.publish(&[("complete", "0".to_owned()), ("recorded", ops.to_string())])?;
                published.push((log.count(), ops as usize));
            }
        }
    }
    recording.publish(&[("complete", "1".to_owned())])?;
    published.push((log.count(), ops as usize));
    writer.push_metadata("complete", "1")?;
    writer.finish()?;
    Ok(published)
}

const TABLES: [&str; 3] = ["rocpd_string", "rocpd_metadata", "rocpd_op"];

fn every_state_is_whole(steps: &[Step]) -> Result {
    let folder = tempfile::tempdir()?;
    let log = Log::default();
    let other = folder.path().join("other.db");
    let published = record(steps, &log, &other)?;
    let whole = open(folder.path(), &log.file(log.count()))?;
    let expected = Connection::open(&other)?;
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name";
    assert_eq!(answers(&whole, schema)?, answers(&expected, schema)?);
    for table in TABLES.into_iter().chain(has_calls(steps).then_some("rocpd_api")) {
        assert_eq!(rows(&whole, table)?, rows(&expected, table)?, "{table}");
    }
    for view in ["top", "busy"] {
        // Sums of such times may be too large for SQLite.
        let answers =
            |file| answers(file, &format!("SELECT * FROM {view}")).map_err(|error| error.to_string());
        assert_eq!(answers(&whole), answers(&expected), "{view}");
    }
    let other = std::fs::read(&other)?;
    assert_eq!(records(&whole, &log.file(log.count()))?, records(&expected, &other)?);

    let all = rows(&whole, "rocpd_op")?;
    let mut file = Vec::new();
    for count in 1..=log.count() {
        let (offset, bytes) = log.0.borrow().writes[count - 1].clone();
        let ops =
            |count| published.iter().rev().find(|(writes, _)| *writes <= count).map_or(0, |(_, ops)| *ops);
        // The first page is written as a whole; in the middle of another write nothing must have changed.
        if offset > 0 {
            let mut torn = file.clone();
            write(&mut torn, offset, &bytes[..(count * 2_654_435_761) % bytes.len()]);
            is_whole(&open(folder.path(), &torn)?, &all[..ops(count - 1)])?;
        }
        write(&mut file, offset, &bytes);
        is_whole(&open(folder.path(), &file)?, &all[..ops(count)])?;
    }
    Ok(())
}

/// Checks that SQLite finds nothing wrong, and that ops and metadata have these numbers.
fn is_whole(state: &Connection, ops: &[String]) -> Result {
    check(state)?;
    // Before the first publication the file is an empty database.
    let tables: i64 = state.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    if tables == 0 {
        assert!(ops.is_empty());
        return Ok(());
    }
    assert_eq!(rows(state, "rocpd_op")?, ops);
    let recorded = "SELECT value FROM rocpd_metadata WHERE tag = 'recorded'";
    let recorded = state.query_row(recorded, [], |row| row.get::<_, String>(0)).optional()?;
    assert!(recorded.is_none_or(|recorded| recorded == ops.len().to_string()));
    Ok(())
}

/// The cells of all leaves of `rocpd_op`, byte by byte, page by page.
fn records(connection: &Connection, file: &[u8]) -> Result<Vec<Vec<Vec<u8>>>> {
    fn walk(file: &[u8], number: u32, leaves: &mut Vec<Vec<Vec<u8>>>) {
        let page = &file[(number as usize - 1) * 4096..][..4096];
        let two = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
        let four = |at: usize| u32::from_be_bytes([page[at], page[at + 1], page[at + 2], page[at + 3]]);
        if page[0] == 5 {
            (0..two(3)).for_each(|cell| walk(file, four(two(12 + 2 * cell)), leaves));
            return walk(file, four(8), leaves);
        }
        let starts: Vec<usize> = (0..two(3)).map(|cell| two(8 + 2 * cell)).collect();
        // Both fill a page from its end; a cell reaches to where the one before it starts.
        let ends = std::iter::once(4096).chain(starts.iter().copied());
        leaves.push(starts.iter().zip(ends).map(|(&start, end)| page[start..end].to_vec()).collect());
    }
    let root = "SELECT rootpage FROM sqlite_master WHERE name = 'rocpd_op'";
    let root = connection.query_row(root, [], |row| row.get(0))?;
    let mut leaves = Vec::new();
    walk(file, root, &mut leaves);
    Ok(leaves)
}

fn has_calls(steps: &[Step]) -> bool {
    steps.iter().any(|step| matches!(step, Step::Call(_)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 16, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_recorded_the_file_is_whole_after_every_write(steps in steps(40)) {
        every_state_is_whole(&steps).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
    }
}

fn kernel(at: i64) -> Op {
    Op {
        gpu: Some(0),
        queue: Some(1),
        start: 1_000_000_000_000 + at,
        end: Some(1_000_000_000_007 + at),
        ..Op::default()
    }
}

#[test]
fn a_tree_of_three_levels_is_whole_at_its_seams() -> Result {
    // A leaf takes 120 of these rows and an inner node 333 leaves.
    let folder = tempfile::tempdir()?;
    let log = Log::default();
    let mut recording = Recording::start(log.clone(), Path::new("trace.db"), None)?;
    let mut number = 0;
    for seam in [120, 40_000] {
        while number < seam - 300 {
            number = recording.push_op(&kernel(number))?;
        }
        while number < seam + 300 {
            recording.publish(&[])?;
            let before = log.count();
            for _ in 0..50 {
                number = recording.push_op(&kernel(number))?;
            }
            recording.publish(&[])?;
            let state = open(folder.path(), &log.file(log.count()))?;
            check(&state)?;
            let count: i64 = state.query_row(
                "SELECT count(*) FROM rocpd_op WHERE start = id + 999999999999",
                [],
                |row| row.get(0),
            )?;
            assert_eq!(count, number);
            assert!(log.count() > before);
        }
    }
    Ok(())
}

#[test]
fn a_full_disk_leaves_what_was_published() -> Result {
    let folder = tempfile::tempdir()?;
    let log = Log::default();
    let mut recording = Recording::start(log.clone(), Path::new("trace.db"), None)?;
    for number in 0..10_000 {
        recording.push_op(&kernel(number))?;
        if number % 1_000 == 999 {
            recording.publish(&[])?;
        }
    }
    log.0.borrow_mut().room = Some(log.count() + 2);
    let mut error = None;
    for number in 0..100_000 {
        if let Err(failed) = recording.push_op(&kernel(number)) {
            error = Some(failed);
            break;
        }
    }
    assert!(matches!(error, Some(Error::Io { .. })), "{error:?}");
    assert!(recording.push_op(&kernel(1)).is_err());
    log.0.borrow_mut().room = None;
    recording.publish(&[("lost:disk", "3".to_owned())])?;
    let state = open(folder.path(), &log.file(log.count()))?;
    check(&state)?;
    assert_eq!(rows(&state, "rocpd_op")?.len(), 10_000);
    assert!(rows(&state, "rocpd_metadata")?.last().is_some_and(|row| row.contains("108, 111, 115, 116")));
    Ok(())
}

/// A disk on which so many bytes have room, as is known ahead.
struct Small(Log, u64);

impl Target for Small {
    const RESERVES: bool = true;

    fn write_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.reserve(offset + bytes.len() as u64)?;
        self.0.write_at(bytes, offset)
    }

    fn reserve(&mut self, length: u64) -> io::Result<()> {
        if length > self.1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn on_a_small_disk_what_fits_is_written_in_one_batch_or_many_and_counts_have_room() -> Result {
    let folder = tempfile::tempdir()?;
    for (kib, batch) in (88..=400).step_by(24).flat_map(|kib| [(kib, 70), (kib, 1_000), (kib, usize::MAX)]) {
        let log = Log::default();
        let mut recording = Recording::start(Small(log.clone(), kib << 10), Path::new("trace.db"), None)?;
        let mut number = 0;
        let refused = loop {
            match recording.push_op(&kernel(number)) {
                Ok(row) => number = row,
                Err(error) => break error,
            }
            if (number as usize).is_multiple_of(batch) {
                recording.publish(&[("complete", "0".to_owned())])?;
            }
        };
        assert!(matches!(refused, Error::NoRoom { .. }), "{kib} KiB: {refused:?}");
        for _ in 0..5 {
            recording.publish(&[("lost:write", "x".repeat(2_000))])?;
        }
        let state = open(folder.path(), &log.file(log.count()))?;
        check(&state)?;
        assert_eq!(rows(&state, "rocpd_op")?.len() as i64, number);
        // What two publications take is kept free.
        assert!(number * 64 + (144 << 10) > (kib << 10) as i64, "{number} rows on {kib} KiB");
    }
    Ok(())
}

#[test]
fn a_limit_is_kept_and_closing_rows_have_room() -> Result {
    for limit in [256 << 10, 300_001, 1 << 20] {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("trace.db");
        let mut recording = Recording::create(&path, Some(limit))?;
        let mut number = 0;
        let refused = loop {
            match recording.push_op(&kernel(number)) {
                Ok(row) => number = row,
                Err(error) => break error,
            }
            if number % 1_000 == 0 {
                recording.publish(&[("complete", "0".to_owned())])?;
            }
        };
        assert!(matches!(refused, Error::Full { .. }), "{refused:?}");
        for round in 0..20 {
            recording.publish(&[("lost:limit", "x".repeat(100 * round))])?;
        }
        let length = std::fs::metadata(&path)?.len();
        assert!(length <= limit, "{length} > {limit}");
        assert!(length + (200 << 10) > limit, "{length} of {limit}");
        let file = Connection::open(&path)?;
        check(&file)?;
        assert_eq!(rows(&file, "rocpd_op")?.len() as i64, number);
    }
    let path = Path::new("/nowhere/trace.db");
    assert!(matches!(Recording::create(path, Some(1000)), Err(Error::Refused { .. })));
    assert!(matches!(Recording::create(path, None), Err(Error::Io { .. })));
    Ok(())
}

#[test]
#[ignore = "writes 1.1 GB: cargo test -p rtl-schema --test append -- --ignored"]
fn the_page_at_one_gibibyte_which_sqlite_locks_is_left_out() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let mut recording = Recording::create(&path, None)?;
    for number in 0..1_100 {
        recording.intern(&format!("{number}{}", "x".repeat(1_000_000)))?;
        recording.push_op(&kernel(number))?;
        recording.publish(&[])?;
    }
    let file = Connection::open(&path)?;
    check(&file)?;
    let whole = "SELECT count(*) FROM rocpd_string WHERE length(string) > 1000000 AND string + 12 = id";
    assert_eq!(file.query_row(whole, [], |row| row.get::<_, i64>(0))?, 1_100);
    Ok(())
}

#[test]
fn a_file_that_someone_else_takes_away_is_not_written_to_any_more() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    for (take_away, why) in [
        (
            (|path| std::fs::File::create(path).map(drop)) as fn(&Path) -> io::Result<()>,
            "has made it shorter",
        ),
        (|path| std::fs::remove_file(path), "has removed it"),
    ] {
        let mut recording = Recording::create(&path, None)?;
        recording.push_metadata("made", "one")?;
        recording.publish(&[])?;
        take_away(&path)?;
        recording.push_metadata("made", "two")?;
        let error = recording.publish(&[]).unwrap_err();
        assert!(format!("{:?}", anyhow::Error::from(error)).contains(why));
        assert!(recording.publish(&[]).is_err(), "nor to say why");
        assert_eq!(
            std::fs::metadata(&path).map_or(0, |left| left.len()),
            0,
            "no hole in the place of what was there"
        );
        assert!(recording.finish().is_err());
        let _ = std::fs::remove_file(&path);
    }
    Ok(())
}

#[test]
fn a_recording_says_from_its_first_moment_that_it_is_not_complete() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let _recording = Recording::create(&path, None)?;
    let file = open(folder.path(), &std::fs::read(&path)?)?;
    assert_eq!(answers(&file, "SELECT value FROM rocpd_metadata WHERE tag = 'complete'")?.len(), 1);
    Ok(())
}
