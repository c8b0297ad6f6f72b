//! JAX's profiler writes Chrome's trace format and planes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rtl_schema::table::Direction;
use rtl_schema::{Dialect, Select, Tables, Trace};
use tempfile::TempDir;

use crate::totals::{agree, totals};

const JSON: &str = r#"{"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},
{"ph":"M","pid":1,"tid":24,"name":"thread_name","args":{"name":"Stream #24(Compute,Memset)"}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"XLA Modules"}},
{"ph":"M","pid":2,"name":"process_name","args":{"name":"/device:GPU:1"}},
{"ph":"M","pid":701,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":701,"tid":7,"name":"thread_name","args":{"name":"python3"}},
{"ph":"X","pid":1,"tid":24,"ts":28817.663999999997,"dur":0.76800000000000002,"name":"Memset 3","args":{"Memset_details":"kind:device num_bytes:4 async:1","correlation_id":"1"}},
{"ph":"X","pid":1,"tid":24,"ts":29013.824,"dur":173.248,"name":"gemm","args":{"correlation_id":"2","kernel_details":"regs:168 static_shared:16 dynamic_shared:213188 grid:2,66,1 block:384,1,1 occ_pct:18.75"}},
{"ph":"X","pid":1,"tid":24,"ts":29300,"dur":2,"name":"MemcpyD2H","args":{"correlation_id":"3","memcpy_details":"kind_src:device kind_dst:pinned size:64 dest:0 async:1"}},
{"ph":"X","pid":1,"tid":2,"ts":28817.5,"dur":500,"name":"jit_f(1)","args":{}},
{"ph":"X","pid":701,"tid":7,"ts":10,"dur":5,"name":"gemm","args":{"correlation_id":"2","device_id":"0"}},
{"ph":"X","pid":701,"tid":7,"ts":1,"dur":50,"name":"PjitFunction(f)"},
{"ph":"X","pid":701,"tid":7,"ts":0,"dur":60,"name":"train","args":{"step_num":"4"}},
{"ph":"X","pid":701,"tid":7,"ts":0,"dur":70,"name":"$model.py:3 f"},
{"ph":"X","pid":701,"tid":7,"ts":80,"dur":9,"name":"$api.py:3105 block_until_ready"},
{}]}"#;

fn read_text(text: &str) -> Tables {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("vm.trace.json");
    fs::write(&path, text).unwrap();
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.dialect(), Dialect::JaxJson);
    trace.read(&Select::everything()).unwrap()
}

#[test]
fn planes_of_gpus_have_kernels_and_copies() {
    let tables = read_text(JSON);
    let row = tables.dispatches.get(0);
    assert_eq!(
        (tables.strings.get(row.name), row.start, row.duration, row.correlation),
        ("gemm", 29_013_824, Some(173_248), 2)
    );
    let shape = tables.shapes.get(row.shape.unwrap());
    assert_eq!(
        (shape.workgroup, shape.groups, shape.lds),
        (Some([384, 1, 1]), Some([2, 66, 1]), Some(213_204))
    );
    assert_eq!(tables.symbols[row.symbol.unwrap().index()].vgprs, Some(168));
    let copies: Vec<_> = tables.copies.iter().map(|copy| (copy.direction, copy.bytes, copy.start)).collect();
    assert_eq!(
        copies,
        [(Direction::Fill, Some(4), 28_817_664), (Direction::DeviceToHost, Some(64), 29_300_000)]
    );
    assert_eq!(tables.tracks.get(row.track).stream, Some(24));
    assert_eq!(tables.agents.len(), 2, "the GPU without work too");
}

