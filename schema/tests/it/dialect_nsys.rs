//! SQLite exports of Nsight Systems: one that nsys itself made, and made ones for what it has not.

use rtl_schema::table::{AllocationKind, Direction, RangeKind};
use rtl_schema::{Dialect, Select, Tables, Trace};

use crate::fixture::{database, everything, foreign, problems, texts};
use crate::totals::agree;

/// Two processes of one machine, each with its own device 0; a graph that was traced as a whole.
const MADE: &str = "
    create table StringIds (id integer primary key, value text not null);
    insert into StringIds values (1, 'void gemm<int>(int)'), (2, 'gemm'), (3, '_Z4gemmIiEvi'), (4, 'cudaLaunchKernel_v7000'),
        (5, 'cuMemAlloc_v2'), (6, 'step'), (7, 'worker');
    create table META_DATA_EXPORT (name text, value text);
    insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '3.20.3'), ('EXPORT_PRODUCT_VERSION', '2025.3.1');
    create table TARGET_INFO_SESSION_START_TIME (utcEpochNs integer, utcTime text, localTime text);
    insert into TARGET_INFO_SESSION_START_TIME values (1687813257637297504, '', '');
    create table TARGET_INFO_GPU (vmId integer, id integer, name text, uuid text, chipName text, smCount integer, totalMemory integer);
    insert into TARGET_INFO_GPU values (0, 0, 'NVIDIA H200', 'a', 'GH100', 132, 1), (0, 1, 'NVIDIA H200', 'b', 'GH100', 132, 1),
        (0, 2, 'NVIDIA H200', 'c', 'GH100', 132, 1);
    create table TARGET_INFO_CUDA_DEVICE (gpuId integer, cudaId integer, pid integer, uuid text, numMultiprocessors integer);
    insert into TARGET_INFO_CUDA_DEVICE values (0, 0, 10, 'a', 132), (1, 0, 11, 'b', 132);
    create table PROCESSES (globalPid integer, pid integer, name text);
    insert into PROCESSES values (10 << 24, 10, './app');
    create table ThreadNames (nameId integer, priority integer, globalTid integer);
    insert into ThreadNames values (7, 0, (10 << 24) + 12);
    create table TARGET_INFO_SYSTEM_ENV (globalVid integer, name text, value text);
    insert into TARGET_INFO_SYSTEM_ENV values (0, 'Hostname', 'node1');
    create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, contextId integer, streamId integer,
        correlationId integer, globalPid integer, demangledName integer, shortName integer, mangledName integer,
        registersPerThread integer, gridX integer, gridY integer, gridZ integer, blockX integer, blockY integer, blockZ integer,
        staticSharedMemory integer, dynamicSharedMemory integer, graphNodeId integer);
    insert into CUPTI_ACTIVITY_KIND_KERNEL values
        (100, 150, 0, 1, 7, 5, 10 << 24, 1, 2, 3, 32, 4, 2, 1, 128, 1, 1, 1024, 2048, null),
        (200, 260, 0, 1, 7, 5, 11 << 24, 1, 2, 3, 32, 4, 2, 1, 128, 1, 1, 1024, 2048, 77);
    create table CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start integer, end integer, deviceId integer, contextId integer,
        streamId integer, correlationId integer, globalPid integer, graphId integer, graphExecId integer);
    insert into CUPTI_ACTIVITY_KIND_GRAPH_TRACE values (300, 390, 0, 1, 7, 9, 10 << 24, 3, 4);
    create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer, streamId integer,
        correlationId integer, globalPid integer, bytes integer, copyKind integer, srcDeviceId integer, dstDeviceId integer);
    insert into CUPTI_ACTIVITY_KIND_MEMCPY values (10, 20, 0, 7, 1, 10 << 24, 4096, 1, null, null),
        (30, 50, 0, 7, 2, 10 << 24, 64, 10, 0, 1);
    create table CUPTI_ACTIVITY_KIND_MEMSET (start integer, end integer, deviceId integer, streamId integer,
        correlationId integer, globalPid integer, value integer, bytes integer);
    insert into CUPTI_ACTIVITY_KIND_MEMSET values (60, 61, 0, 7, 3, 10 << 24, 0, 512);
    create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, eventClass integer, globalTid integer,
        correlationId integer, nameId integer, returnValue integer);
    insert into CUPTI_ACTIVITY_KIND_RUNTIME values (90, 95, 0, (10 << 24) + 12, 5, 4, 0), (80, 85, 1, (10 << 24) + 12, 4, 5, 2);
    create table NVTX_EVENTS (start integer, end integer, eventType integer, text text, textId integer, globalTid integer,
        domainId integer);
    insert into NVTX_EVENTS values (0, null, 75, 'NCCL', null, 10 << 24, 1), (1, null, 39, 'MPI Rank 3', null, (10 << 24) + 12, 0),
        (5, 400, 59, null, 6, (10 << 24) + 12, 0), (6, null, 34, 'here', null, (10 << 24) + 12, 1),
        (7, 9, 60, 'whole', null, (10 << 24) + 12, 1), (8, null, 59, 'open', null, (10 << 24) + 12, 0);
    create table CUDA_GPU_MEMORY_USAGE_EVENTS (start integer, globalPid integer, deviceId integer, address integer,
        bytes integer, memoryOperationType integer, correlationId integer);
    insert into CUDA_GPU_MEMORY_USAGE_EVENTS values (2, 10 << 24, 0, 4096, 65536, 0, 1), (3, 10 << 24, 0, 4096, 65536, 1, 2);
";

fn names(tables: &Tables) -> Vec<&str> {
    texts(tables, tables.dispatches.iter().map(|row| row.name))
}

