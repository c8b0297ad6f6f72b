//! Files that we write in RPD's layout: what RPD can hold reads back, and its views show every row.

use std::path::Path;

use rtl_schema::table::Shape;
use rtl_schema::{Dialect, NameId, Select, ShapeId, Tables, Trace, TrackId};
use rtl_write::{NativeWriter, RpdWriter, TraceImport};
use rusqlite::Connection;
use support::{Layout, Options, fixture_in, fixture_names, generate};
use tempfile::{NamedTempFile, TempPath};

type Result<T = ()> = anyhow::Result<T>;

/// The trace at `path` in RPD's layout, and how many rows were left out.
fn rpd(path: &Path) -> Result<(TempPath, u64)> {
    let target = NamedTempFile::new()?.into_temp_path();
    let mut rpd = RpdWriter::within(&target, &target)?;
    let last = Trace::open(path)?.stream(&Select::everything(), |piece| rpd.push(piece))?;
    let left_out = rpd.finish(&last)?;
    Ok((target, left_out))
}

fn native(path: &Path) -> Result<TempPath> {
    let target = NamedTempFile::new()?.into_temp_path();
    let mut writer = NativeWriter::create(&target)?;
    let mut incoming = TraceImport::default();
    let last = Trace::open(path)?.stream(&Select::everything(), |piece| incoming.push(&mut writer, piece))?;
    incoming.finish(&mut writer, &last)?;
    writer.finish()?;
    Ok(target)
}

fn read(path: &Path) -> Result<Tables> {
    Ok(Trace::open(path)?.read(&Select::everything())?)
}

/// Every row as a line of what RPD can hold, sorted.
fn held(tables: &Tables) -> Vec<String> {
    let text = |name: NameId| if name.is_some() { tables.strings.get(name) } else { "" };
    let place = |track: TrackId| {
        let track = tables.tracks.get(track);
        let agent = tables.agent(track.agent);
        let gpu = if agent.kind == rtl_schema::table::AgentKind::Gpu { agent.number } else { -1 };
        format!("process {:?} gpu {gpu}", tables.process(track.process).pid)
    };
    let shape = |shape: Option<ShapeId>| {
        let Shape { items, workgroup, lds, scratch, .. } =
            shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
        format!("{items:?} {workgroup:?} {lds:?} {scratch:?}")
    };
    // An op refers to its call by a number that another file need not have.
    let call = |track: TrackId, correlation: i64| {
        let space = |process: rtl_schema::ProcessId| tables.process(process).space;
        let own = space(tables.tracks.get(track).process);
        let calls = &tables.api_calls;
        let found = (0..calls.len()).find(|&row| {
            correlation != 0
                && calls.correlation.get(row) == correlation
                && space(calls.process.get(row)) == own
        });
        found.map(|row| calls.start[row])
    };
    // RPD knows an op's thread by its call.
    let tid = |tid: Option<i64>, call: Option<i64>| tid.filter(|_| call.is_none());
    let mut lines = Vec::new();
    for row in tables.dispatches.iter().filter(|row| row.duration.is_some()) {
        let name = text(row.name);
        lines.push(format!(
            "kernel {name} {} at {} for {:?} by {:?} {:?} as {} {}",
            place(row.track),
            row.start,
            row.duration,
            tid(row.tid, call(row.track, row.correlation)),
            call(row.track, row.correlation),
            shape(row.shape),
            row.graph
        ));
    }
    for row in tables.copies.iter().filter(|row| row.duration.is_some()) {
        lines.push(format!(
            "copy {:?} {} at {} for {:?} by {:?} {:?} of {:?}",
            row.direction,
            place(row.track),
            row.start,
            row.duration,
            tid(row.tid, call(row.track, row.correlation)),
            call(row.track, row.correlation),
            row.bytes
        ));
    }
    for row in tables.barriers.iter().filter(|row| row.duration.is_some()) {
        lines.push(format!("barrier {} at {} for {:?}", place(row.track), row.start, row.duration));
    }
    for row in tables.ranges.iter().filter(|row| row.is_marker() || row.duration.is_some()) {
        let duration = if row.is_marker() { Some(0) } else { row.duration };
        // RPD always says a thread.
        let tid = row.tid.filter(|&tid| tid != 0);
        lines.push(format!("range {} {tid:?} at {} for {duration:?}", text(row.name), row.start));
    }
    for row in tables.api_calls.iter().filter(|row| row.duration.is_some()) {
        let texts = [row.name, row.domain, row.category].map(text);
        let pid = tables.process(row.process).pid;
        lines.push(format!("call {texts:?} {pid:?} {:?} at {} for {:?}", row.tid, row.start, row.duration));
    }
    for row in &tables.monitors {
        let texts = [row.device_kind, row.name, row.value].map(text);
        lines.push(format!("monitor {texts:?} {} {} {}", row.device, row.start, row.end));
    }
    let mut counters: Vec<String> =
        tables.counters.iter().map(|row| format!("counter {} {}", text(row.name), row.value)).collect();
    lines.append(&mut counters);
    lines.extend(tables.stack_frames.iter().map(|row| format!("frame {} {}", row.depth, text(row.name))));
    lines.sort();
    lines
}