#[test]
fn events_of_the_host_are_calls_operators_and_steps() {
    let tables = read_text(JSON);
    let [call, wait] = &tables.api_calls.iter().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((tables.strings.get(call.name), call.correlation, call.tid), ("gemm", 2, Some(7)));
    assert_eq!((tables.strings.get(wait.name), wait.duration), ("block_until_ready", Some(9_000)));
    assert!(tables.info.linked);
    let operators: Vec<_> = tables.operators.iter().map(|row| tables.strings.get(row.name)).collect();
    assert_eq!(operators, ["PjitFunction(f)"]);
    assert_eq!(tables.strings.get(tables.ranges[0].category), "train#4");
    let left = tables.info.metadata.iter().filter(|(tag, _)| tag.starts_with("events_without_table"));
    let left: Vec<_> = left.map(|(tag, count)| format!("{tag} {count}")).collect();
    assert_eq!(left, ["events_without_table.XLA Modules 1", "events_without_table.python_function 1"]);
}

#[test]
fn a_document_that_was_cut_off_is_read_to_its_last_event() {
    let whole = read_text(JSON);
    for end in (900..JSON.len() - 2).step_by(13) {
        let tables = read_text(&JSON[..end]);
        assert!(tables.info.cut_off().is_some(), "{end}");
        assert!(tables.dispatches.len() <= whole.dispatches.len());
    }
}

fn sample(name: &str) -> Option<PathBuf> {
    support::shared().map(|shared| shared.join("kineto/jax").join(name))
}

fn read(path: &Path, dialect: Dialect) -> Tables {
    let trace = Trace::open(path).unwrap();
    assert_eq!(trace.dialect(), dialect);
    trace.read(&Select::everything()).unwrap()
}

#[test]
fn every_total_of_a_trace_of_jax_is_that_of_python() {
    for (name, dialect) in [("vm.trace.json.gz", Dialect::JaxJson), ("vm.xplane.pb", Dialect::Xplane)] {
        let Some(path) = sample(name) else { return };
        let tables = read(&path, dialect);
        agree(&tables, "jax_oracle.py", &[&path]);
        assert_eq!(
            (tables.dispatches.len(), tables.copies.len(), tables.agents.len()),
            (30, 20, 2),
            "{name}"
        );
        assert!(tables.info.linked);
    }
}

#[test]
fn both_files_of_a_session_have_the_same_work() {
    let (Some(json), Some(planes)) = (sample("vm.trace.json.gz"), sample("vm.xplane.pb")) else { return };
    let of_gpu = |tables: &Tables| {
        let mut totals = totals(tables);
        totals.retain(|(table, _), _| table == "kernel" || table == "copy");
        totals
    };
    let planes = read(&planes, Dialect::Xplane);
    assert_eq!(of_gpu(&read(&json, Dialect::JaxJson)), of_gpu(&planes));
    assert_eq!(planes.agents[0].product.as_deref(), Some("NVIDIA H200"));
    assert_eq!((planes.processes[0].pid, planes.processes[0].host.as_deref()), (Some(1100), Some("vm")));
}

#[test]
fn planes_from_a_pipe_are_read_to_their_end() {
    let Some(path) = sample("vm.xplane.pb") else { return };
    let folder = TempDir::new().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut writer =
        Command::new("sh").args(["-c", "cat \"$0\" > \"$1\""]).arg(&path).arg(&pipe).spawn().unwrap();
    let tables = read(&pipe, Dialect::Xplane);
    assert!(writer.wait().unwrap().success());
    assert_eq!((totals(&tables), tables.info.cut_off()), (totals(&read(&path, Dialect::Xplane)), None));
}

#[test]
fn planes_that_were_cut_off_at_any_byte_are_read_or_refused() {
    let Some(path) = sample("vm.xplane.pb") else { return };
    let bytes = fs::read(path).unwrap();
    let folder = TempDir::new().unwrap();
    for end in (1..bytes.len()).step_by(997) {
        let path = folder.path().join("cut.xplane.pb");
        fs::write(&path, &bytes[..end]).unwrap();
        let Ok(tables) = Trace::open(&path).and_then(|trace| trace.read(&Select::everything())) else {
            continue;
        };
        let is_whole = tables.info.cut_off().is_none();
        assert!(!is_whole || end > bytes.len() - 200 || tables.dispatches.len() <= 30, "{end}");
    }
}
