//! Data sets: the same tables and figures as their traces, and no query writes into them.

use std::fs;
use std::path::{Path, PathBuf};

use dataset::{Provenance, Run};
use rtl_schema::{Select, Trace};
use serde_json::{Value, json};
use support::{Layout, Options};
use tables::Loaded;

use crate::{rows, run};

/// Recorded by torch.profiler on two vendors, RPD and rocprofv3.
const REAL: [&str; 4] = [
    "kineto/mi300-qwen.json.gz",
    "kineto/h200/gpt-sync.json.gz",
    "traces/real/rpd2-vllm-fp8.rpd.gz",
    "traces/real/rocprofv3-gfx950.json.gz",
];

/// Adds a trace to a data set as a run of this name.
fn add(set: &Path, name: &str, path: &Path) {
    add_as(set, &Run { job: "train", run: name, force: false }, path);
}

fn add_as(set: &Path, run: &Run<'_>, path: &Path) {
    let select = Select::everything();
    let loaded = Loaded::new(run.run, select, Trace::open(path).unwrap().read(&select).unwrap());
    dataset::add(set, run, &loaded, &Provenance { path, name: None, version: "1" }).unwrap();
}

/// Traces and a data set of them.
fn added(folder: &Path, seeds: &[u64]) -> (Vec<PathBuf>, PathBuf) {
    let set = folder.join("set");
    let trace = |seed: &u64| {
        let path = folder.join(format!("run{seed}.db"));
        let layout = if seed.is_multiple_of(2) { Layout::Native } else { Layout::Rpd3 };
        let options = Options {
            seed: *seed,
            ops: 3_000,
            api: true,
            ranges: true,
            layout,
            shuffle: true,
            ..Options::default()
        };
        support::generate(&options, &path).unwrap();
        add(&set, &format!("run{seed}"), &path);
        path
    };
    (seeds.iter().map(trace).collect(), set)
}

/// Columns that rtl numbers, and a table, which depend on the rows that a query reads where the recorder has no ids and no list of
/// devices.
const AS_READ: [&str; 3] = ["id", "range_id", "agents"];

/// Holds that every column of every table, but for the named ones, is that of the trace. Returns the number of rows; `None` without DuckDB.
fn assert_has_all(trace: &Path, set: &Path, but: &[&str]) -> Option<usize> {
    let mut all = 0;
    for table in dataset::stored().iter().map(|stored| stored.table).chain(tables::find("ops")) {
        if but.contains(&table.name) {
            continue;
        }
        let is_left_out = |name: &str| ["trace", "display_name"].contains(&name) || but.contains(&name);
        let columns = table.columns.iter().map(|column| column.name).filter(|name| !is_left_out(name));
        let columns: Vec<String> = columns.map(|name| format!("\"{name}\"")).collect();
        let query = format!("select {0} from {1} order by all", columns.join(", "), table.name);
        let expected = rows(&[trace], &query)?;
        let found = rows(&[set], &query)?;
        assert_eq!(found.len(), expected.len(), "{} of {}", table.name, trace.display());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{} of {}", table.name, trace.display());
        }
        all += found.len();
    }
    Some(all)
}

#[test]
fn every_column_of_a_data_set_has_the_values_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (traces, set) = added(folder.path(), &[1]);
    assert!(assert_has_all(&traces[0], &set, &[]).is_none_or(|rows| rows > 3_000));
}

#[test]
fn every_column_of_a_data_set_has_the_values_of_a_real_trace() {
    let Some(shared) = support::shared() else {
        return support::skip(support::Need::Shared, "no traces of real GPUs beside the checkout");
    };
    for name in REAL {
        let folder = tempfile::tempdir().unwrap();
        let (trace, set) = (shared.join(name), folder.path().join("set"));
        add(&set, "real", &trace);
        let but: &[&str] = if name.starts_with("kineto") { &AS_READ } else { &[] };
        assert!(assert_has_all(&trace, &set, but).is_none_or(|rows| rows > 100), "{name}");
    }
}

#[test]
fn runs_are_told_apart_and_the_aggregates_are_those_of_the_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (traces, set) = added(folder.path(), &[1, 2]);
    let by_name =
        "select name, count(*) as n, sum(duration) as t from dispatches group by name order by name";
    let traces: Vec<&Path> = traces.iter().map(PathBuf::as_path).collect();
    let Some(expected) = rows(&traces, by_name) else { return };
    assert_eq!(rows(&[&set], by_name).unwrap(), expected);
    let stats = "select name, sum(count)::bigint as n, sum(duration) as t from kernel_stats group by name order by name";
    assert_eq!(rows(&[&set], stats).unwrap(), expected);
    let runs = rows(&[&set], "select distinct job, run, trace from ops order by run").unwrap();
    let run = |name: &str| json!({ "job": "train", "run": name, "trace": name });
    assert_eq!(runs, [run("run1"), run("run2")]);
    let all = rows(&[&set], "select count(*) as n from ops").unwrap();
    let by_call = format!("select count(*) as n from dataset('{}')", set.display());
    assert_eq!(rows(&[&set], &by_call).unwrap(), all);
}

