use proptest::prelude::*;
use rtl_schema::table::{Direction, Dispatch, Dispatches, Track, Tracks};
use rtl_schema::{Dialect, Tables, TrackId};
use rtl_write::NativeWriter;
use support::Layout;
use support::rusqlite::{Connection, OpenFlags};

use crate::rocprofv3::lines::held;
use crate::rocprofv3::{Folder, HAZARDS, arbitrary, hostile_names, read, story_of_names};

fn open(folder: &Folder, name: &str) -> Connection {
    Connection::open(folder.path(name)).unwrap()
}

fn count(database: &Connection, table: &str) -> i64 {
    database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// Checks of every file: SQLite finds nothing wrong with it, and its views show every row.
#[track_caller]
fn assert_whole(database: &Connection) {
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    assert_eq!(count(database, "pragma_foreign_key_check"), 0);
    for (view, tables) in [
        ("kernels", &["rocpd_kernel_dispatch"][..]),
        ("memory_copies", &["rocpd_memory_copy"]),
        ("memory_allocations", &["rocpd_memory_allocate"]),
        ("regions", &["rocpd_region"]),
        ("samples", &["rocpd_sample"]),
        ("regions_and_samples", &["rocpd_region", "rocpd_sample"]),
        ("events_args", &["rocpd_arg"]),
        ("pmc_events", &["rocpd_pmc_event"]),
        ("kernel_symbols", &["rocpd_info_kernel_symbol"]),
        ("processes", &["rocpd_info_process"]),
        ("threads", &["rocpd_info_thread"]),
        (
            "rocpd_event",
            &[
                "rocpd_kernel_dispatch",
                "rocpd_memory_copy",
                "rocpd_memory_allocate",
                "rocpd_region",
                "rocpd_sample",
            ],
        ),
    ] {
        let rows: i64 = tables.iter().map(|table| count(database, table)).sum();
        assert_eq!(count(database, view), rows, "{view}");
    }
}

/// Rows as this database can hold them: its columns must have a value, so unknown streams are 0, and schema
/// 3.0.0 has none for graphs.
fn as_stored(tables: &Tables) -> Vec<String> {
    let mut tables = tables.clone();
    let mut tracks = Tracks::default();
    let known: Vec<TrackId> = tables
        .tracks
        .rows()
        .iter()
        .map(|track| tracks.intern(Track { stream: track.stream.or(Some(0)), ..*track }))
        .collect();
    let dispatches: Vec<Dispatch> = tables.dispatches.iter().collect();
    tables.dispatches = Dispatches::default();
    for row in dispatches {
        tables.dispatches.push(Dispatch { track: known[row.track.index()], graph: false, ..row });
    }
    for copy in &mut tables.copies {
        copy.track = known[copy.track.index()];
        // A copy within one device has two ends there.
        if copy.direction == Direction::DeviceToDevice && copy.source == Some(tracks.get(copy.track).agent) {
            copy.source = None;
        }
    }
    tables.tracks = tracks;
    held(&tables)
}

#[test]
fn hazards_are_in_every_view_and_come_back_as_they_were() {
    for (what, story) in HAZARDS {
        let folder = Folder::story(story);
        folder.answer("in.db -o out_results.db");
        assert_whole(&open(&folder, "out_results.db"));
        let (before, after) = (read(&folder.path("in.db")), read(&folder.path("out_results.db")));
        assert_eq!(after.info.dialect, Dialect::Rocprofiler, "{what}");
        assert_eq!(as_stored(&after), as_stored(&before), "{what}");
        assert!(after.problems.iter().next().is_none(), "{what}: {:?}", after.problems);
    }
}

#[test]
fn hostile_names_come_back_as_they_were() {
    let folder = Folder::story(&story_of_names(&hostile_names()));
    folder.answer("in.db -o out.db --to rocpd");
    assert_whole(&open(&folder, "out.db"));
    assert_eq!(as_stored(&read(&folder.path("out.db"))), as_stored(&read(&folder.path("in.db"))));
}

/// Names and columns of all views but those of one table.
fn shipped(database: &Connection) -> Vec<(String, Vec<String>)> {
    let names = "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name";
    let names: Vec<String> = database
        .prepare(names)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let columns = |name: &str| {
        let mut statement = database.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
        let columns = statement.query_map([name], |row| row.get(0)).unwrap();
        columns.map(Result::unwrap).collect()
    };
    names.into_iter().map(|name| (columns(&name), name)).map(|(columns, name)| (name, columns)).collect()
}

#[test]
fn views_and_tables_have_the_names_and_columns_of_rocprofv3s() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    let made = shared.join("traces/made/rocprofv3-rank0.db");
    folder.answer(&format!("{} -o out_results.db", made.display()));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let original =
        Connection::open_with_flags(format!("file:{}?immutable=1", made.display()), flags).unwrap();
    let written = open(&folder, "out_results.db");
    assert_eq!(shipped(&written), shipped(&original));
    assert_whole(&written);
}

