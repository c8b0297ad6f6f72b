//! RPD's files, schema 2 and 3: links, launches, markers, sessions, machines, and its known garbage.

use crate::fixture::{RPD2, RPD3, database, everything, problems, selected, texts};
use rtl_schema::table::{Direction, RangeKind};
use rtl_schema::{Dialect, NameId, Select, Tables, Trace};

/// A file of schema 3: one launch of each unit, a copy, a graph launch with a kernel and a copy.
const LAUNCHES: &str = "
    insert into rocpd_api values (1, 500, 501, 100, 110, 9, 1, 2, 1), (2, 500, 502, 120, 130, 10, 1, 2, 1),
        (3, 500, 501, 140, 150, 11, 1, 2, 1), (4, 500, 501, 160, 170, 12, 1, 2, 1);
    insert into rocpd_kernelapi values (1, '0x0', 4, 2, 1, 256, 1, 1, 1024, 0, 14),
        (2, '0xab', 1024, 2, 1, 256, 1, 1, 0, 0, 15);
    insert into rocpd_copyapi values (3, '0x0', 65536, '', '', 1, '0x7f00', '0x10', 0, 0, 0, 0);
    insert into rocpd_op values (1, 2, 0, 0, 200, 260, 14, 4), (2, 2, 1, 0, 300, 310, 15, 4),
        (3, 2, 0, 0, 400, 420, 1, 6), (4, 2, 0, 0, 500, 501, 14, 5), (5, 2, 0, 0, 510, 515, 1, 8);
    insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 4, 5);";

fn rpd3(rows: &str) -> Tables {
    everything(&format!("{RPD3}{rows}"))
}

