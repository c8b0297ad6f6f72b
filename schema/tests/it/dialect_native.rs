//! Our own files: what the columns beyond rocm-trace-lite's turn into, and that nothing is lost on the way
//! from any other dialect into them and back.

use crate::fixture;
use crate::fixture::{RPD3, database, problems, texts};
use rtl_schema::table::{AgentKind, AllocationLevel, Direction, RangeKind};
use rtl_schema::{Dialect, NameId, Select, Tables, Trace};
use rtl_write::NativeWriter;

/// A native file in full, but for the tables that a test adds.
fn native(rows: &str) -> Tables {
    fixture::everything(&format!(
        "create table rocpd_string (id integer primary key, string text);
         create table rocpd_metadata (id integer primary key, tag text, value text);
         create table rocpd_op (id integer primary key, gpuId integer, queueId integer,
            completionSignal text generated always as ('hwq=' || queueId || ' wg=' || workgroupX) virtual,
            start integer, end integer, description_id integer, opType_id integer, roctxId integer default 0,
            gridX integer, workgroupX integer, tid integer, correlationId integer, lds integer, scratch integer,
            gridY integer, workgroupY integer, gridZ integer, workgroupZ integer, symbol integer,
            sequenceId integer, pid integer, streamId integer, bytes integer, peer integer, category_id integer);
         insert into rocpd_metadata (tag, value) values ('rtl_schema', '1'), ('tool', 'rtl'), ('mode', 'lite');
         insert into rocpd_string values (1, ''), (2, 'KernelExecution'), (3, 'CopyDeviceToDevice'),
            (4, 'UserMarker'), (5, 'gemm'), (6, 'step'), (7, 'Barrier'), (8, 'Task');
         {rows}"
    ))
}

#[test]
fn a_kernel_has_all_that_its_columns_say() {
    let tables = native(
        r#"insert into rocpd_metadata (tag, value) values ('pid', '42'), ('rank', '3'), ('lost:signals', '7'),
            ('gpu', '{"number":1,"target":"gfx942","product":"MI300X"}'),
            ('queue', '{"gpuId":1,"queueId":0,"source":9000000,"hardware":139000}'),
            ('kernel', '{"id":10,"pid":42,"name":"gemm","vgprs":128}'),
            ('kernel', '{"id":11,"pid":42,"name":"gemm","vgprs":64}');
        insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, roctxId, gridX, workgroupX,
            tid, correlationId, lds, scratch, gridY, symbol, streamId) values
            (1, 1, 0, 100, 160, 5, 2, 77, 1000, 256, 43, 9, 512, 16, 4, null, 2),
            (2, 1, 0, 200, 210, 5, 8, 0, null, null, null, null, null, null, null, 11, null),
            (3, 1, 0, 300, 310, 5, 2, 0, null, null, null, null, null, null, null, -1, null),
            (4, 1, 0, 400, 410, 5, 2, 0, null, null, null, null, null, null, null, 99, null);"#,
    );
    let first = tables.dispatches.get(0);
    assert_eq!((first.tid, first.correlation, first.range, first.graph), (Some(43), 9, 77, false));
    let shape = tables.shapes.get(first.shape.expect("a shape"));
    assert_eq!((shape.items, shape.workgroup), (Some([1000, 4, 1]), Some([256, 1, 1])));
    assert_eq!((shape.groups, shape.lds, shape.scratch), (Some([4, 4, 1]), Some(512), Some(16)));
    let track = tables.tracks.get(first.track);
    assert_eq!((track.queue, track.hardware_queue, track.stream), (9_000_000, Some(139_000), Some(2)));
    assert_eq!(tables.agent(track.agent).target.as_deref(), Some("gfx942"));
    let registers =
        |row: usize| tables.dispatches.symbol.get(row).and_then(|id| tables.symbols[id.index()].vgprs);
    assert_eq!([0, 1, 2, 3].map(registers), [Some(128), Some(64), None, None]);
    assert!(tables.dispatches.graph.get(1));
    assert_eq!(problems(&tables), ["DanglingReference rocpd_op.symbol 1 4"]);
    let process = tables.process(track.process);
    assert_eq!((process.pid, process.rank), (Some(42), Some(3)));
    assert_eq!(tables.info.losses, [("lost:signals".to_owned(), 7)]);
    assert_eq!(
        (tables.info.mode.as_deref(), tables.info.linked, tables.info.range_ids),
        (Some("lite"), true, true)
    );
}

