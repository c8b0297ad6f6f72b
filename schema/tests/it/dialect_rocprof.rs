//! rocprof before rocprofv3: results.csv, results.json, results.db, and roctracer's text files.

use std::fs;
use std::path::{Path, PathBuf};

use rtl_schema::table::{Direction, RangeKind};
use rtl_schema::{Dialect, Error, Select, Tables, Trace};
use tempfile::TempDir;

use crate::fixture::{database, everything, foreign, problems, texts};
use crate::totals::agree;

const CSV: &str = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,GRBM_COUNT,MemUnitStalled,DispatchNs,BeginNs,EndNs,CompleteNs
0,\"void f<int, 2>(int)\",2,0,0,158,159,256,64,512,16,28,4,32,64,0x0,0x7fd615a43240,11656,0.1479924502,900,1000,1600,1700
";

const HIP: &str = "100:900 158:158 hipMalloc(ptr=0x7f00, size=1024) :1
1000:3000 158:158 hipMemcpyAsync(dst=0x7f00, src=0x100, sizeBytes=1024, kind=1, stream=0x55aa) :2
3100:3900 158:159 hipLaunchKernel(function_address=0x400, numBlocks={2,1,1}, dimBlocks={256,1,1}, args=0x1, sharedMemBytes=0, stream=0x55aa) kernel=at::f<int>(int) :3
";
const OPS: &str = "2000:2800 0:0 CopyHostToDevice:2:158
4500:6000 1:1 at::f<int>(int):3:158
";
const RANGES: &str = "50 158:158 1:0:\"outer\"
60 158:158 0:0:\"mark\"
70 158:158 3:7:\"process range\"
80 158:158 4:7:\"\"
90 158:158 2:0:\"\"
95 158:158 1:0:\"never \"closed\"\"
";
const DISPATCHES: &str = "dispatch[0], gpu-id(1), queue-id(0), queue-index(0), pid(33), tid(34), grd(256), wgr(256), lds(64), scr(0), arch_vgpr(28), accum_vgpr(4), sgpr(32), wave_size(64), sig(0x0), obj(0x7fd615a43240), kernel-name(\"k1\"), time(10,20,50,60)
  SQ_WAVES (4)
";

fn read(path: &Path, dialect: Dialect) -> Tables {
    let trace = Trace::open(path).unwrap();
    assert_eq!(trace.dialect(), dialect, "{}", path.display());
    trace.read(&Select::everything()).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    folder
}

#[test]
fn results_csv_has_dispatches_with_registers_and_counters() {
    let folder = folder(&[("results.csv", CSV)]);
    let tables = read(&folder.path().join("results.csv"), Dialect::RocprofCsv);
    let row = tables.dispatches.get(0);
    assert_eq!(
        (tables.strings.get(row.name), row.start, row.duration),
        ("void f<int, 2>(int)", 1000, Some(600))
    );
    assert_eq!((row.tid, row.details.enqueued), (Some(159), Some(900)));
    let symbol = tables.symbols[row.symbol.unwrap().index()];
    assert_eq!((symbol.vgprs, symbol.agprs, symbol.sgprs), (Some(28), Some(4), Some(32)));
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!((shape.lds, shape.scratch, shape.items), (Some(512), Some(16), None), "sizes are products");
    let track = tables.tracks.get(row.track);
    assert_eq!((tables.agent(track.agent).number, tables.process(track.process).pid), (2, Some(158)));
    let counters: Vec<_> =
        tables.counters.iter().map(|row| (tables.strings.get(row.name), row.value)).collect();
    assert_eq!(counters, [("GRBM_COUNT", 11656.0), ("MemUnitStalled", 0.147_992_450_2)]);
    assert!(tables.info.counters);
}

#[test]
fn a_line_of_results_csv_that_was_cut_off_is_reported_and_not_lost() {
    for (text, duration) in [(&CSV[..CSV.len() - 1], Some(600)), (&CSV[..CSV.len() - 7], None)] {
        let folder = folder(&[("results.csv", text)]);
        let tables = read(&folder.path().join("results.csv"), Dialect::RocprofCsv);
        assert_eq!((tables.dispatches.len(), tables.dispatches.duration.get(0)), (1, duration));
        assert!(tables.info.cut_off().is_some());
    }
}

#[test]
fn results_csv_without_times_is_refused_by_name() {
    let text = "Index,KernelName,gpu-id,queue-id,pid,tid,SQ_WAVES\n0,\"k\",0,0,1,1,4\n";
    let folder = folder(&[("results.csv", text)]);
    let error = Trace::open(folder.path().join("results.csv")).unwrap_err();
    assert!(matches!(error, Error::Unread { .. }), "{error}");
    assert!(error.hint().contains("--timestamp on"), "{}", error.hint());
}

