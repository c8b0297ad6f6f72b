//! torch.profiler's JSON: the corners of the format on small documents, through the door that every trace takes.

use std::io::Write;

use rtl_schema::table::{AgentKind, Direction, RangeKind, Shape, SpanKind};
use rtl_schema::{AgentId, Dialect, Error, ProblemKind, ProcessId, Select, Tables, Trace};

fn open(name: &str, content: &[u8]) -> (tempfile::TempDir, Result<Trace, Error>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let trace = Trace::open(&path);
    (folder, trace)
}

fn read_as(name: &str, content: &[u8], select: &Select) -> Tables {
    let (_folder, trace) = open(name, content);
    let trace = trace.unwrap();
    assert_eq!(trace.dialect(), Dialect::Kineto);
    trace.read(select).unwrap()
}

fn read(content: &str) -> Tables {
    read_as("trace.json", content.as_bytes(), &Select::everything())
}

/// A document with these events.
fn document(events: &[&str]) -> String {
    let events = events.join(",\n  ");
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "AMD Instinct MI300X", "numSms": 304}}],
"baseTimeNanoseconds": 1000000000000, "traceEvents": [
  {events}
], "traceName": "run.json"}}"#
    )
}

const KERNEL: &str = r#"{"ph": "X", "cat": "kernel", "name": "gemm<float>", "pid": 0, "tid": 7, "ts": 110.004, "dur": 5.250,
 "args": {"External id": 3, "device": 0, "stream": 7, "correlation": 41, "registers per thread": 32, "shared memory": 1024,
 "grid": [16, 2, 1], "block": [256, 1, 1]}}"#;
const CALL: &str = r#"{"ph": "X", "cat": "cuda_runtime", "name": "hipLaunchKernel", "pid": 900, "tid": 901, "ts": 102.001,
 "dur": 3, "args": {"cid": 211, "correlation": 41, "External id": 3}}"#;
const OPERATOR: &str = r#"{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 900, "tid": 901, "ts": 101, "dur": 6.5,
 "args": {"External id": 3, "Sequence number": 17, "Fwd thread id": 0, "Input Dims": [[8, 4], [4, 2]],
 "Input type": ["float", "float"], "Ev Idx": 2}}"#;
const STEP: &str = r#"{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 900, "tid": 901, "ts": 100,
 "dur": 50.5, "args": {"External id": 1}}"#;
const MEMCPY: &str = r#"{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7,
 "ts": 120, "dur": 2.001, "args": {"device": 0, "stream": 7, "correlation": 42, "bytes": 4096}}"#;
const MEMSET: &str = r#"{"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 125,
 "dur": 1, "args": {"device": 0, "stream": 7, "correlation": 43}}"#;
const MEMORY: &str = r#"{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 900, "tid": 901,
 "ts": 103.5, "args": {"Total Reserved": 2048, "Total Allocated": 512, "Bytes": -256, "Device Id": 0, "Device Type": 1,
 "Addr": 140469958868992}}"#;

