//! rocm-trace-lite's files: what each column turns into, and what its own tools get wrong.

use crate::fixture::{LITE, everything, problems, selected, texts};
use rtl_schema::table::{AgentKind, Direction, RangeKind};
use rtl_schema::{Dialect, NameId, Select, Trace};

const STRINGS: &str =
    "insert into rocpd_string values (1, 'gemm'), (2, 'KernelExecution'), (3, 'UserMarker'),
    (4, 'decode'), (5, 'softmax'), (6, 'CopyDeviceToDevice'), (7, 'CopyDeviceToDevice:4096');";

fn lite(rows: &str) -> rtl_schema::Tables {
    everything(&format!("{LITE}{STRINGS}{rows}"))
}

#[test]
fn kernels_carry_name_place_time_shape_and_range() {
    let tables = lite(
        "insert into rocpd_op values
            (1, 3, 140000, 0, 'hwq=0x7f00aa wg=256,1,1 grid=1000,2,1', 100, 160, 1, 2, 9),
            (2, 0, 5, 0, 'hwq=0x7f00bb wg=256,1,1 grid=1000,2,1', 200, 210, 5, 2, 0);",
    );
    let [first, second] = [tables.dispatches.get(0), tables.dispatches.get(1)];
    assert_eq!(texts(&tables, [first.name, second.name]), ["gemm", "softmax"]);
    assert_eq!((first.id, first.start, first.duration, first.range), (1, 100, Some(60), 9));
    assert_eq!((second.id, second.start, second.duration, second.range), (2, 200, Some(10), 0));
    let track = tables.tracks.get(first.track);
    assert_eq!((track.queue, track.hardware_queue), (140_000, Some(0x7f_00aa)));
    assert_eq!(tables.agent(track.agent).number, 3);
    assert_eq!(tables.agents.iter().map(|agent| agent.number).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(first.shape, second.shape);
    let shape = tables.shapes.get(first.shape.expect("a shape"));
    assert_eq!(shape.items, Some([1000, 2, 1]));
    assert_eq!(shape.workgroup, Some([256, 1, 1]));
    assert_eq!(shape.groups, Some([4, 2, 1]));
    assert_eq!((shape.lds, shape.scratch), (None, None));
    assert!(tables.info.range_ids && !tables.info.linked);
}

#[test]
fn markers_are_ranges_and_not_kernels() {
    let tables = lite(
        "insert into rocpd_op values (1, -1, 0, 0, null, 100, 900, 4, 3, 7), (2, -1, 0, 0, null, 150, 150, 4, 3, 8),
            (3, -1, 0, 0, null, 160, 160, null, 3, 9), (4, 0, 0, 0, null, 200, 300, 1, 2, 7);",
    );
    assert_eq!((tables.dispatches.len(), tables.dispatches.range.get(0)), (1, 7));
    let kinds: Vec<_> = tables.ranges.iter().map(|range| (range.id, range.kind, range.duration)).collect();
    assert_eq!(
        kinds,
        [
            (7, RangeKind::Unknown, Some(800)),
            (8, RangeKind::Marker, Some(0)),
            (9, RangeKind::Marker, Some(0))
        ]
    );
    assert_eq!(
        texts(&tables, tables.ranges.iter().map(|range| range.name)),
        ["decode", "decode", "(no name)"]
    );
    assert_eq!(tables.agents.len(), 1, "GPU -1 is no agent");
}

#[test]
fn an_older_file_has_no_range_ids() {
    let old = LITE.replace(",\n        roctxId integer default 0", "");
    let tables = everything(&format!(
        "{old}{STRINGS} insert into rocpd_op values (1, 0, 0, 0, null, 10, 30, 1, 2), (2, -1, 0, 0, null, 5, 40, 4, 3);"
    ));
    assert_eq!(tables.info.dialect, Dialect::Lite);
    assert_eq!(tables.info.tool, "rocm-trace-lite");
    assert!(!tables.info.range_ids);
    assert_eq!(tables.dispatches.range.uniform(), Some(0));
    assert_eq!(tables.ranges[0].id, 2);
}

#[test]
fn bad_rows_are_counted_and_never_fatal() {
    let tables = lite(
        "insert into rocpd_op values (1, 0, 0, 0, null, 10, null, 1, 2, 0), (2, 0, 0, 0, null, 50, 40, 1, 2, 0),
            (3, 0, 0, 0, null, null, 40, 1, 2, 0), (4, 0, 0, 0, null, 60, 61, null, 2, 0),
            (5, 0, 0, 0, null, 70, 72, 99, 2, 0), (6, null, null, 0, null, 80, 83, 1, 2, 0),
            (7, 0, 0, 0, null, 90, 95, 1, null, 0), (8, 0, 0, 0, 'garbage', 96, 97, 1, 98, 0),
            (9, 0, 0, 0, null, -9223372036854775807, 9223372036854775807, 1, 2, 0);",
    );
    let durations: Vec<_> =
        tables.dispatches.iter().map(|dispatch| (dispatch.id, dispatch.duration)).collect();
    assert_eq!(
        durations,
        [
            (1, None),
            (2, Some(-10)),
            (4, Some(1)),
            (5, Some(2)),
            (6, Some(3)),
            (7, Some(5)),
            (8, Some(1)),
            (9, None)
        ]
    );
    assert_eq!(tables.dispatches.name[2], NameId::NONE);
    assert_eq!(tables.dispatches.name[3], NameId::DANGLING);
    assert_eq!(
        problems(&tables),
        [
            "MissingStart rocpd_op.start 1 3",
            "DanglingName rocpd_op.description_id 1 5",
            "DanglingName rocpd_op.opType_id 1 8"
        ]
    );
    let homeless = tables.agent(tables.tracks.get(tables.dispatches.track[4]).agent);
    assert_eq!((homeless.kind, homeless.number), (AgentKind::Unknown, -1));
}

#[test]
fn the_copies_it_could_write_are_copies() {
    let tables = lite("insert into rocpd_op values (1, 2, 0, 0, null, 10, 30, 7, 6, 4);");
    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.duration, copy.range), (Direction::DeviceToDevice, Some(20), 4));
    assert_eq!((copy.bytes, copy.source, copy.destination), (None, None, None));
    assert_eq!(tables.strings.get(copy.name), "CopyDeviceToDevice:4096");
    assert!(tables.dispatches.is_empty());
}

