//! rocprofv3's CSV files: old and new columns, any of a run's files, texts with commas and lines, a last line that was cut off.

use std::fs;
use std::path::{Path, PathBuf};

use rtl_schema::table::{AgentKind, AllocationKind, Direction};
use rtl_schema::{Dialect, Error, Select, Tables, Trace};
use tempfile::TempDir;

use crate::fixture::{problems, texts};
use crate::totals::agree;

/// As ROCm 7 writes it.
const KERNELS: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"
\"KERNEL_DISPATCH\",\"Agent 4\",1,2,77,1,9,\"gemm(int, int)\",5,1000,1800,512,16,32,4,48,256,1,1,1024,2,1
\"KERNEL_DISPATCH\",\"Agent 4\",1,2,77,2,3,\"add<1,
2>\",6,2000,2050,0,0,8,0,16,64,1,1,100,1,1
";

/// As ROCm 6.1 writes it.
const OLD_KERNELS: &str = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"
\"KERNEL_DISPATCH\",1,139690710949888,15,\"transpose(float*, float*, int)\",0,671599758568,671599825328,0,8,4,4,1,1024,1024,1
";

const CALLS: &str = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"
\"HIP_RUNTIME_API\",\"hipLaunchKernel\",4242,77,5,900,950
\"HIP_RUNTIME_API\",\"hipLaunchKernel\",4242,77,6,960,980
";

const MARKERS: &str = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"
\"MARKER_CORE_API\",\"step \"one\", of two\",4242,77,7,800,3000
\"MARKER_CORE_API\",\"here\",4242,77,8,850,850
\"MARKER_CONTROL_API\",\"roctxProfilerPause\",4242,77,9,860,870
";

const COPIES: &str = "\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"
\"MEMORY_COPY\",\"HOST_TO_DEVICE\",\"Agent 0\",\"Agent 4\",3,100,400
\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",\"Agent 4\",\"Agent 0\",4,500,550
";

/// Two CPUs and two GPUs, of which the process sees one CPU and the second GPU: `Agent 1` is the GPU with node id 3.
const AGENTS: &str =
    "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\",\"Vendor_Name\",\"Product_Name\",\"Model_Name\"
0,0,\"CPU\",\"AMD EPYC\",\"CPU\",\"AMD EPYC\",\"\"
2,-1,\"GPU\",\"gfx942\",\"AMD\",\"AMD Instinct MI300X\",\"ip discovery\"
3,1,\"GPU\",\"gfx942\",\"AMD\",\"AMD Instinct MI300X\",\"ip discovery\"
";

const COUNTERS: &str = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"
5,1,\"Agent 4\",1,4242,77,1024,9,\"gemm(int, int)\",256,512,16,32,4,48,\"SQ_WAVES\",1216.000000,1000,1800
5,1,\"Agent 4\",1,4242,77,1024,9,\"gemm(int, int)\",256,512,16,32,4,48,\"GRBM_COUNT\",1.5,1000,1800
";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn read(path: &Path) -> Tables {
    let trace = Trace::open(path).unwrap();
    assert_eq!(trace.dialect(), Dialect::RocprofilerCsv);
    trace.read(&Select::everything()).unwrap()
}

fn read_text(text: &str) -> Tables {
    let folder = folder(&[("4242_kernel_trace.csv", text)]);
    read(&folder.path().join("4242_kernel_trace.csv"))
}

fn dispatches(tables: &Tables) -> Vec<(&str, i64, Option<i64>)> {
    let rows = tables.dispatches.iter();
    rows.map(|row| (tables.strings.get(row.name), row.start, row.duration)).collect()
}

#[test]
fn kernels_have_names_with_commas_and_lines_shapes_and_registers() {
    let tables = read_text(KERNELS);
    assert_eq!(dispatches(&tables), [("gemm(int, int)", 1000, Some(800)), ("add<1,\n2>", 2000, Some(50))]);
    let row = tables.dispatches.get(0);
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!(
        (shape.workgroup, shape.items, shape.groups),
        (Some([256, 1, 1]), Some([1024, 2, 1]), Some([4, 2, 1]))
    );
    assert_eq!((shape.lds, shape.scratch, row.tid, row.correlation), (Some(512), Some(16), Some(77), 5));
    let symbol = tables.symbols[row.symbol.unwrap().index()];
    assert_eq!((symbol.id, symbol.sgprs, symbol.vgprs, symbol.agprs), (9, Some(48), Some(32), Some(4)));
    let track = tables.tracks.get(row.track);
    let agent = tables.agent(track.agent);
    assert_eq!((track.queue, track.stream, agent.kind, agent.number), (1, Some(2), AgentKind::Gpu, 4));
    assert_eq!(tables.process(track.process).pid, Some(4242), "by the name of the file");
    assert_eq!(problems(&tables), Vec::<String>::new());
    assert!(tables.info.cut_off().is_none());
}