#[test]
fn launches_that_differ_in_one_column_have_shapes_of_their_own() {
    // Sizes x, y and z, the workgroup, LDS and scratch: two values of each, and NULL but for the first.
    let sizes = |row: u32| -> [Option<u32>; 8] {
        std::array::from_fn(|column| match row / 3_u32.pow(column as u32) % 3 {
            0 => Some(64),
            1 => Some(128),
            _ => (column == 0).then_some(192),
        })
    };
    let text = |value: Option<u32>| value.map_or("null".to_owned(), |value| value.to_string());
    let row = |row: u32| {
        let [x, y, z, width, height, depth, lds, scratch] = sizes(row).map(text);
        format!("(1, 0, {row}, {row}, 5, 2, {x}, {width}, {lds}, {scratch}, {y}, {height}, {z}, {depth})")
    };
    let rows = 3_u32.pow(8);
    // Each shape twice, so that the second one is that of the first.
    let values = (0..rows).chain(0..rows).map(row).collect::<Vec<_>>().join(",");
    let tables = native(&format!(
        "insert into rocpd_op (gpuId, queueId, start, end, description_id, opType_id,
            gridX, workgroupX, lds, scratch, gridY, workgroupY, gridZ, workgroupZ) values {values};"
    ));
    assert_eq!(tables.dispatches.len() as u32, 2 * rows);
    for dispatch in tables.dispatches.iter() {
        let [x, y, z, width, height, depth, lds, scratch] = sizes(dispatch.start as u32);
        let shape = tables.shapes.get(dispatch.shape.unwrap());
        let items = x.map(|x| [x, y.unwrap_or(1), z.unwrap_or(1)].map(u64::from));
        let workgroup = width.map(|width| [width, height.unwrap_or(1), depth.unwrap_or(1)]);
        assert_eq!(
            (shape.items, shape.workgroup, shape.lds, shape.scratch),
            (items, workgroup, lds, scratch)
        );
    }
}

#[test]
fn ops_say_when_they_were_enqueued_and_calls_what_they_returned_where_it_is_known() {
    let tables = native(
        "alter table rocpd_op add column enqueued integer;
         insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, enqueued) values
            (1, 0, 0, 100, 160, 5, 2, 90), (2, 0, 0, 200, 210, 5, 2, null), (3, 0, 0, 300, 310, 5, 2, 305),
            (4, 0, 0, 400, 410, 3, 3, 370), (5, 0, 0, 500, 510, 1, 7, 480);
         create table rocpd_api (id integer primary key, start integer, end integer, apiName_id integer, result integer);
         insert into rocpd_api values (1, 80, 95, 5, 719), (2, 96, 99, 5, null), (3, 99, 99, 5, 0);",
    );
    let dispatches: Vec<_> = tables.dispatches.details.enqueued.iter().collect();
    assert_eq!(dispatches, [Some(90), None, Some(305)]);
    assert_eq!(
        (tables.copies[0].details.enqueued, tables.barriers[0].details.enqueued),
        (Some(370), Some(480))
    );
    assert_eq!(tables.api_calls.result.iter().collect::<Vec<_>>(), [719, 0, 0]);
}