#[test]
fn one_pid_is_the_process_and_several_leave_it_unknown() {
    let op = "insert into rocpd_op values (1, 0, 0, 0, null, 10, 30, 1, 2, 0);";
    let one = lite(&format!("{op} insert into rocpd_metadata values (1, 'pid', '1234');"));
    assert_eq!(one.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [Some(1234)]);
    let merged = lite(&format!("{op} insert into rocpd_metadata values (1, 'pid', '1'), (2, 'pid', '2');"));
    assert_eq!(merged.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [None]);
    assert_eq!(merged.info.metadata.len(), 2);
    let none = lite(op);
    assert_eq!(none.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [None]);
}

#[test]
fn calls_have_no_arguments_where_those_are_null() {
    let tables = lite(
        "insert into rocpd_metadata values (1, 'pid', '77');
         insert into rocpd_string values (10, 'hipMalloc'), (11, 'size=64'), (12, 'hipFree');
         insert into rocpd_api values (1, 77, 78, 100, 120, 10, 11), (2, 77, 79, 130, null, 12, null),
            (3, 77, 79, null, 140, 12, null);",
    );
    let calls: Vec<_> = tables.api_calls.iter().map(|call| (call.id, call.tid, call.duration)).collect();
    assert_eq!(calls, [(1, Some(78), Some(20)), (2, Some(79), None)]);
    assert_eq!(texts(&tables, tables.api_calls.args.iter()), ["size=64", "(no name)"]);
    assert_eq!(tables.api_calls.domain.uniform(), Some(NameId::NONE));
    assert_eq!(problems(&tables), ["MissingStart rocpd_api.start 1 3"]);
    assert_eq!(tables.processes.len(), 1);
}

#[test]
fn what_is_not_selected_is_not_read() {
    let rows = "insert into rocpd_op values (1, 0, 0, 0, 'hwq=0x1 wg=64,1,1 grid=64,1,1', 10, 30, 1, 2, 5),
        (2, -1, 0, 0, null, 5, 40, 4, 3, 5); insert into rocpd_api values (1, 77, 78, 100, 120, 1, 1);";
    let tables = selected(&format!("{LITE}{STRINGS}{rows}"), &Select::ops());
    let dispatch = tables.dispatches.get(0);
    assert_eq!((dispatch.id, dispatch.range, dispatch.shape), (0, 0, None));
    assert_eq!((dispatch.start, dispatch.duration), (10, Some(20)));
    assert_eq!(tables.tracks.get(dispatch.track).hardware_queue, None);
    assert!(tables.ranges.is_empty() && tables.api_calls.is_empty() && tables.shapes.rows().is_empty());
}

#[test]
fn sampled_quantities_and_unknown_tables_are_kept() {
    let tables = lite(
        "insert into rocpd_monitor values (1, 'gpu', 0, 'sclk', 10, 20, '2100');
         create table ext_notes (id integer primary key, note text, weight real);
         insert into ext_notes values (5, 'a', 0.5), (6, null, 1);",
    );
    let monitor = tables.monitors[0];
    assert_eq!(texts(&tables, [monitor.device_kind, monitor.name, monitor.value]), ["gpu", "sclk", "2100"]);
    assert_eq!((monitor.device, monitor.start, monitor.end), (0, 10, 20));
    let extra = &tables.opaque_tables[0];
    assert_eq!((extra.name.as_str(), extra.rows.len()), ("ext_notes", 2));
    assert_eq!(extra.columns, ["id", "note", "weight"]);
    assert!(extra.create.starts_with("CREATE TABLE ext_notes"));
}

#[test]
fn the_golden_files_answer_as_sqlite_does() {
    let Some(shared) = support::shared() else { return };
    let mut files = 0;
    for name in ["one_queue", "two_queues", "multi_hwq", "markers", "hip_api", "empty"] {
        let path = shared.join(format!("golden/rocm-trace-lite/{name}.db"));
        let tables = Trace::open(&path).expect("a trace").read(&Select::everything()).expect("its rows");
        let connection = rusqlite::Connection::open_with_flags(
            format!("file:{}?immutable=1", path.display()),
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI,
        )
        .expect("a database");
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
        assert_eq!(tables.info.dialect, Dialect::Lite);
        let kernels = number("select count(*) from rocpd_op where gpuId >= 0");
        assert_eq!(tables.dispatches.len() as i64, kernels, "{name}");
        let total: i64 = tables.dispatches.iter().filter_map(|dispatch| dispatch.duration).sum();
        assert_eq!(
            total,
            number("select ifnull(sum(end - start), 0) from rocpd_op where gpuId >= 0"),
            "{name}"
        );
        assert_eq!(
            tables.ranges.len() as i64,
            number("select count(*) from rocpd_op where gpuId < 0"),
            "{name}"
        );
        assert_eq!(tables.api_calls.len() as i64, number("select count(*) from rocpd_api"), "{name}");
        let shaped = tables.dispatches.shape.iter().flatten().count() as i64;
        let signals = "select count(*) from rocpd_op where completionSignal like '%wg=%'";
        assert_eq!(shaped, number(signals), "{name}");
        files += 1;
    }
    assert_eq!(files, 6);
}
