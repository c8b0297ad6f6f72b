//! rocprofv3's JSON: small documents written here, the made one beside its database, the real one.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rtl_schema::table::{AgentKind, AllocationKind, AllocationLevel, Direction, RangeKind};
use rtl_schema::{Dialect, Error, ProblemKind, Select, Tables, Trace};
use serde_json::{Value, json};
use tempfile::TempDir;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn written(text: &str) -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("results.json");
    std::fs::File::create(&path)?.write_all(text.as_bytes())?;
    Ok((folder, path))
}

fn read(path: &Path) -> rtl_schema::Result<Tables> {
    let trace = Trace::open(path)?;
    assert_eq!(trace.dialect(), Dialect::RocprofilerJson);
    trace.read(&Select::everything())
}

fn parsed(document: &Value) -> Result<Tables, Box<dyn std::error::Error>> {
    let (_folder, path) = written(&document.to_string())?;
    Ok(read(&path)?)
}

fn dispatch(kernel: i64, agent: i64, start: i64, end: i64) -> Value {
    json!({
        "kind": 1, "operation": 1, "thread_id": 4712,
        "correlation_id": {"internal": 21, "external": 0},
        "start_timestamp": start, "end_timestamp": end,
        "dispatch_info": {
            "agent_id": {"handle": agent}, "queue_id": {"handle": 18_446_744_073_709_551_615_u64},
            "kernel_id": kernel, "dispatch_id": 5, "private_segment_size": 16, "group_segment_size": 1024,
            "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 1000, "y": 2, "z": 1}
        },
        "stream_id": {"handle": 3}
    })
}

fn record(kind: i64, operation: i64, correlation: i64, start: i64, end: i64) -> Value {
    json!({
        "kind": kind, "operation": operation, "thread_id": 4712,
        "correlation_id": {"internal": correlation, "external": 0, "ancestor": 0},
        "start_timestamp": start, "end_timestamp": end
    })
}

