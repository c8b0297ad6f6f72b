//! rocprofv3's databases: small ones written here, and the made ones where they are.

use std::path::Path;

use rtl_schema::table::{AgentKind, AllocationKind, AllocationLevel, Direction, RangeKind, Value};
use rtl_schema::{Dialect, Error, NameId, ProblemKind, Select, Tables, Trace};
use rusqlite::{Connection, OpenFlags};
use support::rocprofiler::{Rocpd, Set};

type Outcome = Result<(), Box<dyn std::error::Error>>;

const GUID: &str = "0000ddb5-8903-7903-b269-cd8d3745bb8a";
const OTHER: &str = "0000ddb6-1111-7222-9333-444455556666";

/// One node with a CPU and a GPU, one process 4711 with thread 4712, one kernel `gemm`, and the launch of
/// it at 100 that ran from 1000 to 1500.
fn fill(set: &Set<'_>, environment: &str) -> rusqlite::Result<()> {
    set.run(&format!(
        "insert into rocpd_string$ (id, string) values (1, ''), (2, 'HIP_RUNTIME_API_EXT'), (3, 'KERNEL_DISPATCH'),
            (4, 'hipLaunchKernel'), (5, 'MARKER_CORE_RANGE_API'), (6, 'roctxThreadRangeA'), (7, 'MEMORY_COPY'),
            (8, 'MEMORY_COPY_DEVICE_TO_HOST'), (9, 'roctxProcessRangeA'), (10, 'MEMORY_ALLOCATION');
         insert into rocpd_info_node$ (id, hash, machine_id, hostname) values (9, 1, 'machine-a', 'node-a');
         insert into rocpd_info_process$ (id, nid, ppid, pid, start, end, command, environment)
            values (4711, 9, 4000, 4711, 10, 9000, 'python train.py', '{environment}');
         insert into rocpd_info_thread$ (id, nid, ppid, pid, tid) values (1, 9, 4000, 4711, 4712);
         insert into rocpd_info_agent$ (id, nid, pid, type, absolute_index, logical_index, type_index, name, product_name, extdata)
            values (0, 9, 4711, 'CPU', 0, 0, 0, 'EPYC', 'EPYC', '{{}}'),
                   (4, 9, 4711, 'GPU', 4, 1, 0, 'gfx942', 'AMD Instinct MI300X',
                    '{{\"uuid\": {{\"bytes\": {{\"value0\": 1, \"value1\": 2}}}}}}');
         insert into rocpd_info_kernel_symbol$ (id, nid, pid, code_object_id, kernel_name, display_name, kernel_object,
                kernarg_segment_size, group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count, extdata)
            values (1, 9, 4711, 1, '_Z4gemmv.kd', 'gemm()', 77, 64, 512, 0, 96, 128, 4, '{{}}');
         insert into rocpd_event$ (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
            values (1, 2, 21, 0, 0, '{{}}'), (2, 3, 21, 21, 0, '{{}}');
         insert into rocpd_region$ (id, nid, pid, tid, start, end, name_id, event_id) values (21, 9, 4711, 1, 100, 130, 4, 1);
         insert into rocpd_kernel_dispatch$ (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id,
                start, end, private_segment_size, group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z,
                grid_size_x, grid_size_y, grid_size_z, region_name_id, event_id)
            values (1, 9, 4711, 1, 4, 1, 1, 2, 3, 1000, 1500, 16, 1024, 256, 1, 1, 1000, 2, 1, 1, 2)"
    ))
}

fn read(path: &Path) -> rtl_schema::Result<Tables> {
    let trace = Trace::open(path)?;
    assert_eq!(trace.dialect(), Dialect::Rocprofiler);
    trace.read(&Select::everything())
}

fn made(edit: impl FnOnce(&Set<'_>) -> rusqlite::Result<()>) -> Result<Tables, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    {
        let rocpd = Rocpd::create(&path)?;
        let set = rocpd.set(GUID, "3")?;
        fill(&set, "{}")?;
        edit(&set)?;
    }
    Ok(read(&path)?)
}

#[test]
fn a_dispatch_carries_all_that_its_tables_say() -> Outcome {
    let tables = made(|_| Ok(()))?;
    let dispatch = tables.dispatches.get(0);
    let track = tables.tracks.get(dispatch.track);
    let agent = tables.agent(track.agent);
    assert_eq!(tables.strings.get(dispatch.name), "gemm()");
    assert_eq!((dispatch.id, dispatch.start, dispatch.duration), (1, 1000, Some(500)));
    assert_eq!((dispatch.tid, dispatch.correlation, dispatch.graph), (Some(4712), 21, false));
    assert_eq!((track.queue, track.stream), (2, Some(3)));
    assert_eq!((agent.kind, agent.number, agent.absolute_index), (AgentKind::Gpu, 0, Some(4)));
    assert_eq!(
        (agent.target.as_deref(), agent.product.as_deref(), agent.uuid.as_deref()),
        (Some("gfx942"), Some("AMD Instinct MI300X"), Some("GPU-0000000000000201"))
    );
    // 1000 x 2 work-items in work-groups of 256: the last of four is partial.
    let shape = tables.shapes.get(dispatch.shape.ok_or("no shape")?);
    assert_eq!((shape.workgroup, shape.items), (Some([256, 1, 1]), Some([1000, 2, 1])));
    assert_eq!((shape.groups, shape.lds, shape.scratch), (Some([4, 2, 1]), Some(1024), Some(16)));
    let symbol = tables.symbols[dispatch.symbol.ok_or("no symbol")?.index()];
    assert_eq!(tables.strings.get(symbol.mangled), "_Z4gemmv.kd");
    assert_eq!((symbol.sgprs, symbol.vgprs, symbol.agprs), (Some(96), Some(128), Some(4)));
    assert_eq!((symbol.kernel_object, symbol.lds), (77, Some(512)));
    assert_eq!(tables.problems.iter().count(), 0);
    Ok(())
}

#[test]
fn the_launch_and_its_dispatch_share_a_correlation_id() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_arg$ (event_id, position, type, name, value)
                values (1, 1, 'dim3', 'dimBlocks', '{256,1,1}'), (1, 0, 'void*', 'f', '0x1'), (2, 0, 'int', 'x', '1'),
                    (1, 2, 'hipError_t', 'retval', '719')",
        )
    })?;
    assert!(tables.info.linked);
    let call = tables.api_calls.get(0);
    assert_eq!(tables.api_calls.len(), 1);
    assert_eq!(tables.strings.get(call.name), "hipLaunchKernel");
    assert_eq!(tables.strings.get(call.domain), "HIP_RUNTIME_API_EXT");
    assert_eq!((call.correlation, call.parent), (tables.dispatches.get(0).correlation, 0));
    assert_eq!((call.start, call.duration, call.tid), (100, Some(30), Some(4712)));
    assert_eq!(tables.strings.get(call.args), "f=0x1, dimBlocks={256,1,1}");
    let names: Vec<&str> =
        tables.api_calls.arguments.iter().map(|argument| tables.strings.get(argument.name)).collect();
    assert_eq!(names, ["f", "dimBlocks"]);
    assert_eq!(call.result, 719, "what it returned is no argument");
    Ok(())
}

