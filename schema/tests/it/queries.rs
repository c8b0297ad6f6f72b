//! Each query of sql/queries on stories whose answers are known.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;
use support::{Layout, fixture, fixture_in, fixture_names};

type Result<T = ()> = anyhow::Result<T>;

/// The answer of a query, one line for each row, values separated by `|`, without the columns after `columns`.
fn answer(query: &str, trace: &Path, columns: usize) -> Result<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/queries");
    let sql = std::fs::read_to_string(folder.join(format!("{query}.sql")))?;
    let connection = Connection::open(trace)?;
    let mut statement = connection.prepare(&sql)?;
    let columns = columns.min(statement.column_count());
    let rows = statement.query_map([], |row| {
        let values = (0..columns).map(|at| {
            Ok(match row.get::<_, Value>(at)? {
                Value::Integer(value) => value.to_string(),
                Value::Real(value) => value.to_string(),
                Value::Text(text) => text,
                Value::Null | Value::Blob(_) => "-".to_owned(),
            })
        });
        Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Queries that need a table which only files with calls have.
const ABOUT_CALLS: [&str; 3] = ["api_calls", "launch_latency", "queue_depth"];

#[test]
fn every_query_runs_on_every_story() -> Result {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sql/queries");
    for entry in std::fs::read_dir(folder)? {
        let file = entry?.file_name();
        let query = file.to_string_lossy().trim_end_matches(".sql").to_owned();
        if ABOUT_CALLS.contains(&query.as_str()) {
            continue;
        }
        for story in fixture_names() {
            answer(&query, &fixture(&story), 99)?;
            if query != "copy_bandwidth" {
                answer(&query, &fixture_in(&story, Layout::Lite), 99)?;
            }
        }
    }
    Ok(())
}

#[test]
fn percentiles_are_calls_that_happened() -> Result {
    let story = (1..=200).map(|n| {
        format!(
            "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {n}000, {n}000 + {n}, 'k.kd');"
        )
    });
    let trace = support::database(&story.collect::<String>(), Layout::Native)?;
    // Name, calls, total, min, p50, p95, p99, max, mean; the variance of 1..200 is 200 * 201 / 12.
    let expected = ["k|200|20100|1|100|190|198|200|100.5|3350"];
    assert_eq!(answer("kernels_by_name", &trace, 99)?, expected);
    Ok(())
}

#[test]
fn busy_and_idle_add_up_to_the_wall() -> Result {
    assert_eq!(answer("gpu_busy", &fixture("overlap-two-queues"), 99)?, ["0|6|1200|1300|100"]);
    assert_eq!(answer("gpu_busy", &fixture("gaps"), 99)?, ["0|9|9000|111194000|111185000"]);
    let eight = answer("gpu_busy", &fixture("eight-gpus"), 99)?;
    assert_eq!(eight[0], "0|2|400|400|0");
    assert_eq!(eight[7], "7|2|330|330|0");
    Ok(())
}

#[test]
fn collectives_stand_apart_from_kernels_and_copies() -> Result {
    let waits = answer("gpu_classes", &fixture("collective-waits"), 99)?;
    assert_eq!(waits, ["0|collective|10|17000360000", "0|kernel|9|450000"]);
    let copies = answer("gpu_classes", &fixture("copies-both-ways"), 99)?;
    assert_eq!(copies, ["0|copy|6|860", "0|kernel|1|100"]);
    Ok(())
}

#[test]
fn gpus_wait_for_the_one_that_comes_last() -> Result {
    for layout in [Layout::Native, Layout::Lite] {
        let trace = fixture_in("late-arriver", layout);
        let waits = answer("waits_by_gpu", &trace, 99)?;
        assert_eq!(
            waits,
            ["0|12|360|480|0|0|360|480|0", "1|12|0|480|12|480|0|480|12", "2|12|240|480|0|0|240|480|0"]
        );
        assert_eq!(answer("kernel_imbalance", &trace, 6)?, ["gemm|3|12|12|1560|1360"]);
        let steps =
            ["step|0|12|1200|0|1560|1360", "step|1|12|1560|12|1560|1360", "step|2|12|1320|0|1560|1360"];
        assert_eq!(answer("step_imbalance", &trace, 99)?, steps);
    }
    Ok(())
}

#[test]
fn each_gap_falls_into_its_bucket() -> Result {
    let expected = [
        "0|0|1|5000|5000",
        "0|10|1|10000|10000",
        "0|20|1|20000|20000",
        "0|50|1|50000|50000",
        "0|100|1|100000|100000",
        "0|1000|1|1000000|1000000",
        "0|10000|1|10000000|10000000",
        "0|100000|1|100000000|100000000",
    ];
    assert_eq!(answer("gaps", &fixture("gaps"), 99)?, expected);
    assert_eq!(answer("gaps", &fixture_in("gaps", Layout::Lite), 99)?, expected);
    Ok(())
}

#[test]
fn copies_of_unknown_size_take_time_and_no_bandwidth() -> Result {
    let trace = fixture("copies-both-ways");
    assert_eq!(
        answer("copy_bandwidth", &trace, 99)?,
        [
            "CopyDeviceToDevice|1|400|1|8000|400|20",
            "CopyHostToDevice|3|250|2|2000|200|10",
            "CopyDeviceToHost|1|200|1|4000|200|20",
            "FillBuffer|1|10|1|256|10|25.6",
        ]
    );
    assert_eq!(
        answer("copies_by_direction", &trace, 3)?,
        ["CopyDeviceToDevice|1|400", "CopyHostToDevice|3|250", "CopyDeviceToHost|1|200", "FillBuffer|1|10"]
    );
    Ok(())
}

#[test]
fn ops_count_for_their_innermost_range() -> Result {
    let expected =
        ["backward|0|1|450|1|400", "forward|0|1|400|2|300", "step|0|1|1000|1|50", "checkpoint|1|1|0|0|0"];
    assert_eq!(answer("ranges", &fixture("ranges-nested"), 99)?, expected);
    assert_eq!(answer("ranges", &fixture_in("ranges-nested", Layout::Lite), 99)?, expected);
    Ok(())
}

#[test]
fn bad_rows_are_counted() -> Result {
    let expected = [
        "no end|1",
        "ends before it starts|1",
        "no length|1",
        "no start|1",
        "no name|1",
        "dangling name|1",
        "duplicate|1",
        "one call holds most of its kernel's total|0",
    ];
    assert_eq!(answer("suspicious", &fixture("bad-rows"), 99)?, expected);
    assert_eq!(
        answer("suspicious", &fixture("collective-waits"), 99)?[7],
        "one call holds most of its kernel's total|1"
    );
    Ok(())
}

/// A launch whose moment is known, one tied by its call, a graph launch of two kernels, and a copy whose call failed to
/// return before it ran.
const LAUNCHES: &str = "
INSERT INTO rocpd_string(id, string) VALUES (20, 'hip'), (21, 'hipLaunchKernel'), (22, 'hipGraphLaunch'), (23, 'hipMemcpy');
INSERT INTO rocpd_api(pid, tid, start, duration, apiName_id, domain_id, correlationId, result) VALUES
    (NULL, 7, 0, 10, 21, 20, 1, NULL), (NULL, 7, 20, 20, 21, 20, 2, 1), (NULL, 7, 50, 10, 22, 20, 3, NULL),
    (NULL, 7, 200, 100, 23, 20, 4, 719);
INSERT INTO kernels(gpu, queue, start, end, name, correlation) VALUES
    (0, 0, 30, 50, 'gemm.kd', 1), (0, 0, 60, 70, 'gemm.kd', 2), (0, 0, 100, 120, 'node', 3), (0, 0, 130, 150, 'node', 3),
    (1, 0, 5, 6, 'alone', NULL);
INSERT INTO copies(gpu, queue, start, end, way, correlation) VALUES (0, 1, 250, 260, 'CopyDeviceToHost', 4);
UPDATE rocpd_op SET enqueued = 25 WHERE start = 30;
";

#[test]
fn launches_are_told_by_their_moments_and_their_calls() -> Result {
    let trace = support::database(LAUNCHES, Layout::Native)?;
    // Domain, name, calls, total, mean, min, p50, p95, p99, max, share, errors.
    assert_eq!(
        answer("api_calls", &trace, 99)?,
        [
            "hip|hipMemcpy|1|100|100|100|100|100|100|100|0.7142857142857143|1",
            "hip|hipLaunchKernel|2|30|15|10|10|20|20|20|0.21428571428571427|1",
            "hip|hipGraphLaunch|1|10|10|10|10|10|10|10|0.07142857142857142|0",
        ]
    );
    // Name, launches, total, min, p50, p95, p99, max: 30 - 25 and 60 - 20; 100 - 50 of the first node only; 250 - 200.
    assert_eq!(
        answer("launch_latency", &trace, 99)?,
        ["-|1|50|50|50|50|50|50", "node|1|50|50|50|50|50|50", "gemm|2|45|5|5|40|40|40"]
    );
    // GPU, wall, mean, max, idle, host, waiting. Pending: 30 to 50, 40 to 70, 60 to 120, 60 to 150, 250 to 260; 210 in 230 ns.
    // Idle: 50 to 60 and 70 to 100 and 120 to 130 with something pending, 150 to 250 with nothing.
    assert_eq!(answer("queue_depth", &trace, 99)?, ["0|230|0.9130434782608695|3|150|100|50"]);
    Ok(())
}