#[test]
fn a_call_says_how_long_it_took_or_when_it_ended() {
    let stored = "create table rocpd_api (id integer primary key, start integer, end integer);
         insert into rocpd_api values (1, 80, 95), (2, 96, 96), (3, 99, null), (4, 99, 98);";
    let computed = "create table rocpd_api
            (id integer primary key, start integer, duration integer, end integer as (start + duration));
         insert into rocpd_api values (1, 80, 15), (2, 96, 0), (3, 99, null), (4, 99, -1);";
    for file in [stored, computed] {
        let calls = native(file).api_calls;
        let durations: Vec<_> = calls.iter().map(|call| (call.start, call.duration)).collect();
        assert_eq!(durations, [(80, Some(15)), (96, Some(0)), (99, None), (99, Some(-1))], "{file}");
    }
}

#[test]
fn calls_that_a_process_was_killed_in_are_calls_without_an_end() {
    let tables = native(
        r#"create table rocpd_api (id integer primary key, pid integer, tid integer, start integer, end integer,
            apiName_id integer, args_id integer, correlationId integer);
        insert into rocpd_string values (9, 'hipInit');
        insert into rocpd_api values (1, null, 7, 100, 150, 9, 1, 1);
        insert into rocpd_metadata (tag, value) values ('pid', '42'), ('complete', '0'),
            ('open_call', '{"pid":42,"tid":7,"name":"hipMemcpy","domain":"HIP","category":null,"start":200,"correlationId":2,"parentId":0}'),
            ('open_call', '{"pid":42,"tid":7,"name":"hsa_iterate_agents","domain":"HSA","category":"core","start":210,"correlationId":3,"parentId":2}'),
            ('open_call', '{"name":"without a start"}'), ('open_call', 'no object');"#,
    );
    let calls = &tables.api_calls;
    let text = |id| tables.strings.get(id);
    assert_eq!(
        calls.iter().map(|call| text(call.name)).collect::<Vec<_>>(),
        ["hipInit", "hipMemcpy", "hsa_iterate_agents"]
    );
    assert_eq!([0, 1, 2].map(|row| calls.duration.get(row)), [Some(50), None, None]);
    let last = calls.get(2);
    assert_eq!((last.tid, last.start, last.correlation, last.parent), (Some(7), 210, 3, 2));
    assert_eq!((text(last.domain), text(last.category)), ("HSA", "core"));
    assert_eq!(tables.process(last.process).pid, Some(42));

    let copied = there_and_back(&tables);
    assert_eq!(
        copied.api_calls.iter().filter(|call| call.duration.is_none()).count(),
        2,
        "rows by now, once"
    );
}

#[test]
fn dispatches_that_a_recording_ended_before_are_dispatches_without_an_end() {
    let tables = native(
        r#"insert into rocpd_string values (9, 'alpha'), (10, 'beta');
        insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id) values (1, 3, 0, 100, 150, 9, 2);
        insert into rocpd_metadata (tag, value) values ('pid', '42'), ('complete', '0'),
            ('gpu', '{"number":3}'), ('queue', '{"pid":42,"gpuId":3,"queueId":1,"source":140000,"hardware":4096}'),
            ('open_dispatch', '{"pid":42,"tid":7,"gpuId":3,"queueId":1,"description_id":10,"since":200,"enqueued":190,"correlationId":2,"roctxId":5,"items":[64,2,1],"workgroup":[64,1,1],"lds":16,"scratch":null}'),
            ('open_dispatch', '{"gpuId":3,"queueId":1,"description_id":9}'), ('open_dispatch', 'no object');"#,
    );
    let dispatches = &tables.dispatches;
    let text = |id| tables.strings.get(id);
    assert_eq!(dispatches.iter().map(|row| text(row.name)).collect::<Vec<_>>(), ["alpha", "beta"]);
    let open = dispatches.get(1);
    assert_eq!((open.start, open.duration, open.details.enqueued), (200, None, Some(190)));
    assert_eq!((open.tid, open.correlation, open.range), (Some(7), 2, 5));
    let shape = tables.shapes.get(open.shape.unwrap());
    assert_eq!((shape.items, shape.workgroup, shape.lds), (Some([64, 2, 1]), Some([64, 1, 1]), Some(16)));
    let track = tables.tracks.get(open.track);
    assert_eq!((tables.agents[track.agent.index()].number, track.queue), (3, 140_000));
    assert_eq!(tables.process(track.process).pid, Some(42));

    let copied = there_and_back(&tables);
    assert_eq!(
        copied.dispatches.iter().filter(|row| row.duration.is_none()).count(),
        1,
        "a row by now, once"
    );
}