#[test]
fn an_op_is_tied_to_its_call_and_has_its_thread() {
    let tables = rpd3(LAUNCHES);
    assert!(tables.info.linked && !tables.info.range_ids);
    let ops: Vec<_> = tables.dispatches.iter().map(|op| (op.id, op.correlation, op.tid, op.graph)).collect();
    assert_eq!(ops, [(1, 1, Some(501), false), (2, 2, Some(502), false), (4, 4, Some(501), true)]);
    assert_eq!(tables.api_calls.correlation.iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(tables.processes.iter().map(|process| process.pid).collect::<Vec<_>>(), [Some(500)]);
    assert_eq!(texts(&tables, [tables.api_calls.domain.get(0)]), ["hip"]);
    assert_eq!(tables.api_calls.category.uniform(), Some(NameId::NONE));
    assert_eq!(problems(&tables), [""; 0]);
}

#[test]
fn the_function_says_whether_the_grid_counts_groups_or_items() {
    let tables = rpd3(LAUNCHES);
    let shape = |row: usize| tables.shapes.get(tables.dispatches.shape.get(row).expect("a shape"));
    assert_eq!((shape(0).groups, shape(0).items), (Some([4, 2, 1]), Some([1024, 2, 1])));
    assert_eq!((shape(1).groups, shape(1).items), (Some([4, 2, 1]), Some([1024, 2, 1])));
    assert_eq!(shape(0).lds, None, "a call knows its dynamic LDS only");
    assert_eq!(tables.dispatches.shape.get(2), None, "a graph launch has no shape");
    let asked = tables.api_calls.launches[0];
    assert_eq!(asked.shape.map(|shape| tables.shapes.get(shape).lds), Some(Some(1024)));
    assert_eq!(texts(&tables, [asked.kernel, asked.stream]), ["gemm", "0x0"]);
}

#[test]
fn an_unknown_launch_function_leaves_the_grid_unknown() {
    let tables = rpd3(
        "insert into rocpd_string values (20, 'hipLaunchSomethingNew');
         insert into rocpd_api values (1, 500, 501, 100, 110, 20, 1, 2, 1);
         insert into rocpd_kernelapi values (1, '0x0', 4, 2, 1, 256, 1, 1, 0, 0, 14);
         insert into rocpd_op values (1, 2, 0, 0, 200, 260, 14, 4);
         insert into rocpd_api_ops values (1, 1, 1);",
    );
    let shape = tables.shapes.get(tables.dispatches.shape.get(0).expect("a shape"));
    assert_eq!((shape.workgroup, shape.groups, shape.items), (Some([256, 1, 1]), None, None));
}

#[test]
fn recorded_through_the_sdk_the_grid_is_the_gpus_own() {
    let tables = rpd3(
        "insert into rocpd_string values (20, 'MEMORY_COPY_DEVICE_TO_HOST');
         insert into rocpd_api values (1, 500, 501, 100, 110, 9, 1, 2, 1), (2, 500, 501, 120, 130, 12, 1, 2, 1),
            (3, 500, 501, 140, 150, 11, 1, 2, 1);
         insert into rocpd_kernelapi values (1, '0x0', 1024, 2, 1, 256, 1, 1, 512, 16, 14),
            (2, '0x0', 64, 1, 1, 64, 1, 1, 0, 0, 14);
         insert into rocpd_copyapi values (3, '0x0', 4096, '', '', 20, '', '', 0, 9, 1, 0);
         insert into rocpd_op values (1, 2, 7, 0, 200, 260, 14, 4), (2, 2, 7, 0, 300, 310, 14, 4),
            (3, 2, 7, 0, 320, 330, 15, 4), (4, 0, 0, 0, 400, 420, 1, 20);
         insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2), (3, 2, 3), (4, 3, 4);",
    );
    let shape = |row: usize| tables.dispatches.shape.get(row).map(|shape| tables.shapes.get(shape));
    let first = shape(0).expect("a shape");
    assert_eq!((first.items, first.groups), (Some([1024, 2, 1]), Some([4, 2, 1])));
    assert_eq!((first.lds, first.scratch), (Some(512), Some(16)));
    assert_eq!(shape(1).and_then(|shape| shape.items), Some([64, 1, 1]));
    assert_eq!(shape(2), None, "the one row of a graph launch describes another kernel");
    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.bytes), (Direction::DeviceToHost, Some(4096)));
    assert_eq!((copy.source, copy.destination), (None, None), "this path calls every copy's GPU 0");
    assert_eq!(tables.api_calls.launches[2].direction, Direction::DeviceToHost);
}

#[test]
fn copies_know_bytes_direction_and_ends_where_their_call_does() {
    let tables = rpd3(LAUNCHES);
    let [copy, graph] = tables.copies[..] else { panic!("two copies") };
    assert_eq!((copy.direction, copy.bytes), (Direction::HostToDevice, Some(65536)));
    assert_eq!((copy.destination_address, copy.source_address), (Some(0x7f00), Some(0x10)));
    assert_eq!(copy.destination.map(|agent| tables.agent(agent).number), Some(2));
    assert_eq!((copy.source, copy.tid, copy.correlation), (None, Some(501), 3));
    assert_eq!(texts(&tables, [copy.name, graph.name]), ["CopyHostToDevice", "CopyDeviceToDevice"]);
    assert_eq!((graph.bytes, graph.direction), (None, Direction::DeviceToDevice));
    assert_eq!((graph.source, graph.destination), (None, None));
}

#[test]
fn empty_text_in_integer_columns_is_unknown() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 11, 1, 2, 1), (2, 500, 501, 120, 130, 11, 1, 2, 1);
         insert into rocpd_copyapi values (1, '', '', '', '', 2, '', '', '', '', '', ''),
            (2, '', '', 100, 7, 2, '', '', 0, 0, 1, 1);
         insert into rocpd_op values (1, 0, 0, 0, 200, 260, 1, 7), (2, 0, 0, 0, 300, 310, 1, 7);
         insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2);",
    );
    assert_eq!(tables.copies.iter().map(|copy| copy.bytes).collect::<Vec<_>>(), [None, Some(700)]);
    assert_eq!(tables.copies[0].source.map(|agent| tables.agent(agent).number), Some(0));
    let launches = &tables.api_calls.launches;
    assert_eq!((launches[0].extent, launches[1].extent), (None, Some((100, 7))));
    assert_eq!((launches[0].sync, launches[1].sync), (false, true));
}

