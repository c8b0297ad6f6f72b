//! The bytes that the writer leaves on disk, as SQLite sees them.

use std::path::Path;

use atomic_file::{AtomicFile, IfExists};
use rtl_schema::table::{
    Agent, AgentKind, Allocation, ApiArgument, ApiCall, ApiLaunch, Copy, Counter, Details, Direction,
    Dispatch, Monitor, OpaqueTable, Process, Range, RangeKind, Shape, StackFrame, Symbol, Track, Value,
};
use rtl_schema::{AgentId, NameId, ProcessId, Select, SymbolId, Tables, Trace};
use rtl_write::{NativeWriter, Op};
use rusqlite::Connection;
use support::{Layout, Options, generate};

type Result<T = ()> = anyhow::Result<T>;

/// One value of the file as text, `NULL` included.
fn value(path: &Path, sql: &str) -> Result<String> {
    let sql = format!("SELECT ifnull(group_concat(ifnull(x, 'NULL'), ' '), '') FROM (SELECT ({sql}) AS x)");
    Ok(Connection::open(path)?.query_row(&sql, [], |row| row.get(0))?)
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[test]
fn a_file_appears_when_it_is_complete_and_not_before() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let file = AtomicFile::create(&path, &atomic_file::Options::default())?;
    let mut writer = NativeWriter::within(&file.place(), &path)?;
    for start in 0..1_000 {
        writer.push_op(&Op { gpu: Some(0), start, end: Some(start + 1), ..Op::default() })?;
    }
    writer.finish()?;
    assert!(!path.exists());
    file.commit()?;
    assert_eq!(names(folder.path())?, ["trace.db"]);
    assert_eq!(value(&path, "SELECT count(*) || ' ' || max(id) FROM rocpd_op")?, "1000 1000");
    Ok(())
}

#[test]
fn a_dropped_writer_leaves_nothing() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let file = AtomicFile::create(&path, &atomic_file::Options::default())?;
    let mut writer = NativeWriter::within(&file.place(), &path)?;
    writer.push_op(&Op::default())?;
    drop((writer, file));
    assert!(names(folder.path())?.is_empty());
    Ok(())
}

#[test]
fn an_existing_file_stays_unless_it_may_be_replaced() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    std::fs::write(&path, "mine")?;
    let options = atomic_file::Options::default();
    assert!(matches!(AtomicFile::create(&path, &options), Err(atomic_file::Error::Exists { .. })));

    let late = folder.path().join("late.db");
    let file = AtomicFile::create(&late, &options)?;
    NativeWriter::within(&file.place(), &late)?.finish()?;
    std::fs::write(&late, "mine")?;
    assert!(matches!(file.commit(), Err(atomic_file::Error::Exists { .. })));
    assert_eq!(std::fs::read_to_string(&late)?, "mine");

    let file = AtomicFile::create(&path, &atomic_file::Options { if_exists: IfExists::Replace, ..options })?;
    NativeWriter::within(&file.place(), &path)?.finish()?;
    file.commit()?;
    assert_eq!(value(&path, "SELECT value FROM rocpd_metadata WHERE tag = 'rtl_schema'")?, "1");
    Ok(())
}

#[test]
fn a_file_has_three_tables_two_views_and_no_journal_of_its_own() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    NativeWriter::create(&path)?.finish()?;
    let names =
        value(&path, "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master ORDER BY name)")?;
    assert_eq!(names, "busy,rocpd_metadata,rocpd_op,rocpd_string,top");
    let header = std::fs::read(&path)?;
    assert_eq!(header[18..20], [1, 1], "1 is a rollback journal, 2 would be a WAL");
    Ok(())
}

#[test]
fn an_op_takes_56_bytes_at_most() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    generate(&Options { layout: Layout::Native, ops: 150_000, ..Options::default() }, &path)?;
    let bytes = std::fs::metadata(&path)?.len();
    assert!(bytes <= 56 * 150_000, "{} bytes an op", bytes as f64 / 150_000.0);
    Ok(())
}

#[test]
fn a_moment_of_enqueueing_takes_20_bytes_more_at_most() -> Result {
    let folder = tempfile::tempdir()?;
    let [before, after] = ["before.db", "after.db"].map(|name| folder.path().join(name));
    generate(&Options { layout: Layout::Native, ops: 30_000, ..Options::default() }, &before)?;
    let mut tables = Trace::open(&before)?.read(&Select::everything())?;
    let starts = tables.dispatches.start.iter();
    tables.dispatches.details.enqueued = starts.map(|start| Some(start - 5_000)).collect();
    let mut writer = NativeWriter::create(&after)?;
    writer.push_tables(&tables)?;
    writer.finish()?;
    let [before, after] = [std::fs::metadata(&before)?.len(), std::fs::metadata(&after)?.len()];
    assert!(after - before <= 20 * 30_000, "{} bytes an op", (after - before) as f64 / 30_000.0);
    Ok(())
}