#[test]
fn the_columns_of_rocm_6_1_are_read_too() {
    let tables = read_text(OLD_KERNELS);
    assert_eq!(dispatches(&tables), [("transpose(float*, float*, int)", 671_599_758_568, Some(66_760))]);
    let row = tables.dispatches.get(0);
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!((shape.lds, shape.scratch, shape.workgroup), (Some(8), Some(0), Some([4, 4, 1])));
    assert_eq!((tables.tracks.get(row.track).queue, row.symbol), (139_690_710_949_888, None));
}

#[test]
fn the_files_of_a_folder_are_one_trace() {
    let folder = folder(&[
        ("host/4242_kernel_trace.csv", KERNELS),
        ("host/4242_hip_api_trace.csv", CALLS),
        ("host/4242_marker_api_trace.csv", MARKERS),
        ("host/4242_memory_copy_trace.csv", COPIES),
        ("host/4242_kernel_stats.csv", "\"Name\",\"Calls\",\"TotalDurationNs\"\n"),
        ("host/4242_results.json", "{}"),
    ]);
    for path in [folder.path().to_owned(), folder.path().join("host")] {
        let tables = read(&path);
        assert_eq!((tables.dispatches.len(), tables.api_calls.len(), tables.copies.len()), (2, 3, 2));
        assert_eq!(
            texts(&tables, tables.ranges.iter().map(|range| range.name)),
            ["step \"one\", of two", "here"]
        );
        let [process] = &tables.processes[..] else { panic!("{:?}", tables.processes) };
        assert_eq!(process.pid, Some(4242));
        let directions: Vec<_> = tables.copies.iter().map(|copy| copy.direction).collect();
        assert_eq!(directions, [Direction::HostToDevice, Direction::DeviceToHost]);
        let of_copy = tables.tracks.get(tables.copies[1].track).agent;
        assert_eq!(
            of_copy,
            tables.tracks.get(tables.dispatches.track[0]).agent,
            "the GPU that was copied from"
        );
        assert_eq!(tables.agent(tables.copies[0].source.unwrap()).kind, AgentKind::Cpu);
        assert!(tables.info.linked);
    }
}

#[test]
fn the_process_is_known_although_calls_are_not_selected() {
    let folder = folder(&[("out_kernel_trace.csv", KERNELS), ("out_hip_api_trace.csv", CALLS)]);
    let tables = Trace::open(folder.path()).unwrap().read(&Select::ops()).unwrap();
    assert_eq!((tables.api_calls.len(), tables.processes.len(), tables.processes[0].pid), (0, 1, Some(4242)));
}

#[test]
fn files_that_are_named_together_are_one_trace_for_each_process() {
    let files = ["1_kernel_trace.csv", "1_hip_api_trace.csv", "2_kernel_trace.csv"];
    let folder = folder(&[(files[0], KERNELS), (files[1], CALLS), (files[2], OLD_KERNELS)]);
    let paths: Vec<PathBuf> = files.iter().map(|name| folder.path().join(name)).collect();
    assert_eq!(read(&paths[0]).api_calls.len(), 0, "one file alone");
    let traces = rtl_schema::join_files_of_runs(&paths);
    assert_eq!(traces, [paths[0].clone(), paths[2].clone()]);
    let tables = read(&paths[0]);
    assert_eq!((tables.dispatches.len(), tables.api_calls.len()), (2, 2));
}

#[test]
fn agents_are_those_of_agent_info() {
    let kernels = KERNELS.replace("Agent 4", "Agent 1");
    let folder = folder(&[("1_kernel_trace.csv", &kernels), ("1_agent_info.csv", AGENTS)]);
    let tables = read(folder.path());
    let agent = tables.agent(tables.tracks.get(tables.dispatches.track[0]).agent);
    assert_eq!((agent.kind, agent.absolute_index, agent.number), (AgentKind::Gpu, Some(3), 1));
    assert_eq!(
        (agent.target.as_deref(), agent.product.as_deref()),
        (Some("gfx942"), Some("AMD Instinct MI300X"))
    );
    assert_eq!(tables.agents.len(), 3, "those without work too");
    // `--agent-index absolute`: the visible agent 3 does not exist.
    let kernels = KERNELS.replace("Agent 4", "Agent 3");
    fs::write(folder.path().join("1_kernel_trace.csv"), kernels).unwrap();
    let tables = read(folder.path());
    assert_eq!(tables.agent(tables.tracks.get(tables.dispatches.track[0]).agent).absolute_index, Some(3));
    // `--agent-index type-relative`.
    let kernels = KERNELS.replace("Agent 4", "GPU 1");
    fs::write(folder.path().join("1_kernel_trace.csv"), kernels).unwrap();
    let tables = read(folder.path());
    assert_eq!(tables.agent(tables.tracks.get(tables.dispatches.track[0]).agent).absolute_index, Some(3));
}