#[test]
fn a_run_without_a_manifest_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = added(folder.path(), &[1, 2]);
    fs::remove_file(set.join("job=train/run=run2/_manifest.json")).unwrap();
    let Some(runs) = rows(&[&set], "select distinct run from ops") else { return };
    assert_eq!(runs, [json!({ "run": "run1" })]);
}

/// Changes the manifest of a run.
fn change_manifest(set: &Path, run: &str, change: impl Fn(Value) -> String) {
    let manifest = set.join(format!("job=train/run={run}/_manifest.json"));
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, change(serde_json::from_str(&text).unwrap())).unwrap();
}

/// The manifest of an older layout.
fn without_widths(mut manifest: Value) -> String {
    for table in manifest["tables"].as_object_mut().unwrap().values_mut() {
        table.as_object_mut().unwrap().remove("width");
    }
    manifest.to_string()
}

#[test]
fn a_run_whose_manifest_cannot_be_read_is_an_error_where_it_is_needed() {
    type Change = fn(Value) -> String;
    let changes: [(Change, &str); 3] = [
        (without_widths, "a run in an older layout (its tables have no width)"),
        (|_| "{".to_owned(), "damaged run of a data set (EOF while parsing an object at line 1 column 1)"),
        (
            |manifest| manifest.to_string().replace("rtl-dataset/1", "rtl-dataset/2"),
            "a data set of the newer layout rtl-dataset/2",
        ),
    ];
    for (change, words) in changes {
        let folder = tempfile::tempdir().unwrap();
        let (_, set) = added(folder.path(), &[1, 2]);
        change_manifest(&set, "run2", change);
        let of = |query| run(&[set.to_str().unwrap(), query]);
        let Some(all) = of("select count(*) from dispatches") else { return };
        let place = set.join("job=train/run=run2/_manifest.json");
        let expected = format!("rtl-sql: error: {words}: {}\nhint: ", place.display());
        assert!(all.code == 3 && all.messages.starts_with(&expected), "{}", all.messages);
        assert_eq!(all.messages.lines().count(), 2, "{}", all.messages);
        let one = of("select count(*) from dispatches where run = 'run1'").unwrap();
        assert_eq!(one.code, 0, "{}", one.messages);
        assert_eq!(of(".traces").unwrap().answer, "run1\nrun2\n");
        // Alone it is an error, too.
        fs::remove_dir_all(set.join("job=train/run=run1")).unwrap();
        let alone = of("select count(*) from dispatches").unwrap();
        assert_eq!((alone.code, alone.messages), (3, all.messages));
    }
}

#[test]
fn a_run_in_an_older_layout_is_replaced_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let (traces, set) = added(folder.path(), &[1, 2]);
    change_manifest(&set, "run1", without_widths);
    change_manifest(&set, "run2", without_widths);
    for (run, trace) in ["run1", "run2"].into_iter().zip(&traces) {
        add_as(&set, &Run { job: "train", run, force: true }, trace);
    }
    let Some(runs) = rows(&[&set], "select count(distinct run) as n from dispatches") else { return };
    assert_eq!(runs, [json!({ "n": 2 })]);
}

const AGAIN: &str =
    "hint: add the run again: rtl-convert TRACE --to dataset -o DIR --job JOB --run RUN --force";

/// A data set of three runs, of which `run3` has lost its files of dispatches.
fn with_a_damaged_run(folder: &Path) -> PathBuf {
    let (_, set) = added(folder, &[1, 2, 3]);
    let dispatches = set.join("job=train/run=run3/kind=dispatches");
    fs::remove_dir_all(&dispatches).unwrap();
    fs::create_dir(&dispatches).unwrap();
    set
}

#[test]
fn a_run_that_lacks_a_file_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let set = with_a_damaged_run(folder.path());
    let Some(run) = run(&[set.to_str().unwrap(), "select count(*) from dispatches"]) else { return };
    assert_eq!(run.code, 3);
    let lines: Vec<&str> = run.messages.lines().collect();
    let place = set.join("job=train/run=run3/kind=dispatches");
    let expected =
        format!("rtl-sql: error: damaged run of a data set (0 of 1 files are there): {}", place.display());
    assert_eq!(lines[0], expected);
    assert_eq!(lines[1], AGAIN);
    assert_eq!(lines.len(), 2, "{}", run.messages);
}

#[test]
fn a_file_that_ends_early_is_damage_of_its_run() {
    for (bytes, why) in
        [(1000, "no magic bytes found at end of file"), (5, "file too small to be a parquet file")]
    {
        let folder = tempfile::tempdir().unwrap();
        let (_, set) = added(folder.path(), &[1]);
        let file = set.join("job=train/run=run1/kind=dispatches/bucket=-1/part-0.parquet");
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..bytes]).unwrap();
        let Some(run) = run(&[set.to_str().unwrap(), "select count(*) from dispatches"]) else { return };
        let error = format!("rtl-sql: error: damaged run of a data set ({why}): {}", file.display());
        assert_eq!((run.code, run.messages), (3, format!("{error}\n{AGAIN}\n")));
    }
}