#[track_caller]
fn assert_same(before: &[String], after: &[String], what: &str) {
    for (before, after) in before.iter().zip(after) {
        assert_eq!(before, after, "{what}");
    }
    assert_eq!(before.len(), after.len(), "{what}");
}

fn count(path: &Path, sql: &str) -> Result<i64> {
    Ok(Connection::open(path)?.query_row(sql, [], |row| row.get(0))?)
}

/// Converts to RPD and back, through a native file too, and asks every view for all its rows.
fn check(path: &Path, what: &str) -> Result {
    let before = read(path)?;
    let (file, _) = rpd(path)?;
    let after = read(&file)?;
    assert_eq!(after.info.dialect, Dialect::Rpd3, "{what}");
    assert_same(&held(&before), &held(&after), what);
    let again = rpd(&native(&file)?)?.0;
    assert_same(&held(&after), &held(&read(&again)?), &format!("{what}, RPD to native to RPD"));
    all_rows_are_in_views(&file, what)
}

#[track_caller]
fn all_rows_are_in_views(path: &Path, what: &str) -> Result {
    for (view, rows) in [
        ("api", "rocpd_api"),
        ("op", "rocpd_op"),
        ("napi", "rocpd_api"),
        ("nop", "rocpd_op"),
        ("copy", "rocpd_copyapi"),
        ("stackframe", "rocpd_stackframe"),
        ("kernel", "rocpd_api_ops WHERE api_id IN (SELECT api_ptr_id FROM rocpd_kernelapi)"),
        ("copyop", "rocpd_api_ops WHERE api_id IN (SELECT api_ptr_id FROM rocpd_copyapi)"),
    ] {
        let shown = count(path, &format!("SELECT count(*) FROM (SELECT * FROM {view})"))?;
        assert_eq!(shown, count(path, &format!("SELECT count(*) FROM {rows}"))?, "{what}: {view}");
    }
    let calls = count(path, "SELECT ifnull(sum(TotalCalls), 0) FROM top")?;
    assert_eq!(calls, count(path, "SELECT count(*) FROM rocpd_op")?, "{what}: top");
    let linked = "SELECT count(*) FROM rocpd_op WHERE id NOT IN (SELECT op_id FROM rocpd_api_ops)";
    assert_eq!(count(path, linked)?, 0, "{what}: rpd_trim deletes ops without a call");
    let integrity: String =
        Connection::open(path)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    assert_eq!(integrity, "ok", "{what}");
    assert_eq!(count(path, "SELECT count(*) FROM pragma_foreign_key_check")?, 0, "{what}");
    Ok(())
}