#[test]
fn counters_bring_their_dispatches_where_no_other_file_has_them() {
    let one = folder(&[("1_counter_collection.csv", COUNTERS)]);
    let tables = read(one.path());
    assert_eq!(dispatches(&tables), [("gemm(int, int)", 1000, Some(800))]);
    let both = folder(&[("1_counter_collection.csv", COUNTERS), ("1_kernel_trace.csv", KERNELS)]);
    assert_eq!(read(both.path()).dispatches.len(), 2);
    let kernels = read(folder(&[("1_kernel_trace.csv", KERNELS)]).path());
    assert_eq!([&tables, &kernels].map(|tables| tables.info.counters), [true, false]);
    let values: Vec<_> = tables.counters.iter().map(|row| (row.dispatch, row.value)).collect();
    assert_eq!(values, [(1, 1216.0), (1, 1.5)]);
    assert_eq!(tables.dispatches.id.get(0), 1);
}

#[test]
fn several_passes_over_one_program_are_no_one_trace() {
    let passes =
        folder(&[("pmc_1/1_counter_collection.csv", COUNTERS), ("pmc_2/2_counter_collection.csv", COUNTERS)]);
    let error = Trace::open(passes.path()).unwrap_err();
    assert!(matches!(error, Error::Ambiguous { .. }), "{error}");
    assert!(error.to_string().starts_with("files of runs in several folders ("), "{error}");
    assert!(error.hint().contains("rtl-merge"), "{}", error.hint());
    assert_eq!(read(&passes.path().join("pmc_2")).dispatches.len(), 1);
}

#[test]
fn allocations_and_scratch_are_read() {
    let allocations = "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"
\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent 1\",4096,\"0x00007f5500000000\",2,10,20
\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x00007f5500000000\",3,30,40
";
    let scratch = "\"Kind\",\"Operation\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Alloc_Flags\",\"Start_Timestamp\",\"End_Timestamp\"
\"SCRATCH_MEMORY\",\"SCRATCH_MEMORY_ALLOC\",\"Agent 1\",7,8,2,50,60
";
    let folder =
        folder(&[("1_memory_allocation_trace.csv", allocations), ("1_scratch_memory_trace.csv", scratch)]);
    let tables = read(folder.path());
    let rows: Vec<_> =
        tables.allocations.iter().map(|row| (row.kind, row.level.label(), row.bytes, row.address)).collect();
    let address = Some(0x7f55_0000_0000);
    assert_eq!(
        rows,
        [
            (AllocationKind::Allocate, "real", 4096, address),
            (AllocationKind::Free, "real", 0, address),
            (AllocationKind::Allocate, "scratch", 0, None),
        ]
    );
    assert_eq!((tables.allocations[1].agent, tables.allocations[2].queue), (None, Some(7)));
}

#[test]
fn a_last_line_that_was_cut_off_is_reported_and_not_lost() {
    let whole = read_text(KERNELS);
    for end in KERNELS.find("\"KERNEL_DISPATCH\"").unwrap()..KERNELS.len() {
        let folder = folder(&[("1_kernel_trace.csv", &KERNELS[..end])]);
        let tables = read(&folder.path().join("1_kernel_trace.csv"));
        let is_line = KERNELS[..end].ends_with('\n') && !KERNELS[..end].ends_with("add<1,\n");
        assert_eq!(tables.info.cut_off().is_none(), is_line, "{end}");
        for row in 0..tables.dispatches.len() {
            let (read, expected) = (tables.dispatches.get(row), whole.dispatches.get(row));
            let is_start = read.start == expected.start || row + 1 == tables.dispatches.len();
            assert!(is_start && read.duration.is_none_or(|duration| duration >= 0), "{end}: {read:?}");
        }
        // The row is there from the first digit of its start on.
        let started = [",5,1", ",6,2"].iter().filter(|start| KERNELS[..end].contains(*start)).count();
        assert_eq!(tables.dispatches.len(), started, "{end}");
    }
}

