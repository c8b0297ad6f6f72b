//! Ranks beside each other: what is printed of the job that was made, and the same figures by SQL.

use std::path::{Path, PathBuf};

use serde_json::Value;
use snapbox::{assert_data_eq, str};
use support::json_schema::JsonSchema;
use support::rusqlite::Connection;
use support::{Job, Layout};

use crate::{Folder, Run};

const SCHEMA: &str = include_str!("../../../../docs/reference/rtl-summary.schema.json");

/// A folder with `rank<N>.db` of a job whose rank 2 is a fifth slower.
fn job(nodes: u32) -> (Folder, String) {
    let folder = Folder::new();
    let job = Job { nodes, ranks_per_node: 6 / nodes, slow: Some((2, 1.2)), ..Job::default() };
    let files = job.generate(folder.0.path()).unwrap();
    let words: Vec<String> = (0..files.len()).map(|rank| format!("rank{rank}.db")).collect();
    (folder, words.join(" "))
}

#[test]
fn the_story_of_the_late_arriver() {
    let folder = Folder::of(&["late-arriver"]);
    assert_data_eq!(
        folder.answer("late-arriver.db --by rank --section ranks,collectives,imbalance"),
        str![[r#"
Trace: late-arriver.db

Ranks
Rank   GPU      Busy   Compute    Step  Slowest  Coll.    Wait  Transfer  Last  Without clocks: wait  last
──────────────────────────────────────────────────────────────────────────────────────────────────────────
GPU 0    0  2.040 us  1.200 us  100 ns        0     12  360 ns    480 ns     0                360 ns     0
GPU 1    1  2.090 us  1.610 us  130 ns       12     12    0 ns    480 ns    12                  0 ns    12
GPU 2    2  2.040 us  1.320 us  110 ns        0     12  240 ns    480 ns     0                240 ns     0
not shown: Held up others, transfer
12 steps are the ranges step: the slowest rank computes 14.71% longer than the mean
straggler: GPU 1; the other ranks waited for it (found without clocks)

Collectives, totals of all calls
Collective                               Ranks  Count  Arrival spread    Wait  Transfer  Without clocks: wait  transfer
───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
ncclDevKernel_AllReduce_Sum_f16_RING_LL  all 3     12          360 ns  600 ns    480 ns                600 ns    480 ns
not shown: Violated

Kernels by how unevenly ranks share them
Kernel  Ranks  Fewest calls  Most calls      Mean      Most  Max/mean - 1 (%)  Of     A call (%)  of
───────────────────────────────────────────────────────────────────────────────────────────────────────
gemm        3            12          12  1.360 us  1.560 us             14.71  GPU 1       14.71  GPU 1

"#]]
    );
}

#[test]
fn csv_and_markdown_hold_the_same_tables() {
    let folder = Folder::of(&["late-arriver"]);
    assert_data_eq!(
        folder.answer("late-arriver.db --section ranks --to csv"),
        str![[r#"
name,gpu,busy_ns,compute_ns,mean_step_ns,slowest_steps,collectives,wait_ns,transfer_ns,last,delay_ns,clock_free_wait_ns,clock_free_transfer_ns,clock_free_last
GPU 0,0,2040,1200,100,0,12,360,480,0,0,360,480,0
GPU 1,1,2090,1610,130,12,12,0,480,12,480,0,480,12
GPU 2,2,2040,1320,110,0,12,240,480,0,0,240,480,0

"#]]
    );
    assert_data_eq!(
        folder.answer("late-arriver.db --section collectives --to csv"),
        str![[r#"
kernel,ranks,collectives,incomplete,arrival_spread_ns,wait_ns,transfer_ns,violations,clock_free_wait_ns,clock_free_transfer_ns
ncclDevKernel_AllReduce_Sum_f16_RING_LL,3,12,0,360,600,480,0,600,480

"#]]
    );
    assert_data_eq!(
        folder.answer("late-arriver.db --section imbalance --to csv"),
        str![[r#"
name,ranks,least_calls,most_calls,mean_ns,most_ns,imbalance,rank,call_imbalance,call_rank
gemm,3,12,12,1360,1560,0.1470588235294117,GPU 1,0.1470588235294119,GPU 1

"#]]
    );
    let markdown = folder.answer("late-arriver.db --by rank --to markdown");
    for heading in ["### Ranks", "### Collectives", "### Kernels by how unevenly ranks share them"] {
        assert!(markdown.contains(heading), "{markdown}");
    }
    assert!(
        markdown.contains("\n- 12 steps are the ranges step: the slowest rank computes 14.71% longer"),
        "{markdown}"
    );
}

#[test]
fn ranks_are_compared_only_where_that_was_asked_for() {
    let folder = Folder::of(&["late-arriver"]);
    for line in ["late-arriver.db", "late-arriver.db --by gpu", "late-arriver.db --by rank --section kernels"]
    {
        assert_eq!(folder.json(line)["ranks"], Value::Null, "{line}");
    }
    assert!(folder.json("late-arriver.db --section imbalance")["ranks"].is_object());
    assert!(!folder.answer("late-arriver.db").contains("\nRanks\n"));
}

#[test]
fn the_slow_rank_is_named_from_the_files_of_all_ranks() {
    for nodes in [1, 2] {
        let (folder, files) = job(nodes);
        let report = folder.json(&format!("{files} --by rank"));
        JsonSchema::read(SCHEMA).describes(&report);
        let ranks = &report["ranks"];
        assert_eq!(ranks["straggler"], "rank 2");
        assert_eq!((&ranks["steps"]["steps"], &ranks["steps"]["name"]), (&40.into(), &"step".into()));
        let timed = ranks["ranks"][0]["timed_collectives"].as_i64().unwrap();
        assert_eq!(timed, if nodes == 1 { 40 } else { 0 }, "two machines have two clocks");
        for outlier in ranks["outliers"].as_array().unwrap() {
            assert_eq!(outlier["rank"], "rank 2", "{outlier}");
        }
        let text = folder.answer(&format!("{files} --by rank --section ranks"));
        assert!(
            text.contains("\nstraggler: rank 2; the other ranks waited for it (found without clocks)\n"),
            "{text}"
        );
        assert_eq!(text.contains("rtl-merge aligns them"), nodes == 2, "{text}");
        assert!(text.contains("\nrank 2 stands out: its own work takes "), "{text}");
        assert_eq!(
            text.matches("\nRanks\n").count(),
            1,
            "a single rank has no other to compare with: {text}"
        );
    }
}

#[test]
fn kernels_go_by_the_names_that_were_asked_for() {
    let (folder, files) = job(1);
    let report = folder.json(&format!("{files} --by rank --names short"));
    let names =
        report["ranks"]["collectives"].as_array().unwrap().iter().map(|group| group["kernel"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["ncclDevKernel_AllReduce_Sum_f16_RING_LL"]);
}

fn query(connection: &Connection, name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../sql/queries/{name}.sql"));
    let mut statement = connection.prepare(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map([], |row| {
        let cell = |(at, name): (usize, &String)| {
            let value = crate::trial::value(row.get_ref(at)?);
            Ok((name.clone(), value))
        };
        names.iter().enumerate().map(cell).collect::<Result<serde_json::Map<_, _>, _>>().map(Value::Object)
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// The rows of a native file `one`, for [`together`].
const NATIVE: &str = "SELECT gpuId, start, end, name.string, type.string, roctxId FROM one.rocpd_op
    JOIN one.rocpd_string AS name ON name.id = description_id
    JOIN one.rocpd_string AS type ON type.id = opType_id";

/// A trace in `path` that has the ops of these files, as ranks with a GPU each in their order; `rows` selects of file `one` its
/// kernels as gpuId, start, end, name, type and range. What is in `behind` is taken from the times of each file.
fn together(path: &Path, files: &[PathBuf], rows: &str, behind: &[i64]) -> Connection {
    let all = Connection::open(path).unwrap();
    all.execute_batch(
        "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
         CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
         INSERT INTO rocpd_metadata(tag, value) VALUES ('rtl_schema', '1'), ('schema_version', 'rtl-1');
         CREATE TABLE rocpd_op(
            id INTEGER PRIMARY KEY, gpuId, queueId, start, end, description_id, opType_id, roctxId, pid
         );
         CREATE TEMP TABLE row(gpuId, start, end, name, type, range);",
    )
    .unwrap();
    for (number, file) in files.iter().enumerate() {
        let (pid, late) = (100 + number, behind.get(number).copied().unwrap_or(0));
        all.execute("ATTACH ?1 AS one", [file.to_str().unwrap()]).unwrap();
        all.execute_batch(&format!(
            "DELETE FROM row;
             INSERT INTO row {rows};
             INSERT OR IGNORE INTO rocpd_string(string) SELECT name FROM row UNION SELECT type FROM row;
             INSERT INTO rocpd_metadata(tag, value)
             VALUES ('process', '{{\"pid\":{pid},\"rank\":{number},\"space\":{number},\"bootId\":\"b{number}\"}}');
             INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, pid)
             SELECT CASE WHEN gpuId < 0 THEN -1 ELSE {number} END, 0, start - {late}, end - {late}, name.id, type.id,
                range + {number} * 1000000, {pid}
             FROM row JOIN rocpd_string AS name ON name.string = row.name JOIN rocpd_string AS type ON type.string = row.type;"
        ))
        .unwrap();
        all.execute_batch("DETACH one").unwrap();
    }
    all
}

/// The objects are equal field by field; means may differ by a rounding.
#[track_caller]
fn equal(ours: &Value, theirs: &Value, fields: &[(&str, &str)]) {
    for (mine, yours) in fields {
        let (one, other) = (&ours[mine], &theirs[yours]);
        let close =
            one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(1.0));
        assert!(one == other || close, "{mine}: {one} and {other}\n{ours:#}\n{theirs:#}");
    }
}

/// Every figure of `ranks` is what the queries answer on the same rows.
fn same(ranks: &Value, sql: &Connection, clocks: bool) {
    let rows = |name: &str| ranks[name].as_array().unwrap();
    let waits = query(sql, "waits_by_gpu");
    for (rank, theirs) in rows("ranks").iter().zip(&waits) {
        equal(
            rank,
            theirs,
            &["collectives", "clock_free_wait_ns", "clock_free_transfer_ns", "clock_free_last"]
                .map(|name| (name, name)),
        );
        if clocks {
            equal(rank, theirs, &["wait_ns", "transfer_ns", "last", "delay_ns"].map(|name| (name, name)));
        }
    }
    let kernels = query(sql, "kernel_imbalance");
    assert_eq!(rows("kernels").len(), kernels.len());
    for (kernel, theirs) in rows("kernels").iter().zip(&kernels) {
        let fields = [
            "name",
            "ranks",
            "least_calls",
            "most_calls",
            "most_ns",
            "mean_ns",
            "imbalance",
            "call_imbalance",
        ];
        equal(kernel, theirs, &fields.map(|name| (name, name)));
    }
    if ranks["steps"]["method"] == "ranges" {
        let steps = query(sql, "step_imbalance");
        let theirs: Vec<&Value> = steps.iter().filter(|row| row["range"] == ranks["steps"]["name"]).collect();
        let ours = ranks["steps"]["ranks"].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len());
        for (rank, theirs) in ours.iter().zip(theirs) {
            equal(rank, theirs, &[("total_ns", "total_ns"), ("slowest", "slowest")]);
            equal(&ranks["steps"], theirs, &["steps", "slowest_ns", "mean_ns"].map(|name| (name, name)));
        }
    }
}

#[test]
fn sql_says_the_same_of_the_story() {
    for layout in [Layout::Native, Layout::Lite] {
        let folder = Folder::new();
        let path = folder.story("late-arriver", layout, "trace.db");
        same(&folder.json("trace.db --by rank")["ranks"], &Connection::open(path).unwrap(), true);
    }
}

#[test]
fn sql_says_the_same_of_generated_ranks() {
    for nodes in [1, 3] {
        let (folder, files) = job(nodes);
        let paths: Vec<_> = files.split(' ').map(|file| folder.path(file)).collect();
        let report = folder.json(&format!("{files} --by rank"));
        assert_eq!(report["ranks"]["ranks"].as_array().unwrap().len(), 6);
        same(&report["ranks"], &together(&folder.path("all.db"), &paths, NATIVE, &[]), nodes == 1);
    }
}

#[test]
fn sql_says_the_same_of_a_merged_trace_on_one_clock() {
    let folder = Folder::new();
    let job = Job { nodes: 3, ranks_per_node: 2, slow: Some((4, 1.1)), ..Job::default() };
    let files = job.generate(folder.0.path()).unwrap();
    let behind: Vec<i64> = (0..6).map(|rank| job.clock(rank / 2, 0) - job.clock(0, 0)).collect();
    let sql = together(&folder.path("job.db"), &files, NATIVE, &behind);
    // Ranks of several boots have no clock in common unless the trace states one.
    assert_eq!(folder.json("job.db --by rank")["ranks"]["ranks"][0]["wait_ns"], Value::Null);
    sql.execute("INSERT INTO rocpd_metadata(tag, value) VALUES ('clock', '{\"bootId\":\"b0\"}')", [])
        .unwrap();
    let ranks = &folder.json("job.db --by rank")["ranks"];
    assert_eq!(
        (&ranks["straggler"], &ranks["ranks"][0]["timed_collectives"]),
        (&"rank 4".into(), &40.into())
    );
    same(ranks, &sql, true);
}

#[test]
fn sql_says_the_same_of_two_ranks_of_rocprofv3() {
    let Some(shared) = support::shared() else { return };
    let files =
        ["rocprofv3-rank0.db", "rocprofv3-rank1.db"].map(|name| shared.join("traces/made").join(name));
    let folder = Folder::new();
    let run = Run::of(folder.program("--by rank --to json").args(&files));
    assert_eq!((run.code, run.messages.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&run.answer).unwrap();
    assert_eq!(report["ranks"]["ranks"].as_array().unwrap().len(), 2);
    let rows = "SELECT 0, start, end, name, 'KernelExecution', 0 FROM one.kernels";
    same(&report["ranks"], &together(&folder.path("all.db"), &files, rows, &[]), false);
}