#[test]
fn a_query_of_some_runs_opens_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let set = with_a_damaged_run(folder.path());
    let set = set.to_str().unwrap();
    for query in [
        "select count(*) from dispatches where run = 'run1'",
        "select count(*) from DISPATCHES as D where 'run1' = d.Run and duration > 0",
        "select count(*) from dispatches where trace in ('run1', 'run2') or false",
        "select count(*) from ops where run in ('run1', 'run2') and gpu = 0",
        "select count(*) from dispatches where run = $run",
        "select count(*) from dispatches where job = 'other'",
        "select count(*) from copies",
        "with totals as (select run, sum(duration) as t from dispatches where run in ('run1', 'run2') group by run) \
         select count(*) from totals where t > 0",
        "select count(*) from dispatches where run = 'run1' union all select count(*) from dispatches where run = 'run2'",
    ] {
        let Some(run) = run(&[set, "-p", "run=run1", "--", query]) else { return };
        // A condition with an alternative says nothing of runs.
        let expected = if query.ends_with("or false") { 3 } else { 0 };
        assert_eq!(run.code, expected, "{query}: {}", run.messages);
    }
}

#[test]
fn conditions_on_runs_leave_answers_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = added(folder.path(), &[1, 2, 4]);
    // `{}` stands for a condition on runs that is seen or hidden.
    for query in [
        "select count(*) as n from dispatches where {}",
        "select name as run, count(*) as n from dispatches where {} group by all",
        "select run, (select count(*) from dispatches) as n from dispatches where {} group by run",
        "select (select count(*) from ops where {}) as n, count(*) as m from kernel_stats where run = 'run2'",
        "with dispatches as (select * from dispatches where run <> 'run2') select count(*) as n from dispatches where {}",
        "with d as (select * from dispatches) select count(*) as n, (select count(*) from d) as m from d where {}",
        "select count(*) as n from dispatches d left join copies c on c.run = d.run and c.start = d.start where d.{}",
        "select count(*) as n from dispatches where exists (select 1 from copies where {}) and run > 'run1'",
        "select count(*) as n from (from dispatches select 'run1' as run, name) where {}",
        "select count(*) as n, count(distinct run) as m from dispatches where not ({})",
        "select count(*) as n from dispatches where {} or run = 'run4'",
        "select count(*) as n from dispatches where {} and run = 'run4'",
        "select count(*) as n from dispatches d(run, job, trace) where {}",
        "select (select count(*) from query('from dispatches')) as n, count(*) as m from dispatches where {}",
        "select (select count(*) from query_table('dispatches')) as n, count(*) as m from dispatches where {}",
        "create view d as from dispatches; create view e as from d where {}; select count(*) as n from d, (select 1 from e limit 1)",
        "create macro every() as (select count(*) from dispatches); select every() as n, count(*) as m from dispatches where {}",
        "prepare p as select count(*) as n, (select count(*) from dispatches) as m from dispatches where {}; execute p",
        "from (describe dispatches), (select count(*) as n from dispatches where {})",
        "from (pivot (select run, name from dispatches) on run using count(*)), (select count(*) as n from dispatches where {})",
    ] {
        let of = |condition: &str| {
            let query = format!("from ({}) order by all", query.replace("{}", condition));
            // A text with several statements is none that has brackets around it.
            let query = if query.contains(';') { query[6..query.len() - 14].to_owned() } else { query };
            rows(&[&set], &query)
        };
        let Some(seen) = of("run = 'run1'") else { return };
        assert_eq!(Some(seen), of("run || '' = 'run1'"), "{query}");
    }
}

#[test]
fn no_query_writes_into_a_data_set_or_reads_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let (_, set) = added(folder.path(), &[2]);
    fs::write(folder.path().join("secret.csv"), "a\n1\n").unwrap();
    let place = set.join("job=train/x.csv");
    let copy = format!("copy (select 1) to '{}'", place.display());
    let queries = [
        copy.clone(),
        format!("explain analyze {copy}"),
        format!("prepare p as {copy}; execute p"),
        format!("attach '{}' as d; select 1", set.join("d.db").display()),
        format!("select * from '{}'", folder.path().join("secret.csv").display()),
    ];
    for query in queries {
        let Some(run) = run(&[set.to_str().unwrap(), "--", &query]) else { return };
        assert_eq!(run.code, 2, "{query}: {}", run.messages);
    }
    let out = folder.path().join("out.parquet");
    let escape = format!("select 1) to '{}'; copy (select 2", place.display());
    let arguments = [set.to_str().unwrap(), "--to", "parquet", "-o", out.to_str().unwrap(), "--", &escape];
    assert_eq!(run(&arguments).unwrap().code, 2);
    assert!(!place.exists() && !set.join("d.db").exists());
}

#[test]
fn a_data_set_and_a_trace_are_not_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let (traces, set) = added(folder.path(), &[2]);
    let arguments = [traces[0].to_str().unwrap(), set.to_str().unwrap(), "select 1"];
    let Some(run) = run(&arguments) else { return };
    assert_eq!(run.code, 2);
    assert!(run.messages.contains("traces and data sets together"), "{}", run.messages);
}