/// A call of RCCL on thread 1: function, correlation id, start, and arguments as name and value.
type RcclCall<'a> = (&'a str, i64, i64, &'a [(&'a str, &'a str)]);

fn rccl(set: &Set<'_>, calls: &[RcclCall<'_>]) -> rusqlite::Result<()> {
    set.run("insert into rocpd_string$ (id, string) values (50, 'RCCL_API')")?;
    for (at, (function, id, start, arguments)) in calls.iter().enumerate() {
        let (name, event) = (51 + at, 100 + at);
        set.run(&format!(
            "insert into rocpd_string$ (id, string) values ({name}, '{function}');
             insert into rocpd_event$ (id, category_id, stack_id, parent_stack_id, correlation_id, extdata)
                values ({event}, 50, {id}, 0, 0, '{{}}');
             insert into rocpd_region$ (id, nid, pid, tid, start, end, name_id, event_id)
                values (1000 + {at}, 9, 4711, 1, {start}, {start} + 5, {name}, {event})"
        ))?;
        for (position, (argument, value)) in arguments.iter().enumerate() {
            set.run(&format!(
                "insert into rocpd_arg$ (event_id, position, type, name, value)
                    values ({event}, {position}, 'size_t', '{argument}', '{value}')"
            ))?;
        }
    }
    Ok(())
}

/// Operation, data type, elements given and got, and ranks of the only kernel.
fn collective(tables: &Tables) -> Option<String> {
    let stated = tables.collectives.get(tables.dispatches.collective.get(0)?);
    let [operation, data_type] =
        [stated.operation, stated.data_type].map(|id| tables.strings.get(id).to_owned());
    let numbers = (stated.sent, stated.received, stated.size);
    Some(format!("{operation} {data_type} {numbers:?}"))
}

