//! Dataframes have the rows of the readers, and polars counts kernels as rtl-summary does.

#![expect(
    deprecated,
    reason = "the lazy engine, which replaces these functions, takes ten times as long to compile"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use polars::prelude::{DataFrame, DataType, QuantileMethod};
use rtl_frames::{Error, Trace};
use rtl_schema::Select;
use serde_json::Value;

/// The figures of each kernel: calls, then total, shortest, median, 95th and 99th percentile and longest in ns, then the mean.
type Kernels = BTreeMap<String, ([i64; 7], f64)>;

/// The figures of a grouped frame, in the column behind the one of the keys.
fn figures(groups: &DataFrame) -> Vec<i64> {
    let column = groups.columns()[1].cast(&DataType::Int64).unwrap();
    column.i64().unwrap().iter().map(|value| value.unwrap()).collect()
}

/// The kernels by polars.
fn by_polars(path: &Path) -> Kernels {
    let dispatches = Trace::open(path).unwrap().columns("dispatches", &["name", "duration"]).unwrap();
    let timed = dispatches.column("duration").unwrap().is_not_null();
    let dispatches = dispatches.filter(&timed).unwrap();
    let groups = || dispatches.group_by_stable(["name"]).unwrap().select(["duration"]);
    let percentile = |share| groups().quantile(share, QuantileMethod::Equiprobable).unwrap();
    let sums = groups().sum().unwrap();
    let columns = [
        figures(&groups().count().unwrap()),
        figures(&sums),
        figures(&groups().min().unwrap()),
        figures(&percentile(0.5)),
        figures(&percentile(0.95)),
        figures(&percentile(0.99)),
        figures(&groups().max().unwrap()),
    ];
    let means = groups().mean().unwrap();
    let (names, means) =
        (sums.column("name").unwrap().str().unwrap(), means.column("duration_mean").unwrap().f64().unwrap());
    let kernel = |row: usize| {
        // A source may have mangled names, which rtl-summary shows demangled.
        let name = names.get(row).unwrap_or("(no name)");
        let name = rtl_schema::demangle(name).unwrap_or_else(|| name.to_owned());
        (name, (columns.each_ref().map(|column| column[row]), means.get(row).unwrap()))
    };
    (0..sums.height()).map(kernel).collect()
}

/// The kernels by rtl-summary.
fn by_summary(path: &Path) -> Kernels {
    let words = ["rtl-summary", "--section=kernels", "--to=json"].map(Into::into);
    let line = words.into_iter().chain([path.as_os_str().to_owned()]).collect();
    let called = cli::call(line, rtl_summary::run);
    let document: Value = serde_json::from_str(&called.report).unwrap_or_else(|_| panic!("{called:?}"));
    let kernel = |kernel: &Value| {
        let fields = ["calls", "total_ns", "min_ns", "p50_ns", "p95_ns", "p99_ns", "max_ns"];
        let figures = fields.map(|field| kernel[field].as_i64().unwrap());
        (kernel["name"].as_str().unwrap().to_owned(), (figures, kernel["mean_ns"].as_f64().unwrap()))
    };
    document["kernels"].as_array().unwrap().iter().map(kernel).collect()
}

/// Compares the kernels of a trace; returns how many there are.
fn assert_kernels(path: &Path) -> usize {
    let (polars, summary) = (by_polars(path), by_summary(path));
    assert!(polars.keys().eq(summary.keys()), "{}", path.display());
    for (name, (figures, mean)) in &polars {
        let (expected, expected_mean) = &summary[name];
        assert_eq!(figures, expected, "{name} of {}", path.display());
        assert!(
            (mean - expected_mean).abs() <= 1e-9 * mean.abs(),
            "{name} of {}: {mean}, {expected_mean}",
            path.display()
        );
    }
    polars.len()
}

/// Every table has the rows of the reader, all columns, and the sum of the durations of kernels.
fn assert_tables(path: &Path) {
    let trace = Trace::open(path).unwrap();
    let tables = rtl_schema::Trace::open(path).unwrap().read(&Select::everything()).unwrap();
    for name in rtl_frames::tables() {
        let frame = trace.frame(name).unwrap();
        let expected = match name {
            "dispatches" => Some(tables.dispatches.len()),
            "copies" => Some(tables.copies.len()),
            "barriers" => Some(tables.barriers.len()),
            "api_calls" => Some(tables.api_calls.len()),
            "operators" => Some(tables.operators.len()),
            "ranges" => Some(tables.ranges.len()),
            "allocations" => Some(tables.allocations.len()),
            "counters" => Some(tables.counters.len()),
            _ => None,
        };
        assert!(expected.is_none_or(|rows| rows == frame.height()), "{name} of {}", path.display());
        let columns = tables::find(name).unwrap().columns.iter().map(|column| column.name);
        assert!(frame.get_column_names().into_iter().map(|name| name.as_str()).eq(columns), "{name}");
        assert!(frame.height() == 0 || frame.column("trace").unwrap().null_count() == 0, "{name}");
    }
    let dispatches = trace.frame("dispatches").unwrap();
    let (names, starts) = (
        dispatches.column("name").unwrap().str().unwrap(),
        dispatches.column("start").unwrap().i64().unwrap(),
    );
    let durations = dispatches.column("duration").unwrap().i64().unwrap();
    for row in 0..dispatches.height() {
        let expected = tables.dispatches.get(row);
        let name = tables.strings.get(expected.name);
        assert_eq!(
            names.get(row),
            (expected.name != rtl_schema::NameId::NONE).then(|| rtl_schema::identity(name))
        );
        assert_eq!(starts.get(row), Some(expected.start));
        assert_eq!(durations.get(row), expected.duration.filter(|&duration| duration >= 0));
    }
}

#[test]
fn fixtures_have_the_rows_of_their_readers_and_the_kernels_of_rtl_summary() {
    for name in support::fixture_names() {
        let path = support::fixture(&name);
        assert_tables(&path);
        assert_kernels(&path);
    }
}

#[test]
fn generated_traces_have_the_kernels_of_rtl_summary() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..4 {
        let path = folder.path().join(format!("{seed}.db"));
        let options = support::Options {
            ops: 50_000,
            seed,
            shuffle: seed == 2,
            api: true,
            ranges: true,
            ..Default::default()
        };
        support::generate(&options, &path).unwrap();
        assert_tables(&path);
        assert!(assert_kernels(&path) > 100);
    }
}

#[test]
fn real_traces_have_the_kernels_of_rtl_summary() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/real");
    let shared = support::shared()
        .into_iter()
        .flat_map(|shared| ["traces/real", "kineto"].map(|folder| shared.join(folder)));
    let mut compared = 0;
    for folder in shared.chain([fixtures]) {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file() && Trace::open(path).is_ok()) {
            compared += assert_kernels(path);
        }
    }
    assert!(compared > 20, "{compared} kernels");
}

#[test]
fn a_name_that_does_not_exist_is_named() {
    let trace = Trace::open(support::fixture("two-kernels")).unwrap();
    assert_eq!(trace.frame("kernels").unwrap_err().to_string(), "no such table: kernels");
    let error = trace.columns("dispatches", &["name", "length"]).unwrap_err();
    assert_eq!(error.to_string(), "no such column of dispatches: length");
    assert!(matches!(Trace::open("/nowhere.db"), Err(Error::Trace(_))));
}