/// One process with a CPU and a GPU and a kernel `gemm()`, its kinds numbered as no ROCm does.
fn process() -> Value {
    json!({
        "metadata": {
            "node": {"machine_id": "machine-a", "hostname": "node-a"}, "pid": 4711,
            "init_time": 10, "fini_time": 9000, "command": ["python", "train.py"]
        },
        "agents": [
            {"id": {"handle": 100}, "type": 1, "name": "EPYC", "node_id": 0, "logical_node_id": 0, "logical_node_type_id": 0},
            {"id": {"handle": 101}, "type": 2, "name": "gfx942", "product_name": "AMD Instinct MI300X",
             "node_id": 4, "logical_node_id": 1, "logical_node_type_id": 0, "uuid": {"bytes": {"value0": 1, "value1": 2}}}
        ],
        "strings": {
            "buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "KERNEL_DISPATCH", "operations": ["NONE", "COMPLETE"]},
                {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", "MEMORY_COPY_DEVICE_TO_HOST"]},
                {"kind": "HIP_RUNTIME_API_EXT", "operations": ["hipMalloc", "hipLaunchKernel"]},
                {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA"]},
                {"kind": "MARKER_CONTROL_API", "operations": ["roctxProfilerPause"]},
                {"kind": "MEMORY_ALLOCATION", "operations": ["NONE", "MEMORY_ALLOCATION_VMEM_ALLOCATE", "MEMORY_ALLOCATION_FREE"]}
            ],
            "marker_api": [{"key": 31, "value": "forward"}, {"key": 33, "value": "here"}]
        },
        "kernel_symbols": [
            {"kernel_id": 0, "kernel_name": "", "formatted_kernel_name": "0"},
            {"kernel_id": 7, "code_object_id": 2, "kernel_name": "_Z4gemmv.kd", "formatted_kernel_name": "gemm()",
             "truncated_kernel_name": "gemm", "sgpr_count": 96, "arch_vgpr_count": 128, "accum_vgpr_count": 4}
        ],
        "buffer_records": {"kernel_dispatch": [dispatch(7, 101, 1000, 1500)]}
    })
}

fn document(process: Value) -> Value {
    json!({"rocprofiler-sdk-tool": [process]})
}

#[test]
fn a_dispatch_carries_all_that_its_record_says() -> Outcome {
    let tables = parsed(&document(process()))?;
    let dispatch = tables.dispatches.get(0);
    let track = tables.tracks.get(dispatch.track);
    assert_eq!(tables.strings.get(dispatch.name), "gemm()");
    assert_eq!((dispatch.id, dispatch.start, dispatch.duration), (5, 1000, Some(500)));
    assert_eq!((dispatch.tid, dispatch.correlation), (Some(4712), 21));
    // A handle above 2^63 keeps its bits.
    assert_eq!((track.queue, track.stream), (-1, Some(3)));
    let shape = tables.shapes.get(dispatch.shape.ok_or("no shape")?);
    assert_eq!((shape.groups, shape.lds, shape.scratch), (Some([4, 2, 1]), Some(1024), Some(16)));
    let symbol = tables.symbols[dispatch.symbol.ok_or("no symbol")?.index()];
    assert_eq!((symbol.id, symbol.sgprs, symbol.vgprs, symbol.agprs), (7, Some(96), Some(128), Some(4)));
    let agent = tables.agent(track.agent);
    assert_eq!((agent.kind, agent.number, agent.absolute_index), (AgentKind::Gpu, 0, Some(4)));
    assert_eq!(agent.uuid.as_deref(), Some("GPU-0000000000000201"));
    let process = &tables.processes[0];
    assert_eq!((process.pid, process.start, process.end), (Some(4711), Some(10), Some(9000)));
    assert_eq!(
        (process.host.as_deref(), process.command.as_deref()),
        (Some("node-a"), Some("python train.py"))
    );
    assert_eq!(tables.problems.iter().count(), 0);
    Ok(())
}

#[test]
fn names_of_lists_are_strings_only_where_a_row_needs_them() -> Outcome {
    let mut named = process();
    named["buffer_records"] = json!({
        "kernel_dispatch": [dispatch(9, 101, 1000, 1500)], "memory_copy": [], "scratch_memory": [],
        "hip_api": [record(99, 1, 21, 900, 950)]
    });
    let tables = parsed(&document(named))?;
    for unused in ["kernel_dispatch", "memory_copy", "scratch_memory"] {
        assert_eq!(tables.strings.lookup(unused), None, "{unused}");
    }
    // The kind is unknown, so the list is the domain of the call.
    assert_eq!(tables.strings.get(tables.api_calls.get(0).domain), "hip_api");
    Ok(())
}

#[test]
fn records_may_stand_before_what_they_refer_to() -> Outcome {
    let Value::Object(fields) = process() else { return Err("no object".into()) };
    let mut backwards: Vec<String> =
        fields.iter().map(|(key, value)| format!("{}: {value}", Value::from(key.as_str()))).collect();
    backwards.sort_by_key(|field| !field.starts_with("\"buffer_records"));
    let (_folder, path) = written(&format!("{{\"rocprofiler-sdk-tool\": [{{{}}}]}}", backwards.join(", ")))?;
    let (first, usual) = (read(&path)?, parsed(&document(process()))?);
    assert_eq!(first.strings.get(first.dispatches.name[0]), "gemm()");
    assert_eq!(first.tracks, usual.tracks);
    assert_eq!(first.dispatches.symbol, usual.dispatches.symbol);
    Ok(())
}

#[test]
fn calls_and_markers_are_named_through_the_tables_of_the_file() -> Outcome {
    let mut process = process();
    let mut launch = record(3, 1, 21, 100, 130);
    launch["args"] =
        json!([{"type": "void*", "name": "f", "value": "0x1"}, {"type": "int", "name": "n", "value": "2"}]);
    launch["stream_id"] = json!({"handle": 6});
    process["buffer_records"]["hip_api"] = json!([launch, record(3, 99, 22, 140, 150)]);
    process["buffer_records"]["rccl_api"] = json!([record(44, 2, 23, 160, 170)]);
    process["buffer_records"]["marker_api"] = json!([
        record(4, 1, 31, 50, 60),
        record(4, 2, 32, 40, 70),
        record(4, 0, 33, 55, 55),
        record(5, 0, 34, 80, 81),
    ]);
    process["buffer_records"]["pc_sample_host_trap"] = json!([{"anything": [1, {"a": 2}]}]);
    let tables = parsed(&document(process))?;
    let calls: Vec<_> = tables
        .api_calls
        .iter()
        .map(|call| {
            (tables.strings.get(call.name), tables.strings.get(call.domain), call.correlation, call.duration)
        })
        .collect();
    assert_eq!(
        calls,
        [
            ("hipLaunchKernel", "HIP_RUNTIME_API_EXT", 21, Some(30)),
            ("hip_api operation 99", "HIP_RUNTIME_API_EXT", 22, Some(10)),
            ("rccl_api operation 2", "rccl_api", 23, Some(10)),
            // It annotates nothing, so it is a call.
            ("roctxProfilerPause", "MARKER_CONTROL_API", 34, Some(1)),
        ]
    );
    assert_eq!(tables.strings.get(tables.api_calls.get(0).args), "f=0x1, n=2");
    assert_eq!(tables.api_calls.get(0).stream, Some(6));
    let ranges: Vec<_> = tables
        .ranges
        .iter()
        .map(|range| (tables.strings.get(range.name), range.kind, range.start, range.duration))
        .collect();
    assert_eq!(
        ranges,
        [
            ("forward", RangeKind::Thread, 50, Some(10)),
            ("roctxProcessRangeA", RangeKind::Process, 40, Some(30)),
            ("here", RangeKind::Marker, 55, Some(0)),
        ]
    );
    Ok(())
}

#[test]
fn what_a_call_returned_is_its_result_where_that_is_a_status() -> Outcome {
    let mut process = process();
    process["strings"]["buffer_records"][3]["operations"] =
        json!(["hipFree", "hipGetErrorName", "hipCreateChannelDesc"]);
    let returned = [
        (0, json!({"hipError_t_retval": 719})),
        (0, json!({"uint64_t_retval": 1})),
        (0, json!({"uint64_t_retval": 0})),
        (1, json!({"uint64_t_retval": 0x7f00_0000_1000_u64})),
        (2, json!({"uint64_t_retval": 32})),
        (0, json!("nothing")),
    ];
    let call = |(at, (operation, retval)): (usize, (i64, Value))| {
        let mut call = record(3, operation, 21 + at as i64, 100, 130);
        call["retval"] = retval;
        call
    };
    process["buffer_records"]["hip_api"] = returned.into_iter().enumerate().map(call).collect();
    let tables = parsed(&document(process))?;
    let results: Vec<i64> = tables.api_calls.iter().map(|call| call.result).collect();
    assert_eq!(results, [719, 1, 0, 0, 0, 0]);
    Ok(())
}

#[test]
fn copies_allocations_and_counters_are_read() -> Outcome {
    let mut process = process();
    let mut copy = record(2, 1, 41, 2000, 2100);
    copy["src_agent_id"] = json!({"handle": 101});
    copy["dst_agent_id"] = json!({"handle": 100});
    copy["bytes"] = json!(4096);
    process["buffer_records"]["memory_copy"] = json!([copy]);
    let mut allocation = record(6, 1, 51, 5, 7);
    allocation["agent_id"] = json!({"handle": 101});
    allocation["address"] = json!("0x00007f5500000000");
    allocation["allocation_size"] = json!(64);
    let mut release = record(6, 2, 52, 8, 9);
    release["agent_id"] = json!({"handle": 0});
    process["buffer_records"]["memory_allocation"] = json!([allocation, release]);
    process["counters"] = json!([{"id": {"handle": 8_070_450_532_247_928_832_u64}, "name": "SQ_WAVES"}]);
    process["callback_records"] = json!({"counter_collection": [{
        "thread_id": 1, "dispatch_data": dispatch(7, 101, 1000, 1500),
        "records": [
            {"counter_id": {"handle": 8_070_450_532_247_928_832_u64}, "value": 1.5},
            {"counter_id": {"handle": 8_070_450_532_247_928_832_u64}, "value": 2}
        ]
    }]});
    let tables = parsed(&document(process))?;
    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.bytes, copy.duration), (Direction::DeviceToHost, Some(4096), Some(100)));
    assert_eq!(Some(tables.tracks.get(copy.track).agent), copy.source);
    let events: Vec<_> = tables
        .allocations
        .iter()
        .map(|event| (event.kind, event.level, event.agent.is_some(), event.bytes, event.address))
        .collect();
    assert_eq!(
        events,
        [
            (AllocationKind::Allocate, AllocationLevel::Virtual, true, 64, Some(0x7f55_0000_0000)),
            (AllocationKind::Free, AllocationLevel::Real, false, 0, None),
        ]
    );
    let counters: Vec<_> = tables
        .counters
        .iter()
        .map(|counter| (counter.dispatch, tables.strings.get(counter.name), counter.value))
        .collect();
    assert_eq!(counters, [(5, "SQ_WAVES", 1.5), (5, "SQ_WAVES", 2.0)]);
    assert!(tables.info.counters);
    // The dispatch that the counters were collected of is the recorded one, not a second.
    assert_eq!(tables.dispatches.len(), 1);
    Ok(())
}