#[test]
fn a_kernel_has_the_size_that_the_call_of_rccl_states() -> Outcome {
    let sizes: &[_] = &[("count", "1024"), ("datatype", "9")];
    // HIP launched the kernel within the call of RCCL.
    let within = "update rocpd_event$ set parent_stack_id = 70 where id = 1";
    let tables = made(|set| {
        rccl(set, &[("ncclAllReduce", 70, 90, sizes)])?;
        set.run(within)
    })?;
    let expected = "allreduce Bfloat16 (Some(1024), Some(1024), None)".to_owned();
    assert_eq!(collective(&tables).as_ref(), Some(&expected));
    // A group launches at its end.
    let group: &[RcclCall<'_>] =
        &[("ncclGroupStart", 60, 50, &[]), ("ncclAllReduce", 61, 60, sizes), ("ncclGroupEnd", 70, 90, &[])];
    let grouped = made(|set| {
        rccl(set, group)?;
        set.run(within)
    })?;
    assert_eq!(collective(&grouped), Some(expected));
    let two = made(|set| {
        let mut calls = group.to_vec();
        calls.insert(1, ("ncclAllReduce", 62, 55, sizes));
        rccl(set, &calls)?;
        set.run(within)
    })?;
    assert_eq!(collective(&two), None, "which of two the kernel executes is unknown");
    Ok(())
}

#[test]
fn parts_of_a_collective_need_the_number_of_ranks() -> Outcome {
    let gather: RcclCall<'_> = ("ncclAllGather", 21, 90, &[("sendcount", "8"), ("datatype", "ncclFloat32")]);
    assert_eq!(collective(&made(|set| rccl(set, &[gather]))?), None);
    let init: RcclCall<'_> = ("ncclCommInitRank", 80, 10, &[("nranks", "4"), ("rank", "0")]);
    let tables = made(|set| rccl(set, &[init, gather]))?;
    let expected = "allgather Float32 (Some(8), Some(32), Some(4))".to_owned();
    assert_eq!(collective(&tables), Some(expected.clone()));
    let all: RcclCall<'_> = ("ncclCommInitAll", 80, 10, &[("ndev", "4")]);
    assert_eq!(collective(&made(|set| rccl(set, &[all, gather]))?), Some(expected));
    for name in ["ncclCommSplit", "ncclCommShrink"] {
        let divided: RcclCall<'_> = (name, 81, 20, &[("color", "1")]);
        assert_eq!(collective(&made(|set| rccl(set, &[init, divided, gather]))?), None, "{name}");
    }
    Ok(())
}

#[test]
fn an_all_reduce_with_a_bias_is_an_all_reduce() -> Outcome {
    let call: RcclCall<'_> = ("ncclAllReduceWithBias", 21, 90, &[("count", "8"), ("datatype", "9")]);
    let expected = "allreduce Bfloat16 (Some(8), Some(8), None)".to_owned();
    assert_eq!(collective(&made(|set| rccl(set, &[call]))?), Some(expected));
    Ok(())
}

#[test]
fn a_range_is_named_by_its_message_and_an_instant_is_a_marker() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_event$ (id, category_id, stack_id, parent_stack_id, extdata) values
                (3, 5, 31, 0, '{\"message\": \"forward \\\"a\\\"\"}'), (4, 5, 32, 0, '{\"message\": \"step\"}'),
                (5, 5, 33, 0, '{\"message\": \"here\"}'), (6, 2, 34, 0, '{}');
             insert into rocpd_region$ (id, nid, pid, tid, start, end, name_id, event_id) values
                (31, 9, 4711, 1, 50, 60, 6, 3), (32, 9, 4711, 1, 40, 70, 9, 4);
             insert into rocpd_track$ (id, nid, pid, tid, name_id) values (1, 9, 4711, 1, 5), (2, 9, 4711, 1, 2);
             insert into rocpd_sample$ (id, track_id, timestamp, event_id) values (33, 1, 55, 5), (34, 2, 56, 6)",
        )
    })?;
    let ranges: Vec<_> = tables
        .ranges
        .iter()
        .map(|range| (tables.strings.get(range.name), range.kind, range.start, range.duration, range.tid))
        .collect();
    assert_eq!(
        ranges,
        [
            ("forward \"a\"", RangeKind::Thread, 50, Some(10), Some(4712)),
            ("step", RangeKind::Process, 40, Some(30), Some(4712)),
            ("here", RangeKind::Marker, 55, Some(0), Some(4712)),
        ]
    );
    // The instant that is no marker is a call that took no time; its function's name is not stored.
    let instant = tables.api_calls.get(1);
    assert_eq!((instant.start, instant.duration, instant.correlation), (56, Some(0), 34));
    assert_eq!(tables.strings.get(instant.name), "HIP_RUNTIME_API_EXT");
    Ok(())
}