#[test]
fn what_was_recorded_without_these_columns_knows_neither() {
    let tables = native(
        "insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id) values
            (1, 0, 0, 100, 160, 5, 2);
         create table rocpd_api (id integer primary key, start integer, end integer, apiName_id integer);
         insert into rocpd_api values (1, 80, 95, 5);",
    );
    assert_eq!((tables.dispatches.get(0).details.enqueued, tables.api_calls.get(0).result), (None, 0));
}

#[test]
fn a_range_says_how_it_was_made() {
    let tables = native(
        "insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, roctxId, sequenceId, category_id)
         values (1, -1, 0, 10, 50, 6, 4, 100, 0, 5), (2, -1, 0, 10, 50, 6, 4, 101, 1, null),
            (3, -1, 0, 30, 30, 6, 4, 102, null, null), (4, -1, 0, 30, null, 1, 4, 103, null, null);",
    );
    let ranges: Vec<_> = tables.ranges.iter().map(|range| (range.id, range.kind, range.duration)).collect();
    assert_eq!(
        ranges,
        [
            (100, RangeKind::Thread, Some(40)),
            (101, RangeKind::Process, Some(40)),
            (102, RangeKind::Marker, Some(0)),
            (103, RangeKind::Unknown, None)
        ]
    );
    assert_eq!(texts(&tables, [tables.ranges[0].category, tables.ranges[3].name]), ["gemm", ""]);
    assert_eq!(tables.ranges[1].category, NameId::NONE);
    assert!(tables.agents.is_empty());
}

#[test]
fn a_thread_that_was_given_another_name_is_one_thread() {
    let tables = native(
        r#"insert into rocpd_metadata (tag, value) values ('pid', '42'),
            ('thread', '{"pid":42,"tid":43,"name":"python3"}'),
            ('thread', '{"pid":42,"tid":44,"name":"worker"}'),
            ('thread', '{"pid":42,"tid":43,"name":"loader"}');"#,
    );
    let threads: Vec<_> = tables.threads.iter().map(|thread| (thread.tid, thread.name.as_deref())).collect();
    assert_eq!(threads, [(44, Some("worker")), (43, Some("loader"))]);
}

#[test]
fn copies_and_barriers_have_ends_of_their_own() {
    let tables = native(
        "insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, bytes, peer) values
            (1, 1, 0, 10, 50, 3, 3, 4096, 0), (2, 1, 0, 60, 70, 3, 3, null, null), (3, 1, 0, 80, 90, 1, 7, null, null),
            (4, 1, 0, 95, 99, 3, 3, 1, 0);
         create table rocpd_copy (op_id integer primary key, srcAddress integer, dstAddress integer, srcGpu integer,
            dstGpu integer);
         insert into rocpd_copy values (4, -16, 256, null, 1);",
    );
    let number = |agent: Option<rtl_schema::AgentId>| agent.map(|agent| tables.agent(agent).number);
    let ends: Vec<_> = tables
        .copies
        .iter()
        .map(|copy| (copy.bytes, number(copy.source), number(copy.destination)))
        .collect();
    assert_eq!(ends, [(Some(4096), Some(0), Some(1)), (None, None, None), (Some(1), None, Some(1))]);
    assert_eq!(tables.copies[2].source_address, Some(0xffff_ffff_ffff_fff0));
    assert_eq!(tables.copies[0].direction, Direction::DeviceToDevice);
    assert_eq!((tables.barriers[0].start, tables.barriers[0].duration), (80, Some(10)));
    assert!(tables.dispatches.is_empty());
}