#[test]
fn a_run_that_only_collected_counters_still_has_its_dispatches() -> Outcome {
    let mut process = process();
    process["buffer_records"]["kernel_dispatch"] = json!([]);
    process["callback_records"] = json!({"counter_collection": [{
        "thread_id": 9, "dispatch_data": dispatch(7, 101, 1000, 1500), "records": [], "stream_id": {"handle": 1}
    }]});
    let tables = parsed(&document(process))?;
    let dispatch = tables.dispatches.get(0);
    assert_eq!(tables.strings.get(dispatch.name), "gemm()");
    assert_eq!((dispatch.duration, dispatch.tid), (Some(500), Some(9)));
    Ok(())
}

#[test]
fn every_process_of_the_list_is_read_and_ids_stay_apart() -> Outcome {
    let mut second = process();
    second["metadata"]["pid"] = json!(5000);
    second["kernel_symbols"][1]["formatted_kernel_name"] = json!("copy()");
    let tables = parsed(&json!({"rocprofiler-sdk-tool": [process(), second]}))?;
    let rows: Vec<_> = tables
        .dispatches
        .iter()
        .map(|row| {
            let process = tables.process(tables.tracks.get(row.track).process);
            (tables.strings.get(row.name), process.pid, process.space)
        })
        .collect();
    assert_eq!(rows, [("gemm()", Some(4711), 0), ("copy()", Some(5000), 1)]);
    // Device 4 of the one machine is one agent, listed twice.
    assert_eq!(tables.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu).count(), 1);
    Ok(())
}