#[test]
fn a_copy_to_the_host_belongs_to_the_gpu_it_came_from() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_event$ (id, category_id, stack_id, parent_stack_id) values (3, 7, 41, 41);
             insert into rocpd_memory_copy$ (id, nid, pid, tid, start, end, name_id, dst_agent_id, dst_address,
                    src_agent_id, src_address, size, stream_id, event_id)
                values (1, 9, 4711, 1, 2000, 2100, 8, 0, 16, 4, -1, 4096, 3, 3)",
        )
    })?;
    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.bytes, copy.duration), (Direction::DeviceToHost, Some(4096), Some(100)));
    assert_eq!((copy.source_address, copy.destination_address), (Some(u64::MAX), Some(16)));
    assert_eq!((copy.correlation, copy.tid), (41, Some(4712)));
    let track = tables.tracks.get(copy.track);
    assert_eq!(tables.agent(track.agent).kind, AgentKind::Gpu);
    assert_eq!(Some(track.agent), copy.source);
    Ok(())
}

#[test]
fn allocations_scratch_and_counter_instances_are_read() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_event$ (id, category_id, stack_id) values (3, 10, 51);
             insert into rocpd_memory_allocate$ (id, nid, pid, tid, agent_id, type, level, start, end, address, size, event_id, extdata)
                values (1, 9, 4711, 1, 4, 'ALLOC', 'REAL', 5, 7, 64, 4096, 3, '{}'),
                       (2, 9, 4711, 1, null, 'FREE', 'REAL', 8, 9, 64, 0, 3, '{}'),
                       (3, 9, 4711, 1, 4, 'RECLAIM', 'SCRATCH', 8, 9, null, 0, 3, '{\"flags\": \"2\"}');
             insert into rocpd_info_pmc$ (id, nid, pid, name) values (8070450532247928832, 9, 4711, 'SQ_WAVES');
             insert into rocpd_pmc_event$ (id, event_id, pmc_id, value)
                values (1, 2, 8070450532247928832, 1.5), (2, 2, 8070450532247928832, 2.5), (3, 99, 1, 7)",
        )
    })?;
    let kinds: Vec<_> = tables
        .allocations
        .iter()
        .map(|event| (event.kind, event.level, event.agent.is_some(), event.bytes, event.flags))
        .collect();
    assert_eq!(
        kinds,
        [
            (AllocationKind::Allocate, AllocationLevel::Real, true, 4096, None),
            (AllocationKind::Free, AllocationLevel::Real, false, 0, None),
            (AllocationKind::Reclaim, AllocationLevel::Scratch, true, 0, Some(2)),
        ]
    );
    let counters: Vec<_> = tables
        .counters
        .iter()
        .map(|counter| (counter.dispatch, tables.strings.get(counter.name), counter.value))
        .collect();
    assert_eq!(
        counters,
        [(1, "SQ_WAVES", 1.5), (1, "SQ_WAVES", 2.5), (0, tables.strings.get(NameId::DANGLING), 7.0)]
    );
    assert!(tables.info.counters);
    Ok(())
}

#[test]
fn samples_over_time_are_no_counters_of_dispatches() -> Outcome {
    for (event, counters) in [(2, true), (99, false)] {
        let insert =
            format!("insert into rocpd_pmc_event$ (id, event_id, pmc_id, value) values (3, {event}, 1, 7)");
        assert_eq!(made(|set| set.run(&insert))?.info.counters, counters);
    }
    Ok(())
}

#[test]
fn a_table_that_no_column_comes_from_is_kept_as_it_is() -> Outcome {
    let tables = made(|set| {
        set.run(
            "create table rocpd_hip_event$ (id integer primary key, guid text default 'x', hip_event_handle integer,
                foreign key (id) references rocpd_event$ (id));
             insert into rocpd_hip_event$ values (1, 'g', 140), (2, 'g', null)",
        )
    })?;
    let extra = &tables.opaque_tables[0];
    assert_eq!(tables.opaque_tables.len(), 1);
    assert_eq!(extra.name, format!("rocpd_hip_event_{}", GUID.replace('-', "_")));
    assert_eq!(extra.columns, ["id", "guid", "hip_event_handle"]);
    assert_eq!(extra.rows[1], [Value::Integer(2), Value::Text("g".to_owned()), Value::Null]);
    // It can be made anywhere, without the tables that it referred to.
    let elsewhere = Connection::open_in_memory()?;
    elsewhere.execute_batch(&extra.create)?;
    let insert = format!("insert into \"{}\" values (1, 'g', 2)", extra.name);
    assert_eq!(elsewhere.execute(&insert, [])?, 1);
    Ok(())
}

