//! Tests of the queries of rocm-trace-lite's Python tools, as in its sources.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn the_queries_of_rocm_trace_lites_tools_find_their_columns() {
    let Some(process) = Process::new("own_signal") else { return };
    let outcome = process.arguments(&["30"]).gpus(2).well();
    let trace = assert_complete(&outcome);
    let database = trace.database();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    for table in ["rocpd_op", "rocpd_string", "rocpd_metadata"] {
        assert!(count(&format!("SELECT count(*) FROM {table}")) > 0, "{table}");
    }
    assert_eq!(count("SELECT count(*) FROM rocpd_metadata WHERE tag = 'pid'"), 1);
    // This is how its converter selects GPU work.
    assert_eq!(
        count(
            "SELECT count(*) FROM (SELECT o.gpuId, o.queueId, o.start, o.end, s.string, ot.string, o.completionSignal
             FROM rocpd_op o JOIN rocpd_string s ON o.description_id = s.id
             JOIN rocpd_string ot ON o.opType_id = ot.id
             WHERE o.end > o.start AND o.completionSignal LIKE 'hwq=0x% wg=%,%,% grid=%,%,%')"
        ),
        60
    );
    assert_eq!(count("SELECT count(*) FROM rocpd_op WHERE roctxId <> 0"), 0);
    assert_eq!(count("SELECT count(*) FROM rocpd_op o WHERE o.sequenceId IS NOT NULL"), 0);
}

#[test]
fn top_and_busy_say_what_was_executed() {
    let Some(process) = Process::new("own_signal") else { return };
    let process = process.arguments(&["30"]).gpus(2).setting("KFD_SIM_KERNEL_NS", "50000");
    let outcome = process.well();
    let database = assert_complete(&outcome).database();
    let mut top = database.prepare("SELECT Name, Calls, TotalNs, AvgNs, MinNs, MaxNs, Pct FROM top").unwrap();
    let names = top.query_map([], |row| {
        // The file has 20 dispatches of 50 us, whose times have an error of two ticks each.
        assert_eq!(row.get::<_, i64>(1)?, 20);
        assert!((row.get::<_, i64>(2)? - 1_000_000).abs() <= 20 * 40);
        assert!((row.get::<_, f64>(3)? - 50_000.0).abs() <= 40.0);
        assert!(row.get::<_, i64>(4)? <= row.get::<_, i64>(5)?);
        assert!((row.get::<_, f64>(6)? - 33.3).abs() < 1.0);
        row.get::<_, String>(0)
    });
    let mut names: Vec<String> = names.unwrap().map(Result::unwrap).collect();
    names.sort();
    assert_eq!(names, ["alpha", "beta", "gamma(float const*, float*)"]);

    let mut busy =
        database.prepare("SELECT gpuId, utilization_pct, ops, busy_ns, wall_ns FROM busy").unwrap();
    let gpus = busy.query_map([], |row| {
        let (ops, busy, wall): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
        assert_eq!(ops, 30);
        // On one queue kernels never overlap, so the union is their sum.
        assert!((busy - 1_500_000).abs() <= 30 * 40, "{busy}");
        assert!(wall >= busy);
        assert!((row.get::<_, f64>(1)? - 100.0 * busy as f64 / wall as f64).abs() < 0.01);
        row.get::<_, i64>(0)
    });
    assert_eq!(gpus.unwrap().map(Result::unwrap).collect::<Vec<i64>>(), [0, 1]);
}