#[test]
fn one_process_without_a_list_around_it_is_read_too() -> Outcome {
    let tables = parsed(&json!({"rocprofiler-sdk-tool": process()}))?;
    assert_eq!(tables.dispatches.len(), 1);
    Ok(())
}

#[test]
fn rows_whose_references_are_missing_are_read_all_the_same() -> Outcome {
    let mut process = process();
    let mut cut = dispatch(7, 101, 1, 2);
    cut["start_timestamp"] = Value::Null;
    let mut open = dispatch(7, 101, 4000, 0);
    open["end_timestamp"] = Value::Null;
    process["buffer_records"]["kernel_dispatch"] = json!([
        dispatch(7, 101, 1000, 1500),
        dispatch(99, 101, 2000, 2010),
        dispatch(7, 555, 3000, 3010),
        cut,
        open
    ]);
    let tables = parsed(&document(process))?;
    let rows: Vec<_> = tables
        .dispatches
        .iter()
        .map(|row| {
            let agent = tables.agent(tables.tracks.get(row.track).agent);
            (tables.strings.get(row.name), row.duration, agent.kind, agent.number)
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("gemm()", Some(500), AgentKind::Gpu, 0),
            ("(dangling name)", Some(10), AgentKind::Gpu, 0),
            ("gemm()", Some(10), AgentKind::Gpu, 1),
            ("gemm()", None, AgentKind::Gpu, 0),
        ]
    );
    assert_eq!(tables.problems.count(ProblemKind::DanglingReference), 2);
    assert_eq!(tables.problems.count(ProblemKind::MissingStart), 1);
    Ok(())
}