/// Two processes on one GPU and a CPU, with at least one row of everything.
fn one_of_each() -> Tables {
    let processes = vec![
        Process { pid: Some(7), ..Process::default() },
        Process { pid: Some(7), node: Some(1), space: 1, ..Process::default() },
    ];
    let agents = vec![
        Agent { number: 3, source_id: 40, ..Agent::default() },
        Agent { kind: AgentKind::Cpu, ..Agent::default() },
    ];
    let mut tables = Tables { processes, agents, ..Tables::default() };
    let name = tables.strings.intern("gemm");
    let [hip, args] = ["hip", "x=1"].map(|text| tables.strings.intern(text));
    let queue = 0x7f00_0000_0000;
    let track = Track { agent: AgentId(0), queue, hardware_queue: Some(0x1000), ..Track::default() };
    let track = tables.tracks.intern(track);
    let second = tables.tracks.intern(Track { process: ProcessId(1), queue: 2, ..Track::default() });
    let symbol = Symbol { id: 9, name, ..Symbol::default() };
    tables.symbols = vec![symbol, Symbol { id: 10, ..symbol }];
    let shape = tables.shapes.intern(Shape { lds: Some(64), ..Shape::from_items([64, 1, 1], [100, 2, 1]) });
    let kernel =
        Dispatch { name, track, start: 100, duration: Some(5), shape: Some(shape), ..Dispatch::default() };
    tables.dispatches.push(Dispatch {
        id: 1,
        symbol: Some(SymbolId(0)),
        details: Details::with_enqueued(Some(70)),
        ..kernel
    });
    tables.dispatches.push(Dispatch { id: 4, symbol: Some(SymbolId(1)), graph: true, ..kernel });
    tables.dispatches.push(Dispatch {
        id: 5,
        name: NameId::DANGLING,
        duration: None,
        track: second,
        shape: None,
        ..kernel
    });
    tables.dispatches.push(Dispatch { id: 6, name: NameId::NONE, duration: Some(-3), ..kernel });
    let copy = Copy { id: 3, name: NameId::NONE, track, start: 10, duration: Some(1), ..Copy::default() };
    tables.copies.push(Copy {
        direction: Direction::HostToDevice,
        bytes: Some(u64::MAX),
        source: Some(AgentId(1)),
        destination: Some(AgentId(0)),
        source_address: Some(0xffff_ffff_0000_0000),
        ..copy
    });
    tables.copies.push(Copy {
        id: 7,
        direction: Direction::HostToDevice,
        destination: Some(AgentId(0)),
        ..copy
    });
    tables.ranges.push(Range {
        id: 2,
        name,
        category: hip,
        kind: RangeKind::Process,
        start: 90,
        duration: Some(30),
        ..Range::default()
    });
    tables.api_calls.push(ApiCall {
        id: 50,
        name,
        domain: hip,
        category: NameId::NONE,
        args,
        start: 80,
        duration: Some(2),
        correlation: 5,
        result: 719,
        ..ApiCall::default()
    });
    tables.api_calls.arguments.push(ApiArgument { kind: hip, name, value: args, ..ApiArgument::default() });
    tables.api_calls.launches.push(ApiLaunch {
        kernel: name,
        shape: Some(shape),
        stream: hip,
        ..ApiLaunch::default()
    });
    tables.allocations.push(Allocation {
        agent: Some(AgentId(0)),
        address: Some(u64::MAX),
        bytes: 8,
        ..Allocation::default()
    });
    tables.counters.push(Counter { dispatch: 4, name, value: 1.5, ..Counter::default() });
    tables.monitors.push(Monitor {
        device_kind: hip,
        name,
        start: 1,
        end: 2,
        value: args,
        ..Monitor::default()
    });
    tables.stack_frames.push(StackFrame { call: 50, depth: 1, name });
    tables.extra_links.push((4, 50));
    tables.opaque_tables.push(OpaqueTable {
        name: "ext_x".to_owned(),
        create: "CREATE TABLE ext_x (a, \"b\"\"c\")".to_owned(),
        columns: vec!["a".to_owned(), "b\"c".to_owned()],
        rows: vec![
            vec![Value::Real(0.5), Value::Blob(vec![0, 1])],
            vec![Value::Null, Value::Text("t".to_owned())],
        ],
    });
    tables
}