#[test]
fn a_line_of_another_length_is_a_problem_and_the_others_are_read() {
    let text = KERNELS.replace("\"gemm(int, int)\"", "gemm(int, int)");
    let tables = read_text(&text);
    assert_eq!(tables.dispatches.len(), 1);
    assert_eq!(problems(&tables), ["BadValue kernel_trace.columns 1 1"]);
    let tables = read_text(&KERNELS.replace(",1000,1800,", ",,1800,").replace(",2000,2050,", ",2000,x,"));
    assert_eq!(dispatches(&tables), [("add<1,\n2>", 2000, None)]);
    assert_eq!(
        problems(&tables),
        ["MissingStart kernel_trace.Start_Timestamp 1 1", "BadValue kernel_trace.End_Timestamp 1 2"]
    );
}

#[test]
fn files_of_the_database_converter_tell_processes_by_guid() {
    let text = "\"Guid\",\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"
\"a\",\"HIP_RUNTIME_API_EXT\",\"hipMalloc\",1,1,1,10,20
\"b\",\"HIP_RUNTIME_API_EXT\",\"hipMalloc\",2,2,1,30,40
";
    let folder = folder(&[("out_regions_trace.csv", text)]);
    let tables = read(folder.path());
    let pids: Vec<_> =
        tables.processes.iter().map(|process| (process.pid, process.guid.as_deref())).collect();
    assert_eq!(pids, [(Some(1), Some("a")), (Some(2), Some("b"))]);
}

#[test]
fn many_agents_and_processes_are_read_in_linear_time() {
    const MANY: usize = 50_000;
    let (header, row) = KERNELS.split_once('\n').unwrap();
    let row = row.split('\n').next().unwrap();
    let kernels: String = (0..MANY).map(|at| row.replace("Agent 4", &format!("Agent {at}")) + "\n").collect();
    let agents: String = (0..MANY).map(|at| format!("{at},{at},\"GPU\",\"gfx942\"\n")).collect();
    let call = |at| format!("\"HIP\",\"hipMalloc\",{at},1,0,5,6\n");
    let calls: String = (0..MANY).map(call).collect();
    let columns = CALLS.split('\n').next().unwrap();
    let folder = folder(&[
        ("1_kernel_trace.csv", &format!("{header}\n{kernels}")),
        ("1_agent_info.csv", &format!("\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Name\"\n{agents}")),
        ("1_hip_api_trace.csv", &format!("{columns}\n{calls}{}\n", "x\",".repeat(MANY))),
    ]);
    let tables = read(folder.path());
    assert_eq!((tables.dispatches.len(), tables.agents.len(), tables.processes.len()), (MANY, MANY, MANY));
}

#[test]
fn statistics_are_refused_by_name() {
    let folder = folder(&[(
        "1_kernel_stats.csv",
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\"\n\"k\",1,2,2\n",
    )]);
    let error = Trace::open(folder.path().join("1_kernel_stats.csv")).unwrap_err();
    assert!(error.to_string().starts_with("statistics of rocprofv3 or rocprof"), "{error}");
    assert!(error.hint().contains("RUN_kernel_trace.csv"), "{}", error.hint());
    assert!(matches!(Trace::open(folder.path()), Err(Error::Folder { .. })));
}

#[test]
fn every_total_of_golden_files_is_that_of_python() {
    let Some(shared) = support::shared() else { return };
    let golden = shared.join("golden/rocprofv3");
    let mut files: Vec<PathBuf> = fs::read_dir(&golden).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with("_trace.csv"));
    files.sort();
    assert_eq!(files.len(), 5);
    agree(
        &read(&golden),
        "rocprofiler_csv_oracle.py",
        &files.iter().map(PathBuf::as_path).collect::<Vec<_>>(),
    );
    for file in &files {
        agree(&read(file), "rocprofiler_csv_oracle.py", &[file]);
    }
}

#[test]
fn every_total_of_made_files_is_that_of_python() {
    let folder = folder(&[
        ("1_kernel_trace.csv", KERNELS),
        ("1_hip_api_trace.csv", CALLS),
        ("1_memory_copy_trace.csv", COPIES),
        ("2_kernel_trace.csv", OLD_KERNELS),
    ]);
    let names =
        ["1_kernel_trace.csv", "1_hip_api_trace.csv", "1_memory_copy_trace.csv", "2_kernel_trace.csv"];
    let files = names.map(|name| folder.path().join(name));
    agree(&read(folder.path()), "rocprofiler_csv_oracle.py", &files.each_ref().map(PathBuf::as_path));
}