#[test]
fn a_file_that_is_cut_off_anywhere_says_where() -> Outcome {
    let text = document(process()).to_string();
    let key = text.find(':').ok_or("no key")?;
    let (_folder, path) = written("")?;
    for end in (key..text.len()).step_by(7) {
        std::fs::write(&path, &text[..end])?;
        match read(&path) {
            Err(Error::Damaged { detail, .. }) => assert!(detail.contains("line 1 column"), "{detail}"),
            other => panic!("cut at {end}: {other:?}"),
        }
    }
    Ok(())
}

#[test]
fn a_value_of_another_type_is_no_panic() -> Outcome {
    let text = document(process()).to_string();
    let (_folder, path) = written("")?;
    let inner = text.find('[').ok_or("no list")?;
    for (old, new) in
        [("{", "[{"), ("[", "{"), (":1", ":\"x\""), (":{", ":null,\"a\":{"), (":[", ":7,\"a\":["), ("\"", "")]
    {
        for (at, _) in text.match_indices(old).filter(|&(at, _)| at > inner) {
            std::fs::write(&path, format!("{}{new}{}", &text[..at], &text[at + old.len()..]))?;
            match Trace::open(&path)?.read(&Select::everything()) {
                Ok(_) | Err(Error::Damaged { .. } | Error::Malformed { .. }) => {}
                Err(other) => panic!("{old} -> {new} at {at}: {other:?}"),
            }
        }
    }
    Ok(())
}

#[test]
fn json_of_another_tool_is_not_read() -> Outcome {
    let (_folder, path) = written("{\"traceEvents\": []}")?;
    assert!(matches!(Trace::open(&path), Err(Error::Unread { .. })));
    Ok(())
}

#[test]
fn what_rocm_trace_lite_writes_in_its_place_is_read() -> Outcome {
    let mut process = process();
    process["strings"] = json!([]);
    process["agents"] = json!([
        {"id": {"handle": 0}, "type": 2, "name": "GPU-Agent-0"}, {"id": {"handle": 3}, "type": 2, "name": "GPU-Agent-3"}
    ]);
    process["buffer_records"] = json!({
        "kernel_dispatch": [dispatch(7, 3, 1000, 1500)],
        "hip_api": [{"kind": 3, "operation": "hipMalloc", "thread_id": 1, "correlation_id": {"internal": 0},
                     "start_timestamp": 5, "end_timestamp": 6}],
        "memory_copy": [{"kind": 1, "operation": 2, "start_timestamp": 5, "end_timestamp": 6}]
    });
    let tables = parsed(&document(process))?;
    let call = tables.api_calls.get(0);
    assert_eq!((tables.strings.get(call.name), tables.strings.get(call.domain)), ("hipMalloc", "hip_api"));
    assert_eq!(tables.agent(tables.tracks.get(tables.dispatches.track[0]).agent).number, 3);
    // It counts the directions differently and names no agents.
    assert_eq!(tables.copies[0].direction, Direction::DeviceToHost);
    assert_eq!(tables.agent(tables.tracks.get(tables.copies[0].track).agent).kind, AgentKind::Unknown);
    assert_eq!(tables.info.tool, "rocm-trace-lite");
    Ok(())
}