#[test]
fn statements_behind_the_definition_of_a_table_do_not_run() -> Result {
    let folder = tempfile::tempdir()?;
    let (path, planted) = (folder.path().join("trace.db"), folder.path().join("planted.db"));
    let mut tables = one_of_each();
    let create = format!("; ATTACH '{}' AS other; CREATE TABLE other.t(a)", planted.display());
    tables.opaque_tables[0].create += &create;
    let mut writer = NativeWriter::create(&path)?;
    writer.push_tables(&tables)?;
    writer.finish()?;
    assert!(!planted.exists());
    assert_eq!(value(&path, "SELECT count(*) FROM ext_x")?, "2");
    Ok(())
}

#[test]
fn every_kind_of_row_finds_its_place() -> Result {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let mut writer = NativeWriter::create(&path)?;
    writer.push_tables(&one_of_each())?;
    writer.finish()?;
    let op =
        |id: i64, columns: &str| value(&path, &format!("SELECT {columns} FROM rocpd_op WHERE id = {id}"));

    // Ops stand in the order of their old ids: kernel 1, range 2, copy 3, kernels 4 to 6, copy 7.
    assert_eq!(
        op(1, "completionSignal")?,
        "hwq=0x3 wg=64,1,1 grid=100,2,1",
        "2 is the largest number that is no address"
    );
    assert_eq!(op(1, "gpuId || ' ' || start || ' ' || end || ' ' || pid || ' ' || lds")?, "3 100 105 7 64");
    assert_eq!(op(1, "symbol")?, "NULL", "the first symbol of the name");
    assert_eq!([op(1, "enqueued")?, op(4, "enqueued")?], ["70", "NULL"]);
    assert_eq!(op(2, "gpuId || ' ' || roctxId || ' ' || sequenceId || ' ' || category_id")?, "-1 2 1 13");
    assert_eq!(op(3, "bytes || ' ' || (correlationId IS NULL)")?, "-1 1");
    assert_eq!(op(4, "symbol || ' ' || opType_id")?, "10 3");
    assert_eq!(op(5, "description_id || ' ' || pid || ' ' || queueId || ' ' || (end IS NULL)")?, "-1 -2 2 1");
    assert_eq!(op(6, "(description_id IS NULL) || ' ' || end || ' ' || (symbol IS NULL)")?, "1 97 1");
    assert_eq!(
        value(
            &path,
            "SELECT group_concat(op_id || ' ' || srcAddress || ' ' || srcGpu || ' ' || dstGpu) FROM rocpd_copy"
        )?,
        "3 -4294967296 -3 3",
        "only the copy that rocpd_op cannot tell whole"
    );

    let metadata = |tag: &str| {
        value(&path, &format!("SELECT group_concat(value) FROM rocpd_metadata WHERE tag = '{tag}'"))
    };
    assert_eq!(
        metadata("queue")?,
        r#"{"gpuId":3,"hardware":4096,"pid":7,"queueId":3,"source":139637976727552}"#
    );
    assert_eq!(metadata("process")?, r#"{"pid":7,"space":0},{"id":-2,"node":1,"pid":7,"space":1}"#);
    assert_eq!(metadata("agent")?, r#"{"id":-3,"kind":"cpu","number":0,"sourceId":0}"#);

    for (table, expected) in [
        ("rocpd_api", "1 7 80 82 5 719"),
        ("rocpd_arg", "1 0"),
        ("rocpd_kernelapi", "1 hip 2 2 1 64"),
        ("rocpd_allocation", "allocate real -1 8"),
        ("rocpd_counter", "1.5 4"),
        ("rocpd_stackframe", "1 1"),
        ("rocpd_api_ops", "1 4"),
        ("rocpd_monitor", "hip gemm x=1"),
        ("ext_x", "0.5 X'0001' NULL 't'"),
    ] {
        let columns = match table {
            "rocpd_api" => {
                "id || ' ' || pid || ' ' || start || ' ' || end || ' ' || correlationId || ' ' || result"
            }
            "rocpd_arg" => "api_id || ' ' || position",
            "rocpd_kernelapi" => {
                "api_id || ' ' || stream || ' ' || gridX || ' ' || gridY || ' ' || gridZ || ' ' || workgroupX"
            }
            "rocpd_allocation" => "kind || ' ' || level || ' ' || address || ' ' || bytes",
            "rocpd_counter" => "value || ' ' || op_id",
            "rocpd_stackframe" => "api_ptr_id || ' ' || depth",
            "rocpd_api_ops" => "api_id || ' ' || op_id",
            "rocpd_monitor" => "deviceType || ' ' || monitorType || ' ' || value",
            _ => "quote(a) || ' ' || quote(\"b\"\"c\")",
        };
        let found = value(&path, &format!("SELECT group_concat({columns}, ' ') FROM {table}"))?;
        assert_eq!(found, expected, "{table}");
    }
    assert_eq!(value(&path, "SELECT integrity_check FROM pragma_integrity_check")?, "ok");
    Ok(())
}