#[test]
fn ops_that_share_one_calls_bytes_know_none() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 11, 1, 2, 1);
         insert into rocpd_copyapi values (1, '', 8192, '', '', 2, '', '', 0, 0, 0, 0);
         insert into rocpd_op values (1, 0, 0, 0, 200, 260, 1, 7), (2, 0, 0, 0, 300, 310, 1, 7);
         insert into rocpd_api_ops values (1, 1, 1), (2, 1, 2);",
    );
    assert_eq!(tables.copies.iter().map(|copy| copy.bytes).collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_peer_copy_names_both_gpus() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 13, 1, 2, 1);
         insert into rocpd_copyapi values (1, '', 64, '', '', 3, '0x1', '0x2', 1, 0, 0, 0);
         insert into rocpd_op values (1, 1, 0, 0, 200, 260, 1, 8);
         insert into rocpd_api_ops values (1, 1, 1);",
    );
    let copy = tables.copies[0];
    let number = |agent: Option<rtl_schema::AgentId>| agent.map(|agent| tables.agent(agent).number);
    assert_eq!((number(copy.source), number(copy.destination)), (Some(0), Some(1)));
    assert_eq!(tables.agents.iter().map(|agent| agent.number).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn markers_are_calls_whose_text_is_in_the_arguments() {
    let markers = "insert into rocpd_ustring values (2, 'step0'), (3, 'unused'), (4, 'tick');
        insert into rocpd_api values (2147483649, 500, 501, 100, 900, 3, 1, 3, 2),
            (2147483650, 500, 501, 150, 150, 3, 1, 3, 4), (7, 500, 501, 200, 210, 9, 1, 2, 3);";
    let tables = rpd3(markers);
    assert_eq!(texts(&tables, tables.ranges.iter().map(|range| range.name)), ["step0", "tick"]);
    let kinds: Vec<_> = tables.ranges.iter().map(|range| (range.id, range.kind, range.duration)).collect();
    assert_eq!(
        kinds,
        [(2_147_483_649, RangeKind::Thread, Some(800)), (2_147_483_650, RangeKind::Marker, Some(0))]
    );
    assert_eq!(tables.ranges[0].tid, Some(501));
    assert_eq!(texts(&tables, tables.api_calls.args.iter()), ["unused"]);
    let without_arguments = selected(&format!("{RPD3}{markers}"), &Select::summary());
    assert_eq!(
        texts(&without_arguments, without_arguments.ranges.iter().map(|range| range.name)),
        ["step0", "tick"]
    );
    assert_eq!(without_arguments.strings.lookup("unused"), None, "an argument nobody asked for is not kept");
}

#[test]
fn garbage_in_category_domain_and_arguments_is_counted() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 9, 140243, 99, 77), (2, 500, 501, 120, 130, 9, 0, 0, 0),
            (3, 500, 501, 140, 150, 999, 1, 2, 1);",
    );
    assert_eq!(tables.api_calls.len(), 3);
    assert_eq!(tables.api_calls.domain.get(0), NameId::DANGLING);
    assert_eq!(tables.api_calls.domain.get(1), NameId::NONE);
    assert_eq!(
        problems(&tables),
        [
            "DanglingName rocpd_api.domain_id 1 1",
            "DanglingName rocpd_api.category_id 1 1",
            "DanglingName rocpd_api.apiName_id 1 3",
            "DanglingName rocpd_api.args_id 1 1"
        ]
    );
}