#[test]
fn rows_whose_references_are_missing_are_read_all_the_same() -> Outcome {
    let tables = made(|set| {
        set.run(
            "delete from rocpd_info_thread$;
             insert into rocpd_kernel_dispatch$ (id, nid, pid, tid, agent_id, kernel_id, queue_id, stream_id, start, end, event_id)
                values (2, 9, 4711, 1, 4, 99, 2, 3, 2000, 2010, 77), (3, 9, 1, 1, 12, 1, 2, 3, 3000, 3010, null),
                       (4, 9, 4711, 1, 4, 1, 2, 3, null, 3010, 2), (5, 9, 4711, 1, 4, 1, 2, 3, 4000, null, 2);
             update rocpd_region$ set name_id = 1000",
        )
    })?;
    let rows: Vec<_> = tables
        .dispatches
        .iter()
        .map(|row| {
            (
                tables.strings.get(row.name),
                row.start,
                row.duration,
                tables.agent(tables.tracks.get(row.track).agent).number,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("gemm()", 1000, Some(500), 0),
            ("(dangling name)", 2000, Some(10), 0),
            // Agent 12 is in no row of the agents: a GPU of its own, after the known one.
            ("gemm()", 3000, Some(10), 1),
            ("gemm()", 4000, None, 0),
        ]
    );
    assert_eq!(tables.dispatches.get(0).tid, Some(1));
    assert_eq!(tables.strings.get(tables.api_calls.get(0).name), "(dangling name)");
    let count = |place| {
        let found = tables.problems.iter().find(|problem| problem.place == place);
        found.map(|problem| (problem.kind, problem.count, problem.first))
    };
    let reference = ProblemKind::DanglingReference;
    assert_eq!(count("rocpd_kernel_dispatch.kernel_id"), Some((reference, 1, 2)));
    assert_eq!(count("rocpd_kernel_dispatch.event_id"), Some((reference, 1, 2)));
    assert_eq!(count("rocpd_kernel_dispatch.agent_id"), Some((reference, 1, 3)));
    assert_eq!(count("rocpd_kernel_dispatch.pid"), Some((reference, 1, 3)));
    assert_eq!(count("rocpd_kernel_dispatch.tid"), Some((reference, 4, 1)));
    assert_eq!(count("rocpd_kernel_dispatch.start"), Some((ProblemKind::MissingStart, 1, 4)));
    assert_eq!(count("rocpd_region.name_id"), Some((ProblemKind::DanglingName, 1, 21)));
    Ok(())
}

#[test]
fn a_kernel_without_display_name_falls_back_on_its_other_names() -> Outcome {
    let tables = made(|set| {
        set.run(
            "update rocpd_info_kernel_symbol$ set display_name = null, extdata = '{\"formatted_kernel_name\": \"gemm(int)\"}';
             insert into rocpd_info_kernel_symbol$ (id, nid, pid, code_object_id, kernel_name, extdata)
                values (2, 9, 4711, 1, 'triton_poi.kd', '{}'), (3, 9, 4711, 1, null, null);
             insert into rocpd_kernel_dispatch$ (id, pid, tid, agent_id, kernel_id, start, end)
                values (2, 4711, 1, 4, 2, 2000, 2001), (3, 4711, 1, 4, 3, 3000, 3001)",
        )
    })?;
    let names: Vec<&str> = tables.dispatches.iter().map(|row| tables.strings.get(row.name)).collect();
    assert_eq!(names, ["gemm(int)", "triton_poi.kd", "(no name)"]);
    Ok(())
}

#[test]
fn columns_that_a_later_schema_puts_between_others_do_no_harm() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    {
        let rocpd = Rocpd::create(&path)?;
        let set = rocpd.set(GUID, "3.0.2")?;
        fill(&set, "{}")?;
        set.run(
            "create table moved as select id, guid, nid, pid, 7 as graph_exec_id, 1 as graph_node_id, tid, agent_id,
                    kernel_id, dispatch_id, queue_id, stream_id, end, start, event_id from rocpd_kernel_dispatch$;
             drop table rocpd_kernel_dispatch$;
             alter table moved rename to rocpd_kernel_dispatch$",
        )?;
    }
    let tables = read(&path)?;
    let dispatch = tables.dispatches.get(0);
    assert_eq!((dispatch.start, dispatch.duration, dispatch.correlation), (1000, Some(500), 21));
    assert!(dispatch.graph);
    assert_eq!(tables.info.schema_version.as_deref(), Some("3.0.2"));
    // This table has no shapes: unknown, not zero.
    assert_eq!(tables.shapes.get(dispatch.shape.ok_or("no shape")?), rtl_schema::table::Shape::default());
    Ok(())
}

#[test]
fn a_newer_schema_is_refused_with_both_versions() -> Outcome {
    let folder = tempfile::tempdir()?;
    for version in ["4.0", "4", "3.1.0"] {
        let path = folder.path().join(format!("{version}.db"));
        Rocpd::create(&path)?.set(GUID, version)?;
        match Trace::open(&path)?.read(&Select::ops()) {
            Err(Error::TooNew { version: stated, known: "3.0", .. }) => assert_eq!(stated, version),
            other => panic!("{other:?}"),
        }
    }
    Ok(())
}