#[test]
fn every_story_in_every_layout_becomes_rpd_and_reads_back() -> Result {
    for name in fixture_names() {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            if layout == Layout::Rpd3 && name == "bad-rows" {
                continue;
            }
            check(&fixture_in(&name, layout), &format!("{name} {layout:?}"))?;
        }
    }
    Ok(())
}

#[test]
fn generated_traces_become_rpd_and_read_back() -> Result {
    let folder = tempfile::tempdir()?;
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        for api in [false, true] {
            let path = folder.path().join(format!("{layout:?}-{api}.db"));
            generate(&Options { layout, ops: 700, api, ranges: true, ..Options::default() }, &path)?;
            check(&path, &format!("{layout:?} {api}"))?;
        }
    }
    Ok(())
}

#[test]
fn foreign_traces_become_rpd_and_read_back() -> Result {
    let Some(shared) = support::shared() else { return Ok(()) };
    for folder in ["traces/made", "traces/real"] {
        for entry in std::fs::read_dir(shared.join(folder))? {
            let path = entry?.path();
            check(&path, &path.display().to_string())?;
        }
    }
    Ok(())
}

#[test]
fn the_views_that_rpd_ships_show_every_row_of_our_files() -> Result {
    let Some(shared) = support::shared() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("trace.db");
    generate(&Options { ops: 3_000, api: true, ranges: true, ..Options::default() }, &source)?;
    let file = rpd(&source)?.0;
    let shipped: Vec<(String, String)> = Connection::open(shared.join("traces/made/rpd3.rpd"))?
        .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'view'")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    assert_eq!(shipped.len(), 10);
    let connection = Connection::open(&file)?;
    for (name, sql) in shipped {
        let columns = |connection: &Connection| -> Result<Vec<String>> {
            let statement = connection.prepare(&format!("SELECT * FROM {name}"))?;
            Ok(statement.column_names().map(str::to_lowercase).collect())
        };
        let ours = columns(&connection)?;
        connection.execute_batch(&format!("DROP VIEW {name}; {sql}"))?;
        assert_eq!(ours, columns(&connection)?, "{name}");
    }
    drop(connection);
    all_rows_are_in_views(&file, "RPD's own views")
}

#[test]
fn a_row_without_an_end_is_left_out_and_counted() -> Result {
    let (file, left_out) = rpd(&fixture_in("bad-rows", Layout::Native))?;
    let before = read(&fixture_in("bad-rows", Layout::Native))?;
    let endless = before.dispatches.iter().filter(|row| row.duration.is_none()).count();
    assert_eq!(left_out, endless as u64);
    assert_eq!(read(&file)?.dispatches.len(), before.dispatches.len() - endless);
    Ok(())
}

#[test]
fn another_session_of_rpd_finds_ids_that_are_free() -> Result {
    let (file, _) = rpd(&fixture_in("two-kernels", Layout::Native))?;
    assert_eq!(
        count(&file, "SELECT CAST(value AS integer) FROM rocpd_metadata WHERE tag = 'session_count'")?,
        1
    );
    let last = count(&file, "SELECT max(id) FROM rocpd_op")?;
    let connection = Connection::open(&file)?;
    connection.execute("INSERT INTO rocpd_op VALUES (NULL, 0, 0, 0, 1, 2, 1, 1)", [])?;
    assert_eq!(connection.last_insert_rowid(), last + 1);
    Ok(())
}

#[test]
fn a_kernel_without_a_name_stays_one() -> Result {
    let path = fixture_in("two-kernels", Layout::Native);
    Connection::open(&path)?
        .execute("UPDATE rocpd_op SET description_id = NULL WHERE id = (SELECT min(id) FROM rocpd_op)", ())?;
    let unnamed = |path: &Path| -> Result<usize> {
        Ok(read(path)?.dispatches.iter().filter(|row| row.name == NameId::NONE).count())
    };
    assert_eq!([unnamed(&path)?, unnamed(&rpd(&path)?.0)?], [1, 1]);
    check(&path, "a kernel without a name")
}