#[test]
fn processes_agents_and_what_refers_to_them() {
    let tables = native(
        r#"insert into rocpd_metadata (tag, value) values
            ('process', '{"pid":42,"space":0,"guid":"a"}'), ('process', '{"pid":42,"id":-2,"space":1,"guid":"b"}'),
            ('gpu', '{"number":0}'), ('agent', '{"number":0,"id":-3,"kind":"cpu","product":"EPYC"}'),
            ('thread', '{"pid":-2,"tid":5,"name":"worker"}');
        insert into rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, pid) values
            (1, 0, 0, 10, 50, 5, 2, 42), (2, -3, 0, 60, 70, 5, 2, -2), (3, null, 0, 80, 90, 5, 2, 7);
        create table rocpd_allocation (id integer primary key, pid integer, tid integer, gpuId integer, queueId integer,
            streamId integer, kind text, level text, start integer, end integer, address integer, bytes integer,
            flags integer, correlationId integer);
        insert into rocpd_allocation values (1, -2, 5, 0, null, null, 'allocate', 'scratch', 10, 20, 4096, 64, 1, 0);"#,
    );
    let place = |row: usize| tables.tracks.get(tables.dispatches.track[row]);
    let guid = |row: usize| tables.process(place(row).process).guid.as_deref();
    assert_eq!([0, 1, 2].map(guid), [Some("a"), Some("b"), None]);
    assert_eq!(tables.process(place(2).process).pid, Some(7));
    let kind = |row: usize| tables.agent(place(row).agent).kind;
    assert_eq!([0, 1, 2].map(kind), [AgentKind::Gpu, AgentKind::Cpu, AgentKind::Unknown]);
    assert_eq!(tables.threads[0].process.index(), 1);
    let allocation = tables.allocations[0];
    assert_eq!(
        (allocation.level, allocation.duration, allocation.bytes),
        (AllocationLevel::Scratch, Some(10), 64)
    );
    assert_eq!((allocation.process.index(), allocation.agent.map(|agent| agent.index())), (1, Some(0)));
}

/// Writes `tables` into our layout and reads them back.
fn there_and_back(tables: &Tables) -> Tables {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("native.db");
    let mut writer = NativeWriter::create(&path).expect("a new file");
    writer.push_tables(tables).expect("its rows");
    writer.finish().expect("the file");
    let trace = Trace::open(&path).expect("a trace");
    assert_eq!(trace.dialect(), Dialect::Native);
    trace.read(&Select::everything()).expect("its rows")
}