/// Every row of a view as text, in order; what is only a number of the file is left out.
fn rows(database: &Connection, view: &str) -> Vec<String> {
    let mut statement = database.prepare(&format!("SELECT * FROM {view}")).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let own = ["id", "event_id", "nid", "extdata", "event_extdata", "pmc_id", "counter_id"];
    let kept: Vec<usize> = (0..names.len()).filter(|&at| !own.contains(&names[at].as_str())).collect();
    let text = |row: &support::rusqlite::Row<'_>| {
        let cells = kept.iter().map(|&at| format!("{}={:?}", names[at], row.get_ref(at).unwrap()));
        Ok(cells.collect::<Vec<_>>().join(" "))
    };
    let mut rows: Vec<String> = statement.query_map([], text).unwrap().map(Result::unwrap).collect();
    rows.sort();
    rows
}

#[test]
fn the_views_that_rocprofv3_ships_show_the_rows_of_its_own_file() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    let made = shared.join("traces/made/rocprofv3-rank0.db");
    folder.answer(&format!("{} -o out_results.db", made.display()));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let original =
        Connection::open_with_flags(format!("file:{}?immutable=1", made.display()), flags).unwrap();
    let written = open(&folder, "out_results.db");
    let own = [
        "kernels",
        "memory_copies",
        "regions",
        "samples",
        "memory_allocations",
        "counters_collection",
        "busy",
        "top",
    ];
    let before: Vec<Vec<String>> = own.iter().map(|view| rows(&written, view)).collect();
    // rocprofv3's own views take the place of ours.
    let views = "SELECT name, sql FROM sqlite_schema WHERE type = 'view' AND name NOT LIKE 'rocpd%'";
    let views: Vec<(String, String)> = original
        .prepare(views)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(views.len(), 21);
    views.iter().for_each(|(name, _)| written.execute_batch(&format!("DROP VIEW {name}")).unwrap());
    views.iter().for_each(|(_, sql)| written.execute_batch(sql).unwrap());
    for (view, before) in own.iter().zip(before) {
        assert_eq!(rows(&written, view), before, "{view} by rocprofv3's statement");
        assert_eq!(count(&original, view), before.len() as i64, "{view}");
    }
}

#[test]
fn processes_share_a_file_and_keep_their_identity() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    folder.answer(&format!("{} -o out_results.db", shared.join("traces/made/rocprofv3-rank1.db").display()));
    let before = read(&shared.join("traces/made/rocprofv3-rank1.db"));
    let after = read(&folder.path("out_results.db"));
    assert_eq!(after.processes[0].guid, before.processes[0].guid);
    assert_eq!(
        (after.processes[0].pid, after.processes[0].rank),
        (before.processes[0].pid, before.processes[0].rank)
    );
    assert_eq!(held(&after), held(&before));
    assert_eq!(after.counters.len(), before.counters.len());
}

#[test]
fn several_processes_are_several_sets_of_tables() {
    let folder = Folder::story(
        "INSERT INTO rocpd_metadata(tag, value) VALUES ('process', '{\"pid\":7,\"space\":0}'), ('process', '{\"pid\":8,\"space\":1}');
         INSERT INTO rocpd_string(string) VALUES ('one'), ('two');
         INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, pid)
            SELECT 0, 0, 10, 20, (SELECT id FROM rocpd_string WHERE string = 'one'), 2, 0, 7
            UNION ALL SELECT 0, 0, 10, 20, (SELECT id FROM rocpd_string WHERE string = 'two'), 2, 0, 8;",
    );
    assert_eq!(folder.answer("in.db -o out_results.db"), "Written out_results.db: 2 rows in, 2 out\n");
    let database = open(&folder, "out_results.db");
    assert_whole(&database);
    let shown = "SELECT group_concat(name || ' of ' || pid, ', ') FROM (SELECT * FROM kernels ORDER BY pid)";
    let shown: String = database.query_row(shown, [], |row| row.get(0)).unwrap();
    assert_eq!(shown, "one of 7, two of 8");
    assert_eq!(read(&folder.path("out_results.db")).processes.len(), 2);
}