#[test]
fn links_to_missing_rows_are_left_out_and_further_calls_kept_apart() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 9, 1, 2, 1), (2, 500, 502, 120, 130, 9, 1, 2, 1);
         insert into rocpd_op values (1, 0, 0, 0, 200, 260, 14, 4), (2, 0, 0, 0, 300, 310, 14, 4),
            (3, 0, 0, 0, 400, 410, 14, 4);
         insert into rocpd_api_ops values (1, 2, 2), (2, 88, 1), (3, 1, 2), (4, 1, 77), (5, 1, 78);",
    );
    assert_eq!(tables.dispatches.correlation.iter().collect::<Vec<_>>(), [0, 2, 0]);
    assert_eq!(tables.dispatches.tid.iter().collect::<Vec<_>>(), [None, Some(502), None]);
    assert_eq!(tables.extra_links, [(2, 1)]);
    assert_eq!(
        problems(&tables),
        ["DanglingLink rocpd_api_ops.op_id 2 77", "DanglingLink rocpd_api_ops.api_id 1 88"]
    );
    assert_eq!(tables.processes.len(), 1, "an op without a call belongs to the only process");
}

#[test]
fn ids_of_a_session_exceed_32_bits_and_its_strings_repeat() {
    let session = 1_i64 << 32;
    let tables = rpd3(&format!(
        "insert into rocpd_string values ({0}, 'gemm'), ({1}, 'KernelExecution'), ({2}, 'hipLaunchKernel');
         insert into rocpd_api values (1, 500, 500, 100, 110, 9, 1, 2, 1), ({0}, 600, 600, 300, 310, {2}, 1, 2, 1);
         insert into rocpd_op values (1, 0, 0, 0, 200, 260, 14, 4), ({0}, 1, 0, 0, 400, 410, {0}, {1});
         insert into rocpd_api_ops values (1, 1, 1), ({0}, {0}, {0});",
        session + 1,
        session + 2,
        session + 3
    ));
    let [first, second] = [tables.dispatches.get(0), tables.dispatches.get(1)];
    assert_eq!(first.name, second.name, "equal text is one name");
    assert_eq!((second.id, second.correlation, second.tid), (session + 1, session + 1, Some(600)));
    let process = |row: usize| tables.process(tables.tracks.get(tables.dispatches.track[row]).process).pid;
    assert_eq!((process(0), process(1)), (Some(500), Some(600)));
}

#[test]
fn packed_ids_of_several_machines_come_apart() {
    let tables = rpd3(
        "insert into rocpd_api values (1, 500, 501, 100, 110, 9, 1, 2, 1), (2, 10000500, 10000501, 120, 130, 9, 1, 2, 1);
         insert into rocpd_op values (1, 3, 1, 0, 200, 260, 14, 4), (2, 1003, 1001, 0, 300, 310, 14, 4);
         insert into rocpd_api_ops values (1, 1, 1), (2, 2, 2);",
    );
    let agents: Vec<_> =
        tables.agents.iter().map(|agent| (agent.number, agent.node, agent.type_index)).collect();
    assert_eq!(agents, [(3, Some(0), Some(3)), (1003, Some(1), Some(3))]);
    let processes: Vec<_> = tables.processes.iter().map(|process| (process.pid, process.node)).collect();
    assert_eq!(processes, [(Some(500), Some(0)), (Some(500), Some(1))]);
    assert_eq!(tables.dispatches.tid.iter().collect::<Vec<_>>(), [Some(501), Some(501)]);
    let queues: Vec<_> =
        tables.dispatches.track.iter().map(|&track| tables.tracks.get(track).queue).collect();
    assert_eq!(queues, [1, 1]);
}

#[test]
fn one_machine_has_no_number() {
    let tables = rpd3(LAUNCHES);
    assert!(tables.agents.iter().all(|agent| agent.node.is_none()));
    assert!(tables.processes.iter().all(|process| process.node.is_none()));
}

