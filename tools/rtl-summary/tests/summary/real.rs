//! Traces of other tools, real and made: every figure about their ops, calls and ranges against SQL on the same
//! rows, which are brought into our columns here, by other means than the program's.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::Layout;
use support::rusqlite::{Connection, params};

use crate::Folder;
use crate::trial::Trial;

fn trace(name: &str) -> Option<PathBuf> {
    support::shared().map(|shared| shared.join("traces").join(name))
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// A copy of a database to ask, packed or not.
fn copy(folder: &Folder, path: &Path) -> Connection {
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let bytes = if packed { unpacked(path) } else { std::fs::read(path).unwrap() };
    Connection::open(folder.file("copy.db", bytes)).unwrap()
}

#[test]
fn what_rtl_recorded_of_real_programs_adds_up() {
    for name in ["llama-bench", "tinygrad"] {
        let path = support::recorded(name);
        let folder = Folder::new();
        let trial = Trial::with(copy(&folder, &path), &path, "");
        trial.everything(Layout::Native, false);
    }
}

#[test]
fn the_trace_of_the_readme() {
    let folder = Folder::new();
    let trace = support::recorded("llama-bench").with_file_name("gpt-loader.json.gz");
    std::fs::copy(trace, folder.path("gpt-loader.json.gz")).unwrap();
    let run = crate::Run::of(folder.program("gpt-loader.json.gz").env("COLUMNS", "100"));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    assert_data_eq!(
        run.answer,
        str![[r#"
Trace: gpt-loader.json.gz
GPU busy 26.7 % of 98.552 ms, idle 72.220 ms (73.3 %); trust good
1. launch-bound: the host launches ops more slowly than the GPU runs them: idle for 51.8 ms in
   1065 gaps of 48.7 us (52.6 % of the wall time); 55 % of it in the backward pass, 21 % between
   operators; about 33 % of the wall time is torch.profiler itself (10,598 calls and operators)
   help: launch the ops as one graph, fuse small kernels (torch.compile), or give each launch
         more work
   look: rtl-summary --section idle,launches,queues TRACE
2. idle-host: the GPU waits for data that the host loads: idle for 19.5 ms in 4 gaps of 4.88 ms
   (19.8 % of the wall time) and for 4.72 ms before the first op, outside of it, most at
   enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__, in every step, after DtoH and before
   HtoD
   help: let worker processes load ahead of time (the loader's `num_workers`); make decoding
         and transforms cheaper
   look: rtl-summary --section idle,gaps TRACE
15 of 44 kernels hold 80 % of the kernel time; nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT
   alone holds 12.7 %: at twice the speed it would save 1.7 % of the wall time
  Recorder:  torch.profiler (layout kineto-json 1)
  Processes: pid 461, `python3`
  GPUs:      GPU 0: NVIDIA H200
  Span:      103.620 ms
  GPU ops:   1420 (1110 dispatches, 70 copies, 240 memsets)
  API calls: 1726
  Also:      25 ranges

Kernels (10 of 44)
Kernel                            Key  Calls  Total (us)      %  Duration  Mean (us)     p50     Max
────────────────────────────────────────────────────────────────────────────────────────────────────
nvjet_sm90_tst_2…_h_bz_coopA_NNT  k1      85     3,268.7  12.67  ▄···▄█·▁     38.455  44.032  85.504
elementwise_kern…cuda(BFloat16)>  k2     110     2,668.9  10.35  █··▁▆··▂     24.263  10.784  82.496
nvjet_sm90_tst_2…_coopA_bias_TNT  k3      65     2,637.1  10.23  █···██·▂     40.571  44.960  97.311
nvjet_sm90_tst_1…_v_bz_coopA_NTN  k4      45     2,272.1   8.81  █······▁     50.490  46.016  87.264
reduce_kernel<12…p<BFloat16, …>>  k5      85     1,429.2   5.54  ▂▇▁▁█··▂     16.814  18.207  30.015
cudnn_generated_…1x1x1_kernel0_0  k6      20     1,305.9   5.06  ▅▂██▄▂▄▂     65.297  65.184  66.880
multi_tensor_app…plus<…>, float>  k7      40     1,272.3   4.93  ▅▁····▇█     31.806  34.559  37.376
vectorized_eleme…_add<BFloat16>>  k8     100     1,035.6   4.02  █······▆     10.356   6.175  18.400
elementwise_kern…_add<BFloat16>>  k9      40       900.8   3.49  █······█     22.519  15.168  31.776
nvjet_sm90_tst_2…_h_bz_coopA_TNT  k10     20       737.1   2.86  ██▄▄▂▄▂▄     36.854  36.736  37.345
not shown: Cum %, Min, p95, p99, Stddev

GPUs
GPU      Ops  Busy %  Wall (ms)  Idle (ms)  Busy over time
────────────────────────────────────────────────────────────────────
GPU 0  1,420   26.72     98.552     72.220  ▄▃▃▃·▂▄▃▃▁▂▄▃▃▁▂▄▃▂▁▃▄▃▃

Longest gaps (At: after the first call, range or op of the trace)
GPU  At (ms)       Gap  Cause                     Op before  Op after
─────────────────────────────────────────────────────────────────────
  0   41.975  5.483 ms  host: enumer…er.__next__  DtoH       HtoD
  0   20.632  5.350 ms  host: enumer…er.__next__  DtoH       HtoD
  0   63.802  4.814 ms  host: enumer…er.__next__  DtoH       HtoD

"#]]
    );
}

/// RPD keeps ranges among the calls, sizes of copies beside them, and the text of ranges in `texts`.
fn rpd(name: &str, texts: &str, domain: &str) {
    let Some(path) = trace(name) else { return };
    let folder = Folder::new();
    let connection = copy(&folder, &path);
    connection
        .execute_batch(&format!(
            "CREATE TEMP TABLE marks AS
                SELECT call.id, pid, tid, start, end, texts.string AS name FROM main.rocpd_api AS call
                JOIN main.rocpd_string AS api ON api.id = apiName_id AND api.string = 'UserMarker'
                JOIN {texts} AS texts ON texts.id = args_id;
            CREATE TEMP TABLE links AS SELECT DISTINCT api_id, op_id FROM main.rocpd_api_ops;
            CREATE TEMP TABLE rocpd_op AS
                SELECT op.id, gpuId, queueId, start, end, description_id, opType_id, 0 AS roctxId,
                    (SELECT size FROM links JOIN main.rocpd_copyapi ON api_ptr_id = api_id WHERE op_id = op.id) AS bytes
                FROM main.rocpd_op AS op
                UNION ALL
                SELECT id, -1, 0, start, end, NULL,
                    (SELECT id FROM main.rocpd_string WHERE string = 'UserMarker'), 0, NULL
                FROM marks;
            CREATE TEMP VIEW rocpd_api AS SELECT * FROM main.rocpd_api WHERE id NOT IN (SELECT id FROM marks);"
        ))
        .unwrap();
    let trial = Trial::with(connection, &path, "--names mangled");
    trial.ops(true);
    trial.span(true);
    trial.api(domain);
    // The call that launched an op was made within the range, on the same thread.
    let ranges = trial.query(
        "WITH launches AS (
            SELECT DISTINCT call.id, pid, tid, start FROM main.rocpd_api AS call JOIN links ON api_id = call.id
        ),
        inside AS (
            SELECT DISTINCT name, launches.id AS api_id FROM launches JOIN marks
            ON marks.tid = launches.tid AND marks.pid = launches.pid AND marks.start < marks.end
                AND launches.start >= marks.start AND launches.start < marks.end
        ),
        enclosed AS (
            SELECT name, count(*) AS ops, sum(end - start) AS gpu_ns
            FROM inside JOIN links USING (api_id) JOIN main.rocpd_op AS op ON op.id = op_id GROUP BY name
        )
        SELECT name || (start = end) AS name, count(*) AS count, sum(end - start) AS total_ns,
            iif(start = end, 0, ifnull(ops, 0)) AS ops, iif(start = end, 0, ifnull(gpu_ns, 0)) AS gpu_ns
        FROM marks LEFT JOIN enclosed USING (name) GROUP BY marks.name, start = end",
    );
    let ours: Vec<Value> = trial.ranges_with_kind();
    trial.equal("ranges", "name", &ours, &ranges, &["count", "total_ns", "ops", "gpu_ns"]);
}

#[test]
fn rpd_of_a_vllm_server() {
    rpd("real/rpd2-vllm-fp8.rpd.gz", "main.rocpd_string", "NULL");
}

#[test]
fn rpd_of_a_matrix_product() {
    rpd("real/rpd2-matmul-mi200.rpd", "main.rocpd_string", "NULL");
}

#[test]
fn rpd_schema_3() {
    rpd("made/rpd3.rpd", "main.rocpd_ustring", "domain_id");
}

/// Tables with our columns, to be filled.
const TABLES: &str = "
CREATE TEMP TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
CREATE TEMP TABLE rocpd_op(
    id INTEGER PRIMARY KEY, gpuId, queueId, start, end, description_id, opType_id, roctxId, bytes
);
INSERT INTO rocpd_string(string) VALUES ('KernelExecution'), ('CopyHostToDevice'), ('CopyDeviceToHost'), ('UserMarker');
";

#[test]
fn rocprofv3_json_of_a_training_on_eight_gpus() {
    let Some(path) = trace("real/rocprofv3-gfx950.json.gz") else { return };
    let document: Value = serde_json::from_slice(&unpacked(&path)).unwrap();
    let tool = &document["rocprofiler-sdk-tool"][0];
    let list = |value: &Value| value.as_array().unwrap().clone();
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(TABLES).unwrap();
    let name_of = |symbol: &Value| symbol["formatted_kernel_name"].as_str().unwrap().to_owned();
    for symbol in list(&tool["kernel_symbols"]) {
        connection
            .execute("INSERT OR IGNORE INTO rocpd_string(string) VALUES (?1)", [name_of(&symbol)])
            .unwrap();
    }
    let symbols: std::collections::HashMap<i64, String> = list(&tool["kernel_symbols"])
        .iter()
        .map(|symbol| (symbol["kernel_id"].as_i64().unwrap(), name_of(symbol)))
        .collect();
    let gpus: std::collections::HashMap<i64, i64> = list(&tool["agents"])
        .iter()
        .filter(|agent| agent["type"] == 2)
        .map(|agent| {
            (agent["id"]["handle"].as_i64().unwrap(), agent["logical_node_type_id"].as_i64().unwrap())
        })
        .collect();
    let mut insert = connection
        .prepare(
            "INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId)
            SELECT ?1, ?2, ?3, ?4, id, 1, 0 FROM rocpd_string WHERE string = ?5",
        )
        .unwrap();
    for dispatch in list(&tool["buffer_records"]["kernel_dispatch"]) {
        let info = &dispatch["dispatch_info"];
        let row = params![
            gpus[&info["agent_id"]["handle"].as_i64().unwrap()],
            info["queue_id"]["handle"].as_i64(),
            dispatch["start_timestamp"].as_i64(),
            dispatch["end_timestamp"].as_i64(),
            symbols[&info["kernel_id"].as_i64().unwrap()],
        ];
        assert_eq!(insert.execute(row).unwrap(), 1);
    }
    drop(insert);
    let trial = Trial::with(connection, &path, "");
    trial.ops(true);
    trial.span(false);
}

fn rocprofv3(rank: &str) {
    let Some(path) = trace(&format!("made/rocprofv3-{rank}.db")) else { return };
    let connection = copy(&Folder::new(), &path);
    connection
        .execute_batch(&format!(
            "{TABLES}
            CREATE TEMP TABLE marks AS
                SELECT json_extract(extdata, '$.message') AS name, start, end FROM regions WHERE category LIKE 'MARKER%'
                UNION ALL
                SELECT json_extract(extdata, '$.message'), timestamp, timestamp FROM samples;
            CREATE TEMP TABLE rocpd_api AS
                SELECT start, end, name, category FROM regions WHERE category NOT LIKE 'MARKER%';
            INSERT OR IGNORE INTO rocpd_string(string)
                SELECT name FROM kernels UNION SELECT name FROM rocpd_api UNION SELECT category FROM rocpd_api;
            ALTER TABLE rocpd_api ADD COLUMN apiName_id;
            ALTER TABLE rocpd_api ADD COLUMN domain_id;
            UPDATE rocpd_api SET apiName_id = (SELECT id FROM temp.rocpd_string WHERE string = name),
                domain_id = (SELECT id FROM temp.rocpd_string WHERE string = category);
            INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, bytes)
                SELECT agent_type_index, queue_id, start, end,
                    (SELECT id FROM temp.rocpd_string WHERE string = name), 1, 0, NULL
                FROM kernels
                UNION ALL
                SELECT iif(dst_agent_type = 'GPU', dst_agent_type_index, src_agent_type_index), 0, start, end, NULL,
                    iif(dst_agent_type = 'GPU', 2, 3), 0, size
                FROM memory_copies
                UNION ALL
                SELECT -1, 0, start, end, NULL, 4, 0, NULL FROM marks;"
        ))
        .unwrap();
    let trial = Trial::with(connection, &path, "");
    trial.ops(true);
    trial.span(true);
    trial.api("domain_id");
    let ranges = trial.query(
        "SELECT name || (start = end) AS name, count(*) AS count, sum(end - start) AS total_ns
        FROM marks GROUP BY marks.name, start = end",
    );
    trial.equal("ranges", "name", &trial.ranges_with_kind(), &ranges, &["count", "total_ns"]);
}

#[test]
fn rocprofv3_rocpd_of_two_ranks() {
    rocprofv3("rank0");
    rocprofv3("rank1");
}

#[test]
fn traces_of_rocm_trace_lite() {
    for name in ["rtl.db", "rtl-hip.db"] {
        let Some(path) = trace(&format!("made/{name}")) else { return };
        let trial = Trial::with(copy(&Folder::new(), &path), &path, "");
        trial.ops(false);
        trial.span(true);
        if name == "rtl-hip.db" {
            trial.api("NULL");
        }
        // No op has a range's id, so what started within the range is inside it.
        let ranges = trial.query(
            "SELECT name || marker AS name, count(*) AS count, sum(duration) AS total_ns,
                (SELECT count(*) FROM ops WHERE ops.start >= ranges.start AND ops.start < ranges.end) AS ops
            FROM ranges GROUP BY ranges.name, marker",
        );
        trial.equal("ranges", "name", &trial.ranges_with_kind(), &ranges, &["count", "total_ns", "ops"]);
    }
}

#[test]
fn every_trace_at_hand_is_read_without_a_word_on_standard_error() {
    let Some(shared) = support::shared() else { return };
    for folder in ["traces/real", "traces/made"] {
        for file in std::fs::read_dir(shared.join(folder)).unwrap() {
            let path = file.unwrap().path();
            for line in ["--to rpt", "--to rocprofv3", "--by shape --names short"] {
                let run = crate::Run::of(Folder::new().program(line).arg(&path));
                assert_eq!((run.code, run.messages.as_str()), (0, ""), "{line} {}", path.display());
                assert!(!run.answer.is_empty(), "{line} {}", path.display());
            }
        }
    }
}

#[test]
fn every_command_of_the_page_on_automation_answers_in_json() {
    use crate::Run;

    let page = include_str!("../../../../docs/automation.md");
    let folder = Folder::new();
    let trace = support::recorded("llama-bench").with_file_name("gpt-loader.json.gz");
    std::fs::copy(trace, folder.path("trace.json.gz")).unwrap();
    let commands: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("rtl-summary ")).collect();
    assert!(commands.len() > 5);
    for command in commands {
        let Run { answer, code, .. } = folder.run(command);
        assert_eq!(code, 0, "{command}: {answer}");
        let is_json = serde_json::from_str::<serde_json::Value>(&answer).is_ok();
        assert!(is_json || command.contains("--health"), "{command}: {answer}");
    }
}

#[test]
fn findings_do_not_depend_on_what_else_is_reported() {
    let Some(shared) = support::shared() else {
        return support::skip(support::Need::Shared, "no traces of real GPUs beside the checkout");
    };
    let names = [
        "traces/real/rpd2-vllm-fp8.rpd.gz",
        "traces/real/rpd2-matmul-mi200.rpd",
        "traces/real/rocprofv3-gfx950.json.gz",
        "kineto/mi300-qwen.json.gz",
        "kineto/vllm-decode-graph.json.gz",
        "kineto/h200/gpt-sync.json.gz",
    ];
    let folder = Folder::new();
    for path in names.map(|name| shared.join(name)) {
        let findings = |what: &str| {
            let run = crate::Run::of(folder.program(what).arg("--to").arg("json").arg(&path));
            let report: Value = serde_json::from_str(&run.answer).unwrap();
            report["findings"].clone()
        };
        // `ranks` reads launch shapes, too.
        let all = findings("--section findings,ranks,memory,launches");
        for what in ["", "--all", "--section findings"] {
            assert_eq!(findings(what), all, "{what} {}", path.display());
        }
    }
}