#[test]
fn a_row_can_be_added_to_a_finished_file() {
    let folder = Folder::story(HAZARDS[2].1);
    folder.answer("in.db -o out_results.db");
    let database = open(&folder, "out_results.db");
    let table: String = database
        .query_row("SELECT name FROM sqlite_schema WHERE name LIKE 'rocpd_event_0%'", [], |row| row.get(0))
        .unwrap();
    database.execute_batch(&format!("INSERT INTO {table}(stack_id) VALUES (5)")).unwrap();
    let row: (i64, String) = database
        .query_row(&format!("SELECT id, extdata FROM {table} WHERE stack_id = 5"), [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(row, (2, "{}".to_owned()));
}

#[test]
fn what_rocprofv3_recorded_goes_from_its_database_to_its_json_and_back() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    for rank in 0..2 {
        let made = shared.join(format!("traces/made/rocprofv3-rank{rank}.db"));
        folder.answer(&format!("{} -o out_results.json.gz --force", made.display()));
        folder.answer("out_results.json.gz -o out_results.db --force");
        let [before, json, after] =
            [made, folder.path("out_results.json.gz"), folder.path("out_results.db")].map(|path| read(&path));
        assert_eq!(held(&json), held(&before));
        assert_eq!(as_stored(&after), as_stored(&before));
        assert!(held(&before).iter().any(|line| line.starts_with("counter")));
    }
}

#[test]
fn what_calls_returned_goes_to_json_and_database_and_comes_back() {
    let folder = Folder::new();
    let calls = "HIP: pid:7 tid:8 hipFree (ptr=0x1) ret=719 @10 +5\nHIP: pid:7 tid:8 hipMalloc (ptr=0x1) ret=0 @20 +5\n";
    std::fs::write(folder.path("in.txt"), calls).unwrap();
    folder.answer("in.txt -o out_results.json");
    folder.answer("out_results.json -o out_results.db");
    for name in ["in.txt", "out_results.json", "out_results.db"] {
        let tables = read(&folder.path(name));
        let text = |id| tables.strings.get(id);
        let calls: Vec<_> = tables.api_calls.iter().map(|call| (text(call.name), call.result)).collect();
        assert_eq!(calls, [("hipFree", 719), ("hipMalloc", 0)], "{name}");
    }
    let arguments =
        "SELECT group_concat(type || ' ' || name || ' ' || value) FROM region_args WHERE name = 'retval'";
    let shown: String = open(&folder, "out_results.db").query_row(arguments, [], |row| row.get(0)).unwrap();
    assert_eq!(shown, "hipError_t retval 719");
}

#[test]
fn a_trace_that_comes_in_pieces_is_written_as_a_whole() {
    let folder = Folder::new();
    let options = support::Options { ops: 70_000, layout: Layout::Rpd3, ..support::Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    let source = open(&folder, "in.db");
    let kinds = "SELECT count(*), sum(end - start) FROM rocpd_op o JOIN rocpd_string s ON s.id = o.opType_id
        WHERE (s.string LIKE 'Copy%' OR s.string LIKE 'Fill%') = ?1";
    let sums = |database: &Connection, sql: &str, copies: bool| -> (i64, i64) {
        database.query_row(sql, [copies], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    };
    folder.answer("in.db -o out_results.db");
    let written = open(&folder, "out_results.db");
    assert_whole(&written);
    for (view, copies) in [("kernels", false), ("memory_copies", true)] {
        let all = format!("SELECT count(*), sum(duration) FROM {view} WHERE ?1 IS NOT NULL");
        let expected = sums(&source, kinds, copies);
        assert_eq!(sums(&written, &all, copies), expected, "{view}");
        assert!(expected.0 > 500, "{view}");
    }
    folder.answer("in.db -o run --to rocprofv3-csv");
    let lines = std::fs::read_to_string(folder.path("run_kernel_trace.csv")).unwrap().lines().count() as i64;
    assert_eq!(lines - 1, sums(&source, kinds, false).0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(8), ..ProptestConfig::default() })]
    #[test]
    fn what_a_database_can_hold_comes_back(tables in arbitrary::trace()) {
        let folder = Folder::new();
        let mut writer = NativeWriter::create(folder.path("in.db")).unwrap();
        writer.push_tables(&tables).unwrap();
        writer.finish().unwrap();
        folder.answer("in.db -o out_results.db");
        assert_whole(&open(&folder, "out_results.db"));
        let (before, after) = (read(&folder.path("in.db")), read(&folder.path("out_results.db")));
        prop_assert_eq!(as_stored(&after), as_stored(&before));
    }
}

#[test]
fn names_of_agents_go_from_database_to_database() {
    let folder = Folder::new();
    {
        let rocpd = support::rocprofiler::Rocpd::create(&folder.path("in.db")).unwrap();
        let set = rocpd.set("0000ddb5-8903-7903-b269-cd8d3745bb8a", "3").unwrap();
        set.run(
            "insert into rocpd_info_node$ (id, machine_id) values (1, 'machine');
             insert into rocpd_info_process$ (id, nid, pid) values (7, 1, 7);
             insert into rocpd_info_agent$ (id, nid, pid, type, absolute_index, name, vendor_name, model_name, product_name, user_name, extdata)
                values (4, 1, 7, 'GPU', 4, 'gfx942', 'AMD', 'aqua', 'AMD Instinct MI300X', 'AMD Instinct MI300X', '{\"cu_count\": 304}')",
        )
        .unwrap();
    }
    folder.answer("in.db -o out_results.db");
    let names: [String; 5] = open(&folder, "out_results.db")
        .query_row(
            "SELECT name, vendor_name, model_name, product_name, user_name FROM rocpd_info_agent WHERE type = 'GPU'",
            [],
            |row| Ok([0, 1, 2, 3, 4].map(|at| row.get(at).unwrap())),
        )
        .unwrap();
    assert_eq!(names, ["gfx942", "AMD", "aqua", "AMD Instinct MI300X", "AMD Instinct MI300X"]);
}