#[test]
fn text_files_of_a_folder_are_one_trace_linked_by_correlation() {
    let folder = folder(&[
        ("158_hip_api_trace.txt", HIP),
        ("158_hcc_ops_trace.txt", OPS),
        ("158_roctx_trace.txt", RANGES),
    ]);
    let tables = read(folder.path(), Dialect::Roctracer);
    assert_eq!((tables.api_calls.len(), tables.dispatches.len(), tables.copies.len()), (3, 1, 1));
    let row = tables.dispatches.get(0);
    assert_eq!((tables.strings.get(row.name), row.correlation, row.tid), ("at::f<int>(int)", 3, Some(159)));
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!((shape.workgroup, shape.groups), (Some([256, 1, 1]), Some([2, 1, 1])));
    let copy = tables.copies[0];
    assert_eq!((copy.direction, copy.bytes, copy.tid), (Direction::HostToDevice, Some(1024), Some(158)));
    let ranges: Vec<_> =
        tables.ranges.iter().map(|row| (tables.strings.get(row.name), row.kind, row.duration)).collect();
    assert_eq!(
        ranges,
        [
            ("mark", RangeKind::Marker, Some(0)),
            ("process range", RangeKind::Process, Some(10)),
            ("outer", RangeKind::Thread, Some(40)),
            ("never \"closed\"", RangeKind::Thread, None),
        ]
    );
    assert!(tables.info.linked && tables.info.cut_off().is_none());
    assert_eq!(tables.processes.len(), 1);
    let ops = Trace::open(folder.path()).unwrap().read(&Select::ops()).unwrap();
    assert_eq!((ops.copies[0].bytes, ops.copies[0].correlation), (Some(1024), 0), "links are not selected");
}

#[test]
fn dispatches_of_results_txt_have_times_and_counters() {
    let folder = folder(&[("results.txt", DISPATCHES)]);
    let tables = read(&folder.path().join("results.txt"), Dialect::Roctracer);
    let row = tables.dispatches.get(0);
    assert_eq!(
        (tables.strings.get(row.name), row.start, row.duration, row.details.enqueued),
        ("k1", 20, Some(30), Some(10))
    );
    assert_eq!((tables.counters[0].value, tables.strings.get(tables.counters[0].name)), (4.0, "SQ_WAVES"));
    assert!(tables.info.counters);
}

#[test]
fn a_line_that_is_none_is_a_problem_and_the_others_are_read() {
    let folder = folder(&[("hip_api_trace.txt", &format!("{HIP}what is this\n{}", &HIP[..30]))]);
    let tables = read(&folder.path().join("hip_api_trace.txt"), Dialect::Roctracer);
    assert_eq!(tables.api_calls.len(), 4);
    assert_eq!(problems(&tables), ["BadValue line 1 4"]);
    assert!(tables.info.cut_off().is_some());
}