#[test]
fn schema_2_keeps_arguments_in_the_one_string_table() {
    let tables = everything(&format!(
        "{RPD2} insert into rocpd_string values (1, ''), (2, 'UserMarker'), (3, 'aten::mm'), (4, 'hipMalloc'),
            (5, 'ptr=0x1 | size=0x40');
         insert into rocpd_api values (1, 500, 501, 100, 900, 2, 3), (2, 500, 501, 110, 120, 4, 5);"
    ));
    assert_eq!(tables.info.dialect, Dialect::Rpd2);
    assert_eq!(texts(&tables, tables.ranges.iter().map(|range| range.name)), ["aten::mm"]);
    assert_eq!(texts(&tables, tables.api_calls.args.iter()), ["ptr=0x1 | size=0x40"]);
    assert_eq!(problems(&tables), [""; 0]);
}

#[test]
fn the_texts_may_stand_in_a_view() {
    let rpd3 = RPD3.replace(
        "create table rocpd_ustring (id integer primary key autoincrement, string varchar(4096) not null);",
        "create view rocpd_ustring as select id, string from rocpd_string where id > 10 order by id desc;",
    );
    let tables = everything(&format!(
        "{} insert into rocpd_string values (31, 'step');
         insert into rocpd_api values (1, 500, 501, 100, 900, 3, 1, 3, 31);",
        rpd3.replace("insert into rocpd_ustring values (1, '');", "")
    ));
    assert_eq!(texts(&tables, tables.ranges.iter().map(|range| range.name)), ["step"]);
}

#[test]
fn counters_monitors_and_stacks_are_kept() {
    let tables = rpd3(
        "insert into rocpd_counter values (1, 2.5, 7, 14); insert into rocpd_stackframe values (1, 9, 0, 15), (2, 9, 1, 99);
         insert into rocpd_monitor values (1, 'gpu', 3, 'sclk', 10, 20, 1700);
         create table ext_autogradapi (api_ptr_id integer primary key, autogradName_id integer);",
    );
    assert_eq!((tables.counters[0].dispatch, tables.counters[0].value), (7, 2.5));
    assert!(tables.info.counters);
    assert_eq!(
        texts(&tables, tables.stack_frames.iter().map(|frame| frame.name)),
        ["softmax", "(dangling name)"]
    );
    assert_eq!(texts(&tables, [tables.monitors[0].value]), ["1700"]);
    assert_eq!(
        tables.opaque_tables.iter().map(|extra| extra.name.as_str()).collect::<Vec<_>>(),
        ["ext_autogradapi"]
    );
}

#[test]
fn further_columns_of_another_tracer_do_no_harm() {
    let tables = rpd3(
        "alter table rocpd_op add column completionSignal text; alter table rocpd_op add column extra real;
         insert into rocpd_op values (1, 2, 0, 0, 200, 260, 14, 4, 'wg=1,1,1 grid=1,1,1', 0.5);",
    );
    assert_eq!(tables.info.dialect, Dialect::Rpd3);
    assert_eq!((tables.dispatches.len(), tables.dispatches.shape.get(0)), (1, None));
}

/// A real trace and the numbers that SQLite computes for it.
struct Real {
    tables: Tables,
    connection: rusqlite::Connection,
    _file: tempfile::NamedTempFile,
}