#[test]
fn every_total_of_a_trace_of_nsys_is_that_of_python() {
    let file = foreign("nsys-2022-saxpy.sqlite");
    let trace = Trace::open(file.path()).unwrap();
    assert_eq!(trace.dialect(), Dialect::Nsys);
    let tables = trace.read(&Select::everything()).unwrap();
    agree(&tables, "nsys_oracle.py", &[file.path()]);
    assert_eq!((tables.dispatches.len(), tables.copies.len(), tables.api_calls.len()), (5, 15, 95));
    let [process] = &tables.processes[..] else { panic!("{:?}", tables.processes) };
    assert_eq!(
        (process.pid, process.rank, process.command.as_deref()),
        (Some(1_230_493), Some(0), Some("./saxpy-mpi-cuda"))
    );
    assert_eq!(tables.agents[0].product.as_deref(), Some("NVIDIA A100-SXM4-40GB"));
    assert_eq!(tables.info.tool_version.as_deref(), Some("2022.2.1.31"));
    assert_eq!(problems(&tables), Vec::<String>::new());
    let correlations: Vec<_> = tables.api_calls.iter().map(|call| call.correlation).collect();
    assert!(tables.dispatches.iter().all(|row| correlations.contains(&row.correlation)));
}

#[test]
fn every_total_of_a_made_file_is_that_of_python() {
    let file = database(&MADE.replace("(8, null, 59,", "(8, 8, 59,"));
    let tables = Trace::open(file.path()).unwrap().read(&Select::everything()).unwrap();
    let mut kernels = tables.clone();
    kernels.dispatches.retain(&[true, true, false]);
    agree(&kernels, "nsys_oracle.py", &[file.path()]);
}

#[test]
fn kernels_have_shapes_registers_and_the_gpu_of_their_process() {
    let tables = everything(MADE);
    assert_eq!(names(&tables), ["void gemm<int>(int)", "void gemm<int>(int)", "CUDA graph 3"]);
    let row = tables.dispatches.get(0);
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!((shape.workgroup, shape.groups, shape.lds), (Some([128, 1, 1]), Some([4, 2, 1]), Some(3072)));
    let symbol = tables.symbols[row.symbol.unwrap().index()];
    assert_eq!((symbol.vgprs, tables.strings.get(symbol.mangled)), (Some(32), "_Z4gemmIiEvi"));
    let graphs: Vec<_> = tables.dispatches.iter().map(|row| row.graph).collect();
    assert_eq!(graphs, [false, true, true]);
    let gpus: Vec<_> =
        tables.dispatches.iter().map(|row| tables.agent(tables.tracks.get(row.track).agent).number).collect();
    assert_eq!(gpus, [0, 1, 0], "each process has a device 0 of its own");
    assert_eq!(tables.agents.len(), 3, "the GPU without work too");
}

#[test]
fn copies_calls_ranges_and_allocations_are_read() {
    let tables = everything(MADE);
    let copies: Vec<_> =
        tables.copies.iter().map(|copy| (copy.direction, copy.bytes, copy.duration)).collect();
    assert_eq!(
        copies,
        [
            (Direction::HostToDevice, Some(4096), Some(10)),
            (Direction::DeviceToDevice, Some(64), Some(20)),
            (Direction::Fill, Some(512), Some(1)),
        ]
    );
    let calls = tables.api_calls.iter();
    let calls: Vec<_> = calls
        .map(|call| (tables.strings.get(call.name), tables.strings.get(call.domain), call.result))
        .collect();
    assert_eq!(calls, [("cudaLaunchKernel", "cuda_runtime", 0), ("cuMemAlloc_v2", "cuda_driver", 2)]);
    let ranges: Vec<_> =
        tables.ranges.iter().map(|row| (tables.strings.get(row.name), row.kind, row.duration)).collect();
    assert_eq!(
        ranges,
        [
            ("step", RangeKind::Thread, Some(395)),
            ("here", RangeKind::Marker, Some(0)),
            ("whole", RangeKind::Process, Some(2)),
            ("open", RangeKind::Thread, None),
        ]
    );
    assert_eq!(tables.strings.get(tables.ranges[1].category), "NCCL");
    let kinds: Vec<_> = tables.allocations.iter().map(|row| (row.kind, row.bytes)).collect();
    assert_eq!(kinds, [(AllocationKind::Allocate, 65536), (AllocationKind::Free, 65536)]);
    let process = &tables.processes[0];
    assert_eq!((process.pid, process.rank, process.host.as_deref()), (Some(10), Some(3), Some("node1")));
    assert_eq!(tables.threads[0].name.as_deref(), Some("worker"));
    assert_eq!(tables.info.schema_version.as_deref(), Some("3.20.3"));
}

#[test]
fn damaged_rows_are_counted_and_the_others_read() {
    let sql = format!(
        "{MADE} insert into CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName) values (null, 1, 1), (7, null, 99), ('x', 'y', 'z');"
    );
    let tables = everything(&sql);
    assert_eq!(names(&tables)[2], "(dangling name)");
    assert_eq!(
        problems(&tables),
        [
            "MissingStart CUPTI_ACTIVITY_KIND_KERNEL.start 2 3",
            "DanglingName CUPTI_ACTIVITY_KIND_KERNEL.demangledName 1 4"
        ]
    );
}

#[test]
fn a_file_without_any_traced_kind_is_a_trace_without_rows() {
    let tables = everything(
        "create table StringIds (id integer primary key, value text); create table META_DATA_EXPORT (name text, value text);",
    );
    assert_eq!((tables.dispatches.len(), tables.info.dialect), (0, Dialect::Nsys));
}