/// The tables that rocprof's scripts create, in hip mode.
const DATABASE: &str = "
    create table KERN (\"Index\" INTEGER, KernelName TEXT);
    create table HIP (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, args TEXT, \"Index\" INTEGER, Data TEXT,
        __section INTEGER, __lane INTEGER, DurationNs INTEGER);
    insert into HIP values (1000, 3000, 158, 158, 'hipMemcpyAsync', '( dst(0x7f00) sizeBytes(1024) kind(1) stream(1))', 2, '', 2, 158, 2000),
        (3100, 3900, 158, 159, 'hipLaunchKernel', '( kernel(gemm) numBlocks({2)1)1}) dimBlocks({64)1)1}) stream(0))', 3, '', 2, 159, 800);
    create table OPS (BeginNs INTEGER, EndNs INTEGER, \"dev-id\" INTEGER, \"queue-id\" INTEGER, Name TEXT, pid INTEGER, tid INTEGER,
        \"roctx-range\" TEXT, \"stream-id\" INTEGER, \"Index\" INTEGER, Data TEXT, __section INTEGER, __lane INTEGER, DurationNs INTEGER);
    insert into OPS values (4500, 6000, 1, 1, 'gemm', 158, 159, 'gemm', 0, 3, '', 7, 0, 1500),
        (6100, 6200, 1, 1, '\"<barrier packet>\"', 158, 159, '', 0, 4, '', 519, 0, 100);
    create table COPY as select * from OPS where 0;
    insert into COPY values (2000, 2800, 0, 0, 'CopyHostToDevice', 158, 158, '', 1, 2, '', 1, 1, 800);
    create table rocTX (BeginNs INTEGER, EndNs INTEGER, pid INTEGER, tid INTEGER, Name TEXT, \"Index\" INTEGER, __section INTEGER,
        __lane INTEGER);
    insert into rocTX values (60, 61, 158, 158, 'mark', 0, 0, 158), (50, 90, 158, 158, 'outer', 1, 0, 158);
";

#[test]
fn results_db_has_the_records_of_every_table() {
    let tables = everything(DATABASE);
    assert_eq!(tables.info.dialect, Dialect::RocprofDatabase);
    assert_eq!((tables.api_calls.len(), tables.copies.len(), tables.barriers.len()), (2, 1, 1));
    let row = tables.dispatches.get(0);
    assert_eq!(
        (tables.strings.get(row.name), row.correlation, tables.tracks.get(row.track).stream),
        ("gemm", 3, Some(0))
    );
    assert_eq!(tables.shapes.get(row.shape.unwrap()).groups, Some([2, 1, 1]));
    assert_eq!((tables.copies[0].bytes, tables.copies[0].direction), (Some(1024), Direction::HostToDevice));
    let kinds: Vec<_> = tables.ranges.iter().map(|range| (range.kind, range.duration)).collect();
    assert_eq!(kinds, [(RangeKind::Marker, Some(0)), (RangeKind::Unknown, Some(40))]);
    assert!(tables.info.linked);
}

#[test]
fn results_db_of_kernels_alone_has_them_in_their_own_table() {
    let tables = everything(
        "create table KERN (\"Index\" INTEGER, KernelName TEXT, \"gpu-id\" INTEGER, \"queue-id\" INTEGER, pid INTEGER, tid INTEGER,
            lds INTEGER, scr INTEGER, arch_vgpr INTEGER, accum_vgpr INTEGER, sgpr INTEGER, DispatchNs INTEGER, BeginNs INTEGER,
            EndNs INTEGER, CompleteNs INTEGER, DurationNs INTEGER);
        insert into KERN values (0, '\"k1\"', 3, 0, 1, 2, 64, 0, 28, 4, 32, 10, 20, 50, 60, 30), (1, 'k2', 3, 0, 1, 2, 0, 0, 8, 0, 16, 10, null, 50, 60, 30);",
    );
    assert_eq!(texts(&tables, tables.dispatches.iter().map(|row| row.name)), ["k1"]);
    assert_eq!(problems(&tables), ["MissingStart KERN.BeginNs 1 2"]);
}

#[test]
fn every_total_of_a_made_database_is_that_of_python() {
    let file = database(
        &DATABASE.replace("(6100, 6200, 1, 1, '\"<barrier packet>\"'", "(6100, 6200, 1, 1, 'other'"),
    );
    agree(&read(file.path(), Dialect::RocprofDatabase), "rocprof_oracle.py", &[file.path()]);
}

#[test]
fn every_total_of_golden_files_is_that_of_python() {
    let Some(shared) = support::shared() else { return };
    let golden = shared.join("golden/rocprof-v1");
    for (name, dialect) in [
        ("out.csv", Dialect::RocprofCsv),
        ("outs.csv", Dialect::RocprofCsv),
        ("hsares.csv", Dialect::RocprofCsv),
        ("results.json", Dialect::RocprofJson),
        ("hsares.json", Dialect::RocprofJson),
    ] {
        let path = golden.join(name);
        let tables = read(&path, dialect);
        agree(&tables, "rocprof_oracle.py", &[&path]);
        assert_eq!(problems(&tables), Vec::<String>::new(), "{name}");
    }
    for name in ["in-hip", "in-hsa"] {
        let path = golden.join(name);
        let mut files: Vec<PathBuf> = fs::read_dir(&path).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let tables = read(&path, Dialect::Roctracer);
        agree(&tables, "rocprof_oracle.py", &files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
        assert_eq!(problems(&tables), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_total_of_real_files_is_that_of_python() {
    for (name, dialect) in
        [("rocprof-results.csv", Dialect::RocprofCsv), ("rocprof-results.db", Dialect::RocprofDatabase)]
    {
        let file = foreign(name);
        let tables = read(file.path(), dialect);
        agree(&tables, "rocprof_oracle.py", &[file.path()]);
        assert_eq!((tables.dispatches.len(), problems(&tables).len()), (200, 0), "{name}");
        let row = tables.dispatches.get(0);
        assert_eq!(tables.strings.get(row.name), "initialize_polynomial_kernel");
        assert_eq!(tables.symbols[row.symbol.unwrap().index()].vgprs, Some(40));
        assert!(tables.info.cut_off().is_none());
    }
}

#[test]
fn results_json_that_was_cut_off_is_read_to_its_last_event() {
    let Some(shared) = support::shared() else { return };
    let whole = fs::read_to_string(shared.join("golden/rocprof-v1/results.json")).unwrap();
    for end in (0..whole.len()).step_by(97) {
        let folder = folder(&[("results.json", &whole[..end])]);
        let opened = Trace::open(folder.path().join("results.json"));
        let Ok(tables) = opened.and_then(|trace| trace.read(&Select::everything())) else { continue };
        assert!(tables.info.cut_off().is_some(), "{end}");
    }
}