#[test]
fn ids_that_collide_in_a_merged_file_stay_apart() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("merged.db");
    {
        let rocpd = Rocpd::create(&path)?;
        let first = rocpd.set(GUID, "3")?;
        fill(&first, r#"{"RANK": "0", "WORLD_SIZE": "2"}"#)?;
        let second = rocpd.set(OTHER, "3")?;
        fill(&second, r#"{"RANK": "1", "WORLD_SIZE": "2"}"#)?;
        second.run(
            "update rocpd_info_process$ set pid = 5000;
             update rocpd_info_kernel_symbol$ set display_name = 'copy()';
             update rocpd_info_thread$ set tid = 5001;
             update rocpd_event$ set stack_id = 90;
             insert into rocpd_info_agent$ (id, nid, pid, type, absolute_index, type_index, name, extdata)
                values (5, 9, 4711, 'GPU', 5, 0, 'gfx942', '{}')",
        )?;
    }
    let tables = read(&path)?;
    let rows: Vec<_> = tables
        .dispatches
        .iter()
        .map(|row| {
            let process = tables.process(tables.tracks.get(row.track).process);
            (
                tables.strings.get(row.name),
                row.id,
                process.pid,
                process.space,
                process.rank,
                row.tid,
                row.correlation,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("gemm()", 1, Some(4711), 0, Some(0), Some(4712), 21),
            ("copy()", 1, Some(5000), 1, Some(1), Some(5001), 90),
        ]
    );
    // Both processes list device 4 of one machine; the second sees another GPU with the same index among
    // GPUs, so GPUs are counted through.
    let gpus: Vec<_> = tables
        .agents
        .iter()
        .filter(|agent| agent.kind == AgentKind::Gpu)
        .map(|agent| (agent.number, agent.absolute_index, agent.node))
        .collect();
    assert_eq!(gpus, [(0, Some(4), None), (1, Some(5), None)]);
    assert_eq!(tables.processes[1].world, Some(2));
    assert_eq!(tables.processes[0].guid.as_deref(), Some(GUID));
    assert_eq!(tables.processes[1].guid.as_deref(), Some(OTHER));
    Ok(())
}

#[test]
fn the_same_device_number_on_two_machines_is_two_devices() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("merged.db");
    {
        let rocpd = Rocpd::create(&path)?;
        fill(&rocpd.set(GUID, "3")?, "{}")?;
        let second = rocpd.set(OTHER, "3")?;
        fill(&second, "{}")?;
        second.run("update rocpd_info_node$ set machine_id = 'machine-b', hostname = 'node-b'")?;
    }
    let tables = read(&path)?;
    let gpus: Vec<_> = tables
        .agents
        .iter()
        .filter(|agent| agent.kind == AgentKind::Gpu)
        .map(|agent| (agent.number, agent.node))
        .collect();
    assert_eq!(gpus, [(0, Some(0)), (1, Some(1))]);
    assert_eq!(tables.processes[1].node, Some(1));
    assert_eq!(tables.processes[1].host.as_deref(), Some("node-b"));
    Ok(())
}

#[test]
fn selecting_less_reads_the_same_ops() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    fill(&Rocpd::create(&path)?.set(GUID, "3")?, "{}")?;
    let trace = Trace::open(&path)?;
    let (all, ops) = (trace.read(&Select::everything())?, trace.read(&Select::ops())?);
    assert_eq!(
        (ops.dispatches.start, ops.dispatches.duration),
        (all.dispatches.start, all.dispatches.duration)
    );
    assert!(ops.api_calls.is_empty() && ops.info.linked);
    Ok(())
}

fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