#[test]
fn every_category_has_its_table() {
    let tables = read(&document(&[OPERATOR, CALL, KERNEL, STEP, MEMCPY, MEMSET, MEMORY]));
    let name = |id| tables.strings.get(id);

    let kernel = tables.dispatches.get(0);
    assert_eq!((name(kernel.name), kernel.correlation), ("gemm<float>", 41));
    assert_eq!((kernel.start, kernel.duration), (1_000_000_110_004, Some(5_250)));
    let shape = Shape { lds: Some(1024), ..Shape::from_groups([256, 1, 1], [16, 2, 1]) };
    assert_eq!(kernel.shape.map(|shape| tables.shapes.get(shape)), Some(shape));
    assert_eq!(kernel.symbol.map(|symbol| tables.symbols[symbol.index()].vgprs), Some(Some(32)));
    let track = tables.tracks.get(kernel.track);
    assert_eq!((track.process, track.agent, track.stream), (ProcessId(0), AgentId(0), Some(7)));
    let agent = tables.agent(track.agent);
    assert_eq!((agent.number, agent.product.as_deref()), (0, Some("AMD Instinct MI300X")));
    assert!(agent.details.as_deref().unwrap().contains("304"));

    let call = tables.api_calls.get(0);
    assert_eq!((name(call.name), name(call.domain)), ("hipLaunchKernel", "hip"));
    assert_eq!((call.tid, call.correlation), (Some(901), 41));
    assert_eq!((call.start, call.duration), (1_000_000_102_001, Some(3_000)));

    let operator = tables.operators.get(0);
    assert_eq!((name(operator.name), operator.tid), ("aten::mm", Some(901)));
    assert_eq!((operator.start, operator.duration), (1_000_000_101_000, Some(6_500)));
    assert_eq!((name(operator.shapes), name(operator.types)), ("[[8, 4], [4, 2]]", r#"["float", "float"]"#));
    assert_eq!((operator.sequence, operator.forward_thread), (Some(17), 0));

    let [copy, fill] = tables.copies.as_slice() else { panic!("{} copies", tables.copies.len()) };
    assert_eq!((copy.direction, copy.bytes), (Direction::HostToDevice, Some(4096)));
    assert_eq!((copy.source, copy.destination), (None, Some(AgentId(0))));
    assert_eq!((fill.direction, fill.bytes), (Direction::Fill, None));

    let memory = tables.memory_events[0];
    assert_eq!(
        (memory.bytes, memory.address, memory.agent),
        (-256, Some(140_469_958_868_992), Some(AgentId(0)))
    );
    assert_eq!((memory.allocated, memory.reserved, memory.time), (Some(512), Some(2048), 1_000_000_103_500));
    assert_eq!(tables.processes[0].pid, Some(900));
    assert_eq!(tables.problems.iter().count(), 0);
    assert_eq!(tables.info.cut_off(), None);
}

#[test]
fn a_process_has_its_name_and_not_that_of_a_gpu_or_the_number_that_a_viewer_shows() {
    let named = |name: &str| {
        let metadata = |pid: &str, name: &str| {
            format!(r#"{{"ph": "M", "name": "process_name", "pid": {pid}, "args": {{"name": "{name}"}}}}"#)
        };
        let tables = read(&document(&[&metadata("0", "GPU 0"), KERNEL, CALL, &metadata("900", name)]));
        let [process] = tables.processes.as_slice() else { panic!("{:?}", tables.processes) };
        (process.command.clone(), process.rank)
    };
    assert_eq!(named("python3"), (Some("python3".to_owned()), None));
    assert_eq!(named("python train.py (rank 3)"), (Some("python train.py".to_owned()), Some(3)));
    assert_eq!(named("Process 900 (rank 3)"), (None, Some(3)));
    assert_eq!(named("Process 900"), (None, None));
    assert_eq!(named("x (rank y)"), (Some("x (rank y)".to_owned()), None));
}

#[test]
fn the_steps_of_a_run_are_ranges_of_one_name() {
    let next = STEP.replace("#3", "#4").replace("100", "160");
    let tables = read(&document(&[STEP, &next]));
    let step = |row: usize| {
        let range = tables.ranges[row];
        (tables.strings.get(range.name), tables.strings.get(range.category), range.start, range.kind)
    };
    assert_eq!(step(0), ("ProfilerStep", "ProfilerStep#3", 1_000_000_100_000, RangeKind::Thread));
    assert_eq!(step(1), ("ProfilerStep", "ProfilerStep#4", 1_000_000_160_000, RangeKind::Thread));
}

#[test]
fn the_image_of_a_range_on_the_gpu_is_no_work() {
    let image =
        r#"{"ph": "X", "cat": "gpu_user_annotation", "name": "step", "pid": 0, "tid": 7, "ts": 1, "dur": 9}"#;
    let frame = r#"{"ph": "X", "cat": "python_function", "name": "f.py(1): f", "pid": 900, "tid": 901, "ts": 1, "dur": 9}"#;
    let tables = read(&document(&[image, frame, frame]));
    assert_eq!((tables.dispatches.len(), tables.ranges.len(), tables.operators.len()), (0, 0, 0));
    assert_eq!(tables.python_frames.len(), 2);
    let span = tables.spans[0];
    assert_eq!((span.kind, tables.strings.get(span.name)), (SpanKind::GpuRange, "step"));
    assert_eq!((span.start, span.duration), (1_000_000_001_000, Some(9_000)));
    let agent = tables.agent(span.agent.unwrap());
    assert_eq!((agent.kind, agent.number, span.stream), (AgentKind::Gpu, 0, Some(7)));
}

#[test]
fn work_of_the_profiler_is_a_span_of_the_first_process() {
    let overhead =
        r#"{"ph": "X", "cat": "overhead", "name": "Buffer Flush", "pid": -1, "tid": 0, "ts": 4, "dur": 2}"#;
    let tables = read(&document(&[STEP, overhead]));
    let span = tables.spans[0];
    assert_eq!((span.kind, tables.strings.get(span.name)), (SpanKind::Overhead, "Buffer Flush"));
    assert_eq!((span.agent, span.stream, tables.process(span.process).pid), (None, None, Some(900)));
    assert_eq!(tables.processes.len(), 1);
}

#[test]
fn the_base_time_may_come_after_the_events() {
    let after = r#"{"metadata": {"a": [1, {"traceEvents": []}]}, "traceEvents": [EVENTS], "schemaVersion": 1,
        "baseTimeNanoseconds": 1000000000000}"#;
    let tables = read(&after.replace("EVENTS", &[KERNEL, CALL, OPERATOR, STEP, MEMCPY, MEMORY].join(",")));
    assert_eq!(tables.dispatches.start[0], 1_000_000_110_004);
    assert_eq!(tables.api_calls.start[0], 1_000_000_102_001);
    assert_eq!(tables.operators.start[0], 1_000_000_101_000);
    assert_eq!((tables.ranges[0].start, tables.copies[0].start), (1_000_000_100_000, 1_000_000_120_000));
    assert_eq!(tables.memory_events[0].time, 1_000_000_103_500);
}

#[test]
fn numbers_may_be_text_and_whole_microseconds() {
    let text = KERNEL
        .replace("110.004", "\"1790857026000000.004\"")
        .replace("5.250", "\"5\"")
        .replace("\"correlation\": 41", "\"correlation\": \"41\"");
    let without_base = r#"{"schemaVersion": 1, "traceEvents": [EVENT]}"#.replace("EVENT", &text);
    let tables = read(&without_base);
    let kernel = tables.dispatches.get(0);
    assert_eq!(
        (kernel.start, kernel.duration, kernel.correlation),
        (1_790_857_026_000_000_004, Some(5_000), 41)
    );
}

#[test]
fn a_comma_too_many_and_a_byte_order_mark_are_read_over() {
    let content = document(&[CALL, KERNEL]).replace("\n], \"traceName\"", ",\n], \"traceName\"");
    let tables = read(&format!("\u{feff}{content}"));
    assert_eq!((tables.dispatches.len(), tables.info.cut_off()), (1, None));
}

#[test]
fn a_time_that_is_no_number_is_a_problem_of_its_event() {
    let no_start = KERNEL.replace("110.004", "NaN");
    let no_end = KERNEL.replace("5.250", "NaN");
    let tables = read(&document(&[&no_start, &no_end, KERNEL]));
    assert_eq!(tables.dispatches.len(), 2, "a row without a start is left out");
    assert_eq!(tables.dispatches.duration.get(0), None);
    assert_eq!(tables.problems.count(ProblemKind::MissingStart), 1);
    assert_eq!(tables.problems.count(ProblemKind::BadValue), 1);
}

#[test]
fn a_file_that_was_cut_off_is_read_to_its_last_whole_event() {
    let whole = document(&[CALL, KERNEL, MEMCPY]);
    let end = whole.find("gpu_memcpy").unwrap();
    for cut in [&whole[..end], &whole[..whole.rfind(']').unwrap()]] {
        let tables = read(cut);
        assert_eq!((tables.dispatches.len(), tables.api_calls.len()), (1, 1));
        assert!(tables.info.cut_off().unwrap().contains("last whole event"), "{cut}");
        assert_eq!(tables.dispatches.start[0], 1_000_000_110_004);
    }
}

#[test]
fn a_compressed_file_that_was_cut_off_is_read_to_its_last_whole_event() {
    let count = 5_000;
    let kernel = |at: usize| KERNEL.replace("110.004", &format!("{}.5", at * 7919 % 99_991));
    let kernels: Vec<String> = (0..count).map(kernel).collect();
    let whole = document(&kernels.iter().map(String::as_str).collect::<Vec<_>>());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(whole.as_bytes()).unwrap();
    let bytes = encoder.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.json.gz");
    let mut last = 0;
    for parts in 1..=8 {
        let end = bytes.len() * parts / 8 - usize::from(parts == 8);
        std::fs::write(&path, &bytes[..end]).unwrap();
        let tables = Trace::open(&path).unwrap().read(&Select::everything()).unwrap();
        let rows = tables.dispatches.len();
        assert!(rows >= last && rows > count * (parts - 1) / 9, "{rows} of {parts} eighths");
        assert!(tables.info.cut_off().unwrap().contains("the compressed file ends early"), "{parts}");
        last = rows;
    }
    assert_eq!(last, count);
    std::fs::write(&path, &bytes[..5]).unwrap();
    let error = Trace::open(&path).unwrap_err().to_string();
    assert!(error.contains("gzip: the file ends early"), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_no_panic_and_no_row_of_its_own() {
    let whole = document(&[CALL, KERNEL, OPERATOR, MEMCPY]);
    for end in 0..whole.len() {
        let (_folder, trace) = open("trace.json", &whole.as_bytes()[..end]);
        let Ok(tables) = trace.and_then(|trace| trace.read(&Select::everything())) else { continue };
        assert!(tables.dispatches.len() <= 1 && tables.copies.len() <= 1);
        assert!(tables.dispatches.iter().all(|row| row.duration == Some(5_250)));
    }
}

#[test]
fn a_compressed_file_and_an_event_larger_than_the_buffer_are_read() {
    let large = OPERATOR.replace("[8, 4]", &format!("[{}8]", "8, ".repeat(200_000)));
    let content = document(&[&large, CALL, KERNEL]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content.as_bytes()).unwrap();
    let tables = read_as("trace.json.gz", &encoder.finish().unwrap(), &Select::everything());
    assert_eq!((tables.operators.len(), tables.dispatches.len()), (1, 1));
    assert!(tables.strings.get(tables.operators.shapes.get(0)).len() > 600_000);
}

#[test]
fn names_have_no_escapes() {
    let event = KERNEL.replace("gemm<float>", r#"a\"b\\c\u00e9"#);
    let tables = read(&document(&[&event]));
    assert_eq!(tables.strings.get(tables.dispatches.name[0]), "a\"b\\cé");
}

#[test]
fn a_thread_that_is_named_twice_is_one_thread() {
    let thread =
        r#"{"ph": "M", "name": "thread_name", "ts": 0, "pid": 900, "tid": 901, "args": {"name": "main "}}"#;
    let stream =
        r#"{"ph": "M", "name": "thread_name", "ts": 0, "pid": 0, "tid": 7, "args": {"name": "stream 7"}}"#;
    let tables = read(&document(&[thread, stream, thread, CALL, KERNEL]));
    let [thread] = tables.threads.as_slice() else { panic!("{:?}", tables.threads) };
    assert_eq!((thread.process, thread.tid, thread.name.as_deref()), (ProcessId(0), 901, Some("main")));
}

#[test]
fn the_rank_is_the_jobs_or_the_files() {
    let job = r#""distributedInfo": {"backend": "nccl", "rank": 5, "world_size": 8}, "traceEvents""#;
    let stated = document(&[CALL]).replace("\"traceEvents\"", job);
    let rank = |name: &str, content: &str| {
        let tables = read_as(name, content.as_bytes(), &Select::summary());
        (tables.processes[0].rank, tables.processes[0].world)
    };
    assert_eq!(rank("rank3.json", &stated), (Some(5), Some(8)));
    assert_eq!(rank("run-rank3.pt.trace.json", &document(&[CALL])), (Some(3), None));
    assert_eq!(rank("run.json", &document(&[CALL])), (None, None));
}

#[test]
fn the_documents_of_several_ranks_in_one_file_are_processes_of_their_own() {
    let rank = |rank: u32| {
        let job = format!(r#""distributedInfo": {{"rank": {rank}, "world_size": 2}}, "traceEvents""#);
        let content = document(&[CALL, KERNEL]).replace("\"traceEvents\"", &job);
        content.replace("1000000000000", &format!("{}000000000000", rank + 1))
    };
    let tables = read(&format!("{}\n{}", rank(0), rank(1)));
    let ranks: Vec<_> = tables.processes.iter().map(|process| process.rank).collect();
    assert_eq!(ranks, [Some(0), Some(1)]);
    assert_eq!(tables.dispatches.start, [1_000_000_110_004, 2_000_000_110_004]);
    let process = |row: usize| tables.tracks.get(tables.dispatches.track[row]).process;
    assert_eq!((process(0), process(1)), (ProcessId(0), ProcessId(1)));
    assert_ne!(tables.processes[0].space, tables.processes[1].space, "correlation ids repeat");
    assert_eq!(tables.agents.len(), 2);
}

#[test]
fn ranks_that_a_tool_has_merged_keep_their_gpus() {
    let labelled = |event: &str, label: &str| {
        event
            .replace("\"pid\": 900", &format!("\"pid\": \"[{label}] 900\""))
            .replace("\"pid\": 0", &format!("\"pid\": \"[{label}] 0\""))
    };
    let events: Vec<String> =
        ["TP00", "TP01"].iter().flat_map(|label| [labelled(CALL, label), labelled(KERNEL, label)]).collect();
    let tables = read(&document(&events.iter().map(String::as_str).collect::<Vec<_>>()));
    let process = |row: usize| tables.tracks.get(tables.dispatches.track[row]).process;
    assert_eq!((tables.processes.len(), process(0), process(1)), (2, ProcessId(0), ProcessId(1)));
    assert_eq!(tables.processes[1].pid, Some(900));
}

#[test]
fn a_gpu_belongs_to_the_process_whose_calls_launched_its_kernels() {
    let other =
        |event: &str| event.replace("900", "910").replace("41", "77").replace("\"pid\": 0", "\"pid\": 1");
    let (call, kernel) = (other(CALL), other(KERNEL).replace("\"device\": 0", "\"device\": 1"));
    let tables = read(&document(&[KERNEL, &kernel, CALL, &call]));
    let pid = |row: usize| tables.process(tables.tracks.get(tables.dispatches.track[row]).process).pid;
    assert_eq!((pid(0), pid(1)), (Some(900), Some(910)));
}

#[test]
fn a_kernel_without_a_shape_has_that_of_its_call() {
    let kernel =
        KERNEL.replace("\"grid\": [16, 2, 1], \"block\": [256, 1, 1]", "\"kind\": \"Dispatch Kernel\"");
    let call = CALL.replace("\"cid\": 211", "\"grid\": [3, 1, 1], \"block\": [64, 1, 1]");
    let size = CALL.replace("\"cid\": 211", "\"size\": 99").replace("41", "43");
    let tables = read(&document(&[&kernel, &call, &size, MEMSET]));
    let shape = tables.shapes.get(tables.dispatches.shape.get(0).unwrap());
    assert_eq!(shape, Shape { lds: Some(1024), ..Shape::from_groups([64, 1, 1], [3, 1, 1]) });
    assert_eq!(tables.copies[0].bytes, Some(99));
}

#[test]
fn arrows_link_what_states_no_correlation_id() {
    let (call, kernel) =
        (CALL.replace(", \"correlation\": 41", ""), KERNEL.replace("\"correlation\": 41,", ""));
    let from =
        r#"{"ph": "s", "id": 41, "pid": 900, "tid": 901, "ts": 102.001, "cat": "ac2g", "name": "ac2g"}"#;
    let to = r#"{"ph": "f", "id": 41, "pid": 0, "tid": 7, "ts": 110.004, "cat": "ac2g", "name": "ac2g", "bp": "e"}"#;
    for events in [[&call, from, &kernel, to], [from, to, &kernel, &call]] {
        let tables = read(&document(&events));
        assert_eq!((tables.dispatches.correlation.get(0), tables.api_calls.correlation.get(0)), (41, 41));
        assert!(tables.info.linked);
    }
    let other = to.replace("41", "99").replace("110.004", "120");
    let tables = read(&document(&[MEMCPY, &other]));
    assert_eq!(tables.copies[0].correlation, 42, "what an event states counts");
}

#[test]
fn a_gpu_that_is_not_listed_is_of_the_only_kind_that_is() {
    let kernel = KERNEL.replace("\"device\": 0", "\"device\": 2");
    let product = |content: &str| read(content).agents[0].product.clone();
    let one = document(&[&kernel]);
    assert_eq!(product(&one).as_deref(), Some("AMD Instinct MI300X"));
    let other = "\"deviceProperties\": [{\"id\": 1, \"name\": \"AMD Radeon\"}, ";
    assert_eq!(product(&one.replace("\"deviceProperties\": [", other)), None);
}

#[test]
fn gpus_of_one_number_in_many_processes_have_numbers_of_their_own() {
    let event = |category: &str, number: usize| {
        format!(
            r#"{{"ph": "X", "cat": "{category}", "name": "k", "pid": "{number}", "tid": 7, "ts": {number}, "dur": 1,
"args": {{"device": 0, "stream": 7, "correlation": {number}}}}}"#
        )
    };
    let count = 20_000;
    let calls = (1..=count).map(|number| event("cuda_runtime", number));
    let kernels = (1..=count).map(|number| event("kernel", number));
    let events: Vec<String> = calls.chain(kernels).collect();
    let tables = read(&document(&events.iter().map(String::as_str).collect::<Vec<_>>()));
    assert_eq!((tables.processes.len(), tables.agents.len()), (count, count));
    let mut numbers: Vec<i64> = tables.agents.iter().map(|agent| agent.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..count as i64).collect::<Vec<_>>());
    for row in 0..count {
        let track = tables.tracks.get(tables.dispatches.track[row]);
        assert_eq!(tables.processes[track.process.index()].pid, Some(row as i64 + 1));
    }
}

#[test]
fn kernels_of_a_graph_are_marked() {
    let kernel = KERNEL.replace("\"device\": 0", "\"graph id\": 3, \"graph node id\": 12, \"device\": 0");
    let none = KERNEL.replace("\"device\": 0", "\"graph id\": 0, \"graph node id\": 0, \"device\": 0");
    let tables = read(&document(&[&kernel, &none]));
    assert_eq!((tables.dispatches.graph.get(0), tables.dispatches.graph.get(1)), (true, false));
}

#[test]
fn a_copy_with_the_events_of_gpus_alone_is_one_of_torch_profiler() {
    let events = [KERNEL, MEMSET].join(",\n");
    for events in [events.clone(), events.replace("\"cat\": ", "\"cat\":")] {
        let tables = read(&format!(r#"{{"traceEvents": [{events}]}}"#));
        assert_eq!((tables.dispatches.len(), tables.copies.len()), (1, 1));
    }
    let named = KERNEL.replace("\"cat\": \"kernel\"", "\"cat\": \"other\", \"kind\": \"kernel\"");
    let (_folder, trace) = open("trace.json", format!(r#"{{"traceEvents": [{named}]}}"#).as_bytes());
    assert!(matches!(trace.unwrap_err(), Error::Unread { .. }), "a value of another field");
}

#[test]
fn events_of_other_tools_are_not_taken_for_torchs() {
    let chrome = r#"{"displayTimeUnit": "ns", "traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]}"#;
    let (_folder, trace) = open("trace.json", chrome.as_bytes());
    assert!(matches!(trace.unwrap_err(), Error::Unread { .. }));
}

#[test]
fn a_list_of_events_without_a_document_is_read() {
    let tables = read(&format!("[{CALL},\n{KERNEL}"));
    assert_eq!((tables.dispatches.len(), tables.dispatches.start[0]), (1, 110_004));
    assert!(tables.info.cut_off().is_some(), "the bracket is missing");
}

#[test]
fn a_collective_is_what_its_kernel_or_its_operator_states() {
    let stated = |sequence: &str| {
        format!(
            r#""Collective name": "allreduce", "Process Group Name": "3", "Process Group Ranks": "[0, 2]", "Group size": 2,
 "dtype": "BFloat16", "In msg nelems": 4096, "Out msg nelems": 4097{sequence}"#
        )
    };
    let kernel = |external: u32, stated: &str| {
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 110, "dur": 5,
 "args": {{"External id": {external}, "device": 0, "stream": 7, "correlation": {external}{stated}}}}}"#
        )
    };
    let operator = format!(
        r#"{{"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 900, "tid": 901, "ts": 101, "dur": 6,
 "args": {{"External id": 8, {}}}}}"#,
        stated("")
    );
    let own = kernel(5, &format!(", {}", stated(r#", "Seq": 17"#)));
    let events = [own.as_str(), &kernel(8, ""), &kernel(9, ""), &operator, KERNEL];
    let tables = read(&document(&events));
    let text = |id| tables.strings.get(id);
    let found: Vec<_> = tables.dispatches.collective.iter().collect();
    let [Some(own), Some(linked), None, None] = found[..] else { panic!("{found:?}") };
    let own = tables.collectives.get(own);
    assert_eq!([text(own.operation), text(own.communicator), text(own.ranks)], ["allreduce", "3", "[0, 2]"]);
    assert_eq!((own.size, text(own.data_type), own.sequence), (Some(2), "BFloat16", Some(17)));
    assert_eq!((own.sent, own.received), (Some(4096), Some(4097)));
    let linked = tables.collectives.get(linked);
    assert_eq!(linked, rtl_schema::table::Collective { sequence: None, ..own });
    assert!(
        read_as("trace.json", document(&events).as_bytes(), &Select::ops()).collectives.rows().is_empty()
    );
}