#[test]
fn the_json_and_the_database_of_one_run_say_the_same() -> Outcome {
    let Some(shared) = support::shared() else { return Ok(()) };
    let json = read(&shared.join("golden/rocprofv3/results.json"))?;
    let database = Trace::open(shared.join("traces/made/rocprofv3-rank0.db"))?.read(&Select::everything())?;
    assert_eq!(json.problems.iter().count(), 0);
    let dispatches = |tables: &Tables| -> Vec<_> {
        let rows = tables.dispatches.iter().map(|row| {
            let track = tables.tracks.get(row.track);
            let shape = row.shape.map(|shape| tables.shapes.get(shape));
            let symbol = row.symbol.map(|symbol| tables.symbols[symbol.index()].vgprs);
            let place = (track.queue, track.stream, tables.agent(track.agent).number);
            let name = tables.strings.get(row.name).to_owned();
            (row.id, name, row.start, row.duration, row.tid, row.correlation, place, shape, symbol)
        });
        rows.collect()
    };
    assert_eq!(dispatches(&json).len(), 24);
    assert_eq!(dispatches(&json), dispatches(&database));

    let calls = |tables: &Tables| -> Vec<_> {
        let rows = tables.api_calls.iter().map(|call| {
            let text = |id| tables.strings.get(id).to_owned();
            (
                text(call.name),
                text(call.domain),
                text(call.args),
                call.start,
                call.duration,
                call.correlation,
                call.tid,
            )
        });
        rows.collect()
    };
    assert_eq!(calls(&json).len(), 30);
    assert_eq!(calls(&json), calls(&database));

    let ranges = |tables: &Tables| {
        let rows = tables.ranges.iter().map(|range| {
            let text = |id| tables.strings.get(id).to_owned();
            (
                range.start,
                text(range.name),
                text(range.category),
                range.kind,
                range.duration,
                range.correlation,
            )
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort();
        rows
    };
    assert_eq!(ranges(&json), ranges(&database));

    let copies = |tables: &Tables| -> Vec<_> {
        let rows = tables.copies.iter().map(|copy| {
            let agent = tables.agent(tables.tracks.get(copy.track).agent);
            (
                copy.direction,
                copy.bytes,
                copy.start,
                copy.duration,
                agent.kind,
                agent.number,
                copy.correlation,
            )
        });
        rows.collect()
    };
    assert_eq!(copies(&json), copies(&database));
    let values = |tables: &Tables| -> Vec<_> {
        tables.counters.iter().map(|counter| (counter.dispatch, counter.value)).collect()
    };
    assert_eq!(values(&json), values(&database));
    assert_eq!(json.allocations.len(), database.allocations.len());
    Ok(())
}

#[test]
fn the_traces_of_rocm_trace_lites_converter_open() -> Outcome {
    let Some(shared) = support::shared() else { return Ok(()) };
    for name in ["hip_api", "markers", "one_queue", "two_queues", "multi_hwq"] {
        let path = shared.join(format!("golden/rocm-trace-lite/{name}.rocprofv3.json"));
        let tables = read(&path)?;
        let document: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
        let records = &document["rocprofiler-sdk-tool"][0]["buffer_records"];
        let count = |list: &str| records[list].as_array().map_or(0, Vec::len);
        assert_eq!(tables.dispatches.len(), count("kernel_dispatch"), "{name}");
        assert_eq!(tables.api_calls.len(), count("hip_api"), "{name}");
        assert_eq!(tables.problems.iter().count(), 0, "{name}");
    }
    Ok(())
}

/// The number after the first `"key":` of `text`.
fn number(text: &str, key: &str) -> Option<i64> {
    let rest = text.split_once(&format!("\"{key}\":"))?.1;
    rest.split_once(|next: char| !next.is_ascii_digit())?.0.parse().ok()
}

/// Compared with what a search of the text finds: a second parser would take ten times as long.
#[test]
fn the_real_trace_has_the_totals_that_a_search_of_its_text_finds() -> Outcome {
    let Some(shared) = support::shared() else { return Ok(()) };
    let path = shared.join("traces/real/rocprofv3-gfx950.json.gz");
    let tables = read(&path)?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&path)?).read_to_string(&mut text)?;
    let (before, records) = text.split_once("\"kernel_dispatch\":[").ok_or("no dispatches")?;
    let symbols = before.split_once("\"kernel_symbols\":[").ok_or("no symbols")?.1;
    let names: std::collections::HashMap<i64, &str> = symbols
        .split("{\"size\":")
        .filter_map(|symbol| {
            let name = symbol.split_once("\"formatted_kernel_name\":\"")?.1.split_once('"')?.0;
            Some((number(symbol, "kernel_id")?, name))
        })
        .collect();
    let records: Vec<&str> = records.split("\"kind\":11,").skip(1).collect();
    assert_eq!((tables.dispatches.len(), records.len()), (43_915, 43_915));
    let mut sum = 0;
    for (row, record) in tables.dispatches.iter().zip(records) {
        let whole = |key| number(record, key).ok_or("no number");
        let (start, end) = (whole("start_timestamp")?, whole("end_timestamp")?);
        sum += end - start;
        assert_eq!((row.id, row.start, row.duration), (whole("dispatch_id")?, start, Some(end - start)));
        assert_eq!(tables.strings.get(row.name), names[&whole("kernel_id")?]);
    }
    let read: i64 =
        (0..tables.dispatches.len()).filter_map(|row| tables.dispatches.duration.valid(row)).sum();
    assert_eq!(read, sum);
    let gpus: Vec<i64> = tables
        .agents
        .iter()
        .filter(|agent| agent.kind == AgentKind::Gpu && agent.target.as_deref() == Some("gfx950"))
        .map(|agent| agent.number)
        .collect();
    assert_eq!(gpus, [0, 1, 2, 3, 4, 5, 6, 7]);
    let used = |track: &rtl_schema::table::Track| tables.agent(track.agent).number;
    assert!(tables.tracks.rows().iter().all(|track| used(track) == 0));
    assert_eq!(tables.symbols.len(), 9_888);
    assert_eq!(tables.processes[0].host.as_deref(), Some("smci350-zts-gtu-c6-25"));
    assert_eq!(tables.problems.iter().count(), 0);
    Ok(())
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_document() -> Outcome {
    let text = document(process()).to_string();
    let (_folder, path) = written(&format!("\u{feff}{text}"))?;
    assert_eq!(read(&path)?.dispatches.len(), 1);
    Ok(())
}

#[test]
fn copies_without_a_table_of_operations_go_from_agent_to_agent() -> Outcome {
    let mut copying = process();
    copying["strings"]["buffer_records"] = json!([]);
    let copy = |source: i64, destination: i64| {
        let mut copy = record(2, 9, 1, 10, 20);
        copy["src_agent_id"] = json!({ "handle": source });
        copy["dst_agent_id"] = json!({ "handle": destination });
        copy
    };
    copying["buffer_records"] = json!({ "memory_copy": [copy(100, 101), copy(101, 100), copy(101, 101)] });
    let tables = parsed(&document(copying))?;
    let directions: Vec<Direction> = tables.copies.iter().map(|copy| copy.direction).collect();
    assert_eq!(directions, [Direction::HostToDevice, Direction::DeviceToHost, Direction::Unknown]);
    Ok(())
}

#[test]
fn the_largest_index_of_an_agent_is_read() -> Outcome {
    let mut process = process();
    process["agents"] = json!([{"id": {"handle": i64::MAX.to_string()}, "type": 2, "name": "GPU-Agent-0"}]);
    process["buffer_records"] = json!({"kernel_dispatch": [dispatch(7, 0, 1000, 1500)]});
    let tables = parsed(&document(process))?;
    let gpus = tables.agents.iter().filter(|agent| agent.kind == AgentKind::Gpu);
    let numbers: Vec<i64> = gpus.map(|agent| agent.number).collect();
    assert_eq!(numbers, [i64::MAX]);
    Ok(())
}