#[test]
fn the_made_databases_equal_what_their_own_views_answer() -> Outcome {
    let Some(shared) = support::shared() else { return Ok(()) };
    for rank in 0..2 {
        let path = shared.join(format!("traces/made/rocprofv3-rank{rank}.db"));
        let tables = read(&path)?;
        let sql = read_only(&path)?;
        assert_eq!(tables.problems.iter().count(), 0);
        assert_eq!(tables.processes[0].rank, Some(rank));

        let expected: Vec<String> = sql
            .prepare(
                "select concat_ws('|', name, start, duration, queue_id, stream_id, stack_id, tid, grid_x, lds_size)
                 from kernels order by id",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        assert_eq!(expected.len(), 24);
        let read: Vec<String> = tables
            .dispatches
            .iter()
            .map(|row| {
                let track = tables.tracks.get(row.track);
                let shape = row.shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
                format!(
                    "{}|{}|{}|{}|{}|{}|{}|{}|{}",
                    tables.strings.get(row.name),
                    row.start,
                    row.duration.unwrap_or(-1),
                    track.queue,
                    track.stream.unwrap_or(-1),
                    row.correlation,
                    row.tid.unwrap_or(-1),
                    shape.items.map_or(0, |items| items[0]),
                    shape.lds.unwrap_or(0),
                )
            })
            .collect();
        assert_eq!(read, expected);

        let regions: Vec<(String, i64, i64, i64)> = sql
            .prepare(
                "select coalesce(json_extract(extdata, '$.message'), name), start, duration, stack_id from regions_and_samples
                 order by start, duration, stack_id",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
            .collect::<Result<_, _>>()?;
        let calls =
            tables.api_calls.iter().map(|call| (call.name, call.start, call.duration, call.correlation));
        let ranges =
            tables.ranges.iter().map(|range| (range.name, range.start, range.duration, range.correlation));
        let mut read: Vec<_> = calls
            .chain(ranges)
            .map(|(name, start, duration, correlation)| {
                (tables.strings.get(name).to_owned(), start, duration.unwrap_or(-1), correlation)
            })
            .collect();
        read.sort_by_key(|row| (row.1, row.2, row.3));
        assert_eq!(read, regions);
        assert_eq!((tables.api_calls.len(), tables.ranges.len()), (30, 8));

        let args: i64 = sql.query_row("select count(*) from region_args", [], |row| row.get(0))?;
        assert_eq!(tables.api_calls.arguments.len() as i64, args);

        let counters: Vec<(i64, f64)> = sql
            .prepare("select dispatch_id, sum(value) from counters_collection group by dispatch_id order by dispatch_id")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (dispatch, value) in counters {
            let sum: f64 =
                tables.counters.iter().filter(|row| row.dispatch == dispatch).map(|row| row.value).sum();
            assert_eq!(sum, value);
        }
        let bytes: i64 = sql.query_row("select sum(size) from memory_copies", [], |row| row.get(0))?;
        assert_eq!(tables.copies.iter().filter_map(|copy| copy.bytes).sum::<u64>() as i64, bytes);
        assert_eq!((tables.copies.len(), tables.allocations.len(), tables.counters.len()), (2, 2, 8));
    }
    Ok(())
}

/// As AMD's merge does it: all suffixed tables side by side. `create table as` also takes the primary keys
/// away, so that ids and rowids are no longer one.
#[test]
fn the_made_ranks_merged_are_both_there() -> Outcome {
    let Some(shared) = support::shared() else { return Ok(()) };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("merged.db");
    let merged = Connection::open(&path)?;
    let mut alone = Vec::new();
    for rank in 0..2 {
        let source = shared.join(format!("traces/made/rocprofv3-rank{rank}.db"));
        alone.push(read(&source)?);
        merged.execute("attach ?1 as source", [source.to_str()])?;
        let names: Vec<String> = merged
            .prepare("select name from source.sqlite_master where type = 'table' and name like 'rocpd%'")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for name in names {
            merged.execute_batch(&format!(
                "create table \"{name}\" as select * from source.\"{name}\" order by 1"
            ))?;
        }
        merged.execute_batch("detach source")?;
    }
    drop(merged);
    let tables = read(&path)?;
    let expected: usize = alone.iter().map(|tables| tables.dispatches.len()).sum();
    assert_eq!(tables.dispatches.len(), expected);
    assert_eq!(tables.processes.len(), 2);
    assert_eq!(tables.problems.iter().count(), 0);
    for (process, alone) in (0..).map(rtl_schema::ProcessId).zip(&alone) {
        let pid = alone.processes[0].pid;
        let process =
            (0..2).map(rtl_schema::ProcessId).find(|&id| tables.process(id).pid == pid).unwrap_or(process);
        let of_process: Vec<_> = tables
            .dispatches
            .iter()
            .filter(|row| tables.tracks.get(row.track).process == process)
            .map(|row| (tables.strings.get(row.name), row.start, row.duration, row.correlation))
            .collect();
        let on_its_own: Vec<_> = alone
            .dispatches
            .iter()
            .map(|row| (alone.strings.get(row.name), row.start, row.duration, row.correlation))
            .collect();
        assert_eq!(of_process, on_its_own);
    }
    Ok(())
}

#[test]
fn a_database_with_flipped_bytes_is_read_or_refused_by_its_name() -> Outcome {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    fill(&Rocpd::create(&path)?.set(GUID, "3")?, "{}")?;
    let whole = std::fs::read(&path)?;
    let mut state = 1_u64;
    for _ in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = 100 + (state >> 33) as usize % (bytes.len() - 100);
            bytes[at] = (state >> 24) as u8;
        }
        std::fs::write(&path, &bytes)?;
        if let Err(error) = Trace::open(&path).and_then(|trace| trace.read(&Select::everything())) {
            assert_eq!(error.path(), path, "{error}");
        }
    }
    Ok(())
}