impl Real {
    fn open(name: &str) -> Option<Self> {
        use std::io::Read;
        let path = support::shared()?.join("traces").join(name);
        let tables = Trace::open(&path).expect("a trace").read(&Select::everything()).expect("its rows");
        let bytes = std::fs::read(&path).expect("the file");
        let file = database("");
        let mut content = bytes.clone();
        if name.ends_with(".gz") {
            content.clear();
            flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut content).expect("gzip");
        }
        std::fs::write(file.path(), content).expect("a copy");
        let connection = rusqlite::Connection::open(file.path()).expect("a database");
        Some(Self { tables, connection, _file: file })
    }

    fn number(&self, sql: &str) -> i64 {
        self.connection.query_row(sql, [], |row| row.get(0)).expect("a number")
    }

    fn pairs(&self, sql: &str) -> Vec<(String, i64)> {
        let mut statement = self.connection.prepare(sql).expect("a query");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    }

    fn matches_sqlite(&self) {
        let tables = &self.tables;
        let is_kernel =
            "opType_id in (select id from rocpd_string where string in ('KernelExecution', 'Task'))";
        assert_eq!(
            tables.dispatches.len() as i64,
            self.number(&format!("select count(*) from rocpd_op where {is_kernel}"))
        );
        let mut by_name = std::collections::BTreeMap::<String, i64>::new();
        for dispatch in tables.dispatches.iter() {
            let name = tables.strings.get(dispatch.name).to_owned();
            *by_name.entry(name).or_default() += dispatch.duration.expect("an end");
        }
        let expected = self.pairs(&format!(
            "select string, sum(end - start) from rocpd_op o join rocpd_string s on s.id = o.description_id
             where {is_kernel} group by string order by string"
        ));
        assert_eq!(by_name.into_iter().collect::<Vec<_>>(), expected);
        let mut bytes = std::collections::BTreeMap::<String, i64>::new();
        for copy in &tables.copies {
            *bytes.entry(tables.strings.get(copy.name).to_owned()).or_default() +=
                copy.bytes.unwrap_or(0) as i64;
        }
        let expected = self.pairs(
            "select string, ifnull(sum(size), 0) from rocpd_op o join rocpd_string s on s.id = o.opType_id
             join rocpd_api_ops l on l.op_id = o.id left join rocpd_copyapi c on c.api_ptr_id = l.api_id
             where string like 'Copy%' or string = 'FillBuffer' group by string order by string",
        );
        assert_eq!(bytes.into_iter().collect::<Vec<_>>(), expected);
        let markers = "apiName_id in (select id from rocpd_string where string = 'UserMarker')";
        let count = self.number(&format!("select count(*) from rocpd_api where {markers}"));
        assert_eq!(tables.ranges.len() as i64, count);
        let spent =
            self.number(&format!("select ifnull(sum(end - start), 0) from rocpd_api where {markers}"));
        assert_eq!(tables.ranges.iter().filter_map(|range| range.duration).sum::<i64>(), spent);
        assert_eq!(tables.api_calls.len() as i64, self.number("select count(*) from rocpd_api") - count);
        let links: i64 = tables.dispatches.iter().map(|dispatch| dispatch.correlation).sum::<i64>()
            + tables.copies.iter().map(|copy| copy.correlation).sum::<i64>();
        assert_eq!(links, self.number("select sum(api_id) from rocpd_api_ops"));
        assert_eq!(
            tables.api_calls.launches.len() as i64,
            self.number(
                "select (select count(*) from rocpd_kernelapi) + (select count(*) from rocpd_copyapi)"
            )
        );
        assert_eq!(problems(tables), [""; 0]);
    }
}

#[test]
fn the_real_vllm_trace_reads_as_sqlite_reads_it() {
    let Some(real) = Real::open("real/rpd2-vllm-fp8.rpd.gz") else { return };
    real.matches_sqlite();
    let tables = &real.tables;
    assert_eq!(tables.info.dialect, Dialect::Rpd2);
    assert_eq!(tables.dispatches.graph.iter().filter(|&graph| graph).count(), 7720);
    assert_eq!(tables.copies.iter().filter(|copy| copy.bytes.is_none()).count(), 640);
    let shaped = tables.dispatches.shape.iter().flatten().count();
    assert_eq!(shaped, 1228, "kernels of graph launches have no shape");
    assert_eq!(tables.opaque_tables.iter().map(|extra| extra.rows.len()).collect::<Vec<_>>(), [11816, 86387]);
}

#[test]
fn the_real_matmul_trace_and_the_made_one_read_as_sqlite_reads_them() {
    for name in ["real/rpd2-matmul-mi200.rpd", "made/rpd3.rpd"] {
        if let Some(real) = Real::open(name) {
            real.matches_sqlite();
        }
    }
}