/// All rows as text, without what the file numbers anew: ids of rows and positions in tables.
fn rendered(tables: &Tables) -> Vec<String> {
    let name = |name: NameId| tables.strings.get(name).to_owned();
    let track = |track: rtl_schema::TrackId| {
        let track = tables.tracks.get(track);
        let agent = tables.agent(track.agent);
        (
            tables.process(track.process).pid,
            agent.kind,
            agent.number,
            track.queue,
            track.stream,
            track.hardware_queue,
        )
    };
    let shape = |shape: Option<rtl_schema::ShapeId>| shape.map(|shape| tables.shapes.get(shape));
    let number = |agent: Option<rtl_schema::AgentId>| agent.map(|agent| tables.agent(agent).number);
    let mut lines = Vec::new();
    for row in tables.dispatches.iter() {
        let times = (row.start, row.duration, row.tid, row.correlation, row.range, row.graph);
        lines.push(format!(
            "dispatch {} {:?} {times:?} {:?}",
            name(row.name),
            track(row.track),
            shape(row.shape)
        ));
    }
    for row in &tables.copies {
        let times = (row.start, row.duration, row.tid, row.correlation, row.range, row.direction, row.bytes);
        let ends = (number(row.source), number(row.destination), row.source_address, row.destination_address);
        lines.push(format!("copy {} {:?} {times:?} {ends:?}", name(row.name), track(row.track)));
    }
    for row in &tables.ranges {
        let times = (row.start, row.duration, row.tid, row.correlation, row.id, row.kind);
        lines.push(format!("range {} {} {times:?}", name(row.name), name(row.category)));
    }
    for row in tables.api_calls.iter() {
        let names = [row.name, row.domain, row.category, row.args].map(name);
        let times = (row.start, row.duration, row.tid, row.correlation, row.parent, row.stream);
        lines.push(format!("call {names:?} {:?} {times:?}", tables.process(row.process).pid));
    }
    for row in &tables.api_calls.launches {
        let sizes = (
            row.call,
            row.bytes,
            row.extent,
            row.direction,
            row.addresses,
            row.devices,
            row.sync,
            row.pinned,
        );
        lines.push(format!(
            "launch {} {} {:?} {sizes:?}",
            name(row.kernel),
            name(row.stream),
            shape(row.shape)
        ));
    }
    for row in &tables.monitors {
        lines.push(format!(
            "monitor {} {} {:?}",
            name(row.name),
            name(row.value),
            (row.device, row.start, row.end)
        ));
    }
    for extra in &tables.opaque_tables {
        lines.push(format!("extra {} {:?} {:?}", extra.name, extra.columns, extra.rows));
    }
    lines
}

#[test]
fn nothing_is_lost_between_rpd_and_our_layout() {
    let file = database(&format!(
        "{RPD3} insert into rocpd_ustring values (2, 'step'), (3, 'size=8');
         insert into rocpd_api values (1, 500, 501, 100, 110, 9, 1, 2, 3), (2, 600, 601, 120, 130, 11, 1, 2, 1),
            (3, 500, 501, 90, 900, 3, 1, 3, 2), (4, 500, 501, 95, 95, 3, 1, 3, 2);
         insert into rocpd_kernelapi values (1, '0x0', 4, 2, 1, 256, 1, 1, 1024, 0, 14);
         insert into rocpd_copyapi values (2, '0x0', 65536, '', '', 2, '0x7f00', '0x10', 0, 0, 1, 0);
         insert into rocpd_op values (1, 2, 0, 0, 200, 260, 14, 4), (2, 0, 140000, 0, 300, 310, 1, 7),
            (3, 1, 0, 0, 400, 390, 15, 5);
         insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2), (3, 1, 3);
         insert into rocpd_monitor values (1, 'gpu', 3, 'sclk', 10, 20, '1700');"
    ));
    let before = Trace::open(file.path()).expect("a trace").read(&Select::everything()).expect("its rows");
    let after = there_and_back(&before);
    assert_eq!(rendered(&after), rendered(&before));
    assert_eq!(before.dispatches.len() + before.copies.len() + before.ranges.len(), 5);
}

#[test]
fn nothing_is_lost_between_real_traces_and_our_layout() {
    let Some(shared) = support::shared() else { return };
    for name in [
        "traces/real/rpd2-vllm-fp8.rpd.gz",
        "traces/real/rpd2-matmul-mi200.rpd",
        "traces/made/rpd3.rpd",
        "traces/made/rtl-hip.db",
        "golden/rocm-trace-lite/multi_hwq.db",
        "golden/rocm-trace-lite/markers.db",
    ] {
        let trace = Trace::open(shared.join(name)).expect("a trace");
        let before = trace.read(&Select::everything()).expect("its rows");
        let after = there_and_back(&before);
        let (before, after) = (rendered(&before), rendered(&after));
        assert_eq!(after.len(), before.len(), "{name}");
        for (after, before) in after.iter().zip(&before) {
            assert_eq!(after, before, "{name}");
        }
    }
}