#[test]
fn the_passes_of_a_replayed_kernel_are_one_dispatch_with_the_counters_of_all() -> Outcome {
    let tables = made(|set| {
        set.run(
            "alter table rocpd_kernel_dispatch$ add column replay_pass integer;
             update rocpd_kernel_dispatch$ set replay_pass = 0;
             insert into rocpd_event$ (id, category_id, stack_id, parent_stack_id, extdata) values
                (7, 3, 21, 21, '{}'), (8, 3, 21, 21, '{}');
             insert into rocpd_kernel_dispatch$ (id, nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id,
                    start, end, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z,
                    event_id, replay_pass)
                values (2, 9, 4711, 1, 4, 1, 1, 2, 3, 2000, 2500, 256, 1, 1, 1000, 2, 1, 7, 1),
                    (3, 9, 4711, 1, 4, 1, 1, 2, 3, 3000, 3500, 256, 1, 1, 1000, 2, 1, 8, 2);
             insert into rocpd_info_pmc$ (id, nid, pid, agent_id, name) values (1, 9, 4711, 4, 'SQ_WAVES'), (2, 9, 4711, 4, 'SQ_INSTS');
             insert into rocpd_pmc_event$ (id, event_id, pmc_id, value) values (1, 2, 1, 4.0), (2, 7, 2, 5.0), (3, 8, 2, 6.0)",
        )
    })?;
    assert_eq!((tables.dispatches.len(), tables.info.replays), (1, 2));
    assert_eq!(tables.dispatches.start, [1000]);
    let counters: Vec<_> = tables.counters.iter().map(|counter| (counter.dispatch, counter.value)).collect();
    assert_eq!(counters, [(1, 4.0), (1, 5.0), (1, 6.0)]);
    assert!(tables.info.counters);
    Ok(())
}

#[test]
fn a_copy_whose_name_states_no_direction_has_that_of_its_agents() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_string$ (id, string) values (11, 'MEMORY_COPY_NONE');
             insert into rocpd_info_agent$ (id, nid, pid, type, absolute_index, name, extdata) values (5, 9, 4711, 'GPU', 5, 'gfx942', '{}');
             insert into rocpd_memory_copy$ (id, nid, pid, start, end, name_id, src_agent_id, dst_agent_id, size) values
                (1, 9, 4711, 1, 2, 11, 0, 4, 8), (2, 9, 4711, 3, 4, 11, 4, 0, 8), (3, 9, 4711, 5, 6, 11, 4, 5, 8),
                (4, 9, 4711, 7, 8, 11, 4, 4, 8), (5, 9, 4711, 9, 9, 8, 0, 4, 8)",
        )
    })?;
    let directions: Vec<Direction> = tables.copies.iter().map(|copy| copy.direction).collect();
    use Direction::{DeviceToDevice, DeviceToHost, HostToDevice, Unknown};
    // An unknown end is written as the known one; a name counts more than agents.
    assert_eq!(directions, [HostToDevice, DeviceToHost, DeviceToDevice, Unknown, DeviceToHost]);
    Ok(())
}

#[test]
fn a_size_that_the_details_call_unknown_is_not_zero() -> Outcome {
    let tables = made(|set| {
        set.run(
            "insert into rocpd_memory_copy$ (id, nid, pid, start, end, name_id, src_agent_id, dst_agent_id, size, extdata) values
                (1, 9, 4711, 1, 2, 8, 0, 4, 0, '{\"size\":null}'), (2, 9, 4711, 3, 4, 8, 0, 4, 0, '{}')",
        )
    })?;
    assert_eq!(tables.copies.iter().map(|copy| copy.bytes).collect::<Vec<_>>(), [None, Some(0)]);
    Ok(())
}

#[test]
fn what_columns_say_of_an_agent_is_among_its_details() -> Outcome {
    let tables = made(|set| {
        set.run("update rocpd_info_agent$ set vendor_name = 'AMD', model_name = 'aqua', extdata = '{\"cu_count\": 304}' where id = 4")
    })?;
    let gpu = tables.agents.iter().find(|agent| agent.kind == AgentKind::Gpu).ok_or("no GPU")?;
    let details: serde_json::Value = serde_json::from_str(gpu.details.as_deref().ok_or("no details")?)?;
    assert_eq!((&details["vendor_name"], &details["model_name"]), (&"AMD".into(), &"aqua".into()));
    assert_eq!(
        (&details["product_name"], &details["cu_count"]),
        (&"AMD Instinct MI300X".into(), &304.into())
    );
    Ok(())
}
