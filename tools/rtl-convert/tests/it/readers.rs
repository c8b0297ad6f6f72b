//! Our files in the programs that people open them with, where `scripts/fetch/trace-readers` and `scripts/fetch/tracelens`
//! have fetched those.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use support::{Options, fetched};

use crate::drawing::{Folder, rows};

/// The output of a Python program, with packages of these folders.
fn python(arguments: &[&str], packages: &[&Path]) -> String {
    let mut command = Command::new("python3");
    command.args(arguments).env("PYTHONPATH", std::env::join_paths(packages).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A trace `in.db` with calls, ranges and copies; rtl-convert writes `out.NAME` of it.
fn converted(line: &str) -> Folder {
    let folder = Folder::new();
    let options = Options { ops: 2_000, api: true, ranges: true, ..Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    let (code, _, messages) = folder.run(line);
    assert_eq!((code, messages.as_str()), (0, ""));
    folder
}

/// From the first start of an op to the last end, in ns.
fn span(folder: &Folder) -> i64 {
    let tables = rows(&folder.path("in.db"));
    let dispatches = tables.dispatches.iter().map(|row| (row.start, row.duration.unwrap()));
    let copies = tables.copies.iter().map(|row| (row.start, row.duration.unwrap()));
    let ops: Vec<(i64, i64)> = dispatches.chain(copies).collect();
    let end = ops.iter().map(|(start, duration)| start + duration).max().unwrap();
    end - ops.iter().map(|(start, _)| *start).min().unwrap()
}

#[test]
fn hta_breaks_down_the_time_of_our_json() {
    let Some(hta) = fetched("readers/hta-0.5.0", "scripts/fetch/trace-readers") else { return };
    let folder = converted("in.db -o rank0.json");
    std::fs::create_dir(folder.path("traces")).unwrap();
    std::fs::rename(folder.path("rank0.json"), folder.path("traces/rank0.json")).unwrap();
    let program = "
import sys
from hta.trace_analysis import TraceAnalysis
analysis = TraceAnalysis(trace_dir=sys.argv[1])
print(int(analysis.get_temporal_breakdown(visualize=False)['kernel_time(us)'].sum()))
print(len(analysis.get_gpu_kernel_breakdown(visualize=False)[1]) > 0)
print(len(analysis.get_queue_length_summary()) > 0)
";
    let printed = python(&["-c", program, folder.path("traces").to_str().unwrap()], &[&hta]);
    let [time, kernels, queues] = printed.lines().collect::<Vec<_>>().try_into().unwrap();
    // It rounds both ends down to microseconds.
    assert!((time.parse::<i64>().unwrap() - span(&folder) / 1000).abs() <= 1, "{time} of {}", span(&folder));
    assert_eq!((kernels, queues), ("True", "True"), "it finds kernels, and their calls");
}

#[test]
fn hta_says_of_our_copy_of_a_trace_of_pytorch_what_it_says_of_the_original() {
    let Some(hta) = fetched("readers/hta-0.5.0", "scripts/fetch/trace-readers") else { return };
    let Some(shared) = support::shared() else { return };
    let program = "
import sys
from hta.trace_analysis import TraceAnalysis
def tables(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    sums = kernels[['name', 'sum (us)', 'max (us)', 'min (us)', 'mean (us)', 'kernel_type']]
    bandwidth = analysis.get_memory_bw_summary().round(6)
    idle = analysis.get_idle_time_breakdown(visualize=False)[0]
    tables = [analysis.get_temporal_breakdown(visualize=False), kinds, sums, bandwidth, idle]
    return [table.reset_index().to_csv(index=False) for table in tables]
original, copy = tables(sys.argv[1]), tables(sys.argv[2])
for original, copy in zip(original, copy): assert original == copy, original + copy
print(sum(len(table.splitlines()) for table in tables(sys.argv[2])))
";
    for name in ["gpt-healthy.json.gz", "gpt-sync.json.gz"] {
        let path = shared.join("kineto/h200").join(name);
        if !path.exists() {
            return support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let folder = Folder::new();
        let [original, copy] = ["original", "copy"].map(|name| folder.path(name));
        [&original, &copy].into_iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        std::fs::copy(path, original.join("rank0.json.gz")).unwrap();
        let line = "original/rank0.json.gz --names mangled -o copy/rank0.json.gz";
        assert_eq!(folder.run(line).0, 0, "{name}");
        let [original, copy] = [&original, &copy].map(|folder| folder.to_str().unwrap());
        let rows = python(&["-c", program, original, copy], &[&hta]);
        assert!(rows.trim().lines().last().unwrap().parse::<usize>().unwrap() > 20, "{name}: {rows}");
    }
}

#[test]
fn tracelens_reports_our_json_as_one_of_pytorch() {
    let Some(tracelens) = fetched("tracelens/171dd74721ca", "scripts/fetch/tracelens") else { return };
    let folder = converted("in.db -o out.json");
    let (input, report) = (folder.path("out.json"), folder.path("report"));
    let program = "
import sys
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch
generate_perf_report_pytorch(profile_json_path=sys.argv[1], output_csvs_dir=sys.argv[2])
";
    let [input, written] = [&input, &report].map(|path| path.to_str().unwrap());
    python(&["-c", program, input, written], &[&tracelens, &tracelens.join("packages")]);
    let timeline = std::fs::read_to_string(report.join("gpu_timeline.csv")).unwrap();
    let total = timeline.lines().find_map(|line| line.strip_prefix("total_time,")).unwrap();
    let total: f64 = total.split(',').next().unwrap().parse().unwrap();
    // In milliseconds, of kernels whose launching call it has found.
    assert!((total * 1e6 - span(&folder) as f64).abs() < 1_000.0, "{timeline}");
}

#[test]
fn tracelens_says_of_our_copy_of_a_trace_of_pytorch_what_it_says_of_the_original() {
    let Some(tracelens) = fetched("tracelens/171dd74721ca", "scripts/fetch/tracelens") else { return };
    let Some(shared) = support::shared() else { return };
    let program = "
import os, sys
import pandas
from TraceLens.Reporting.generate_perf_report_pytorch import generate_perf_report_pytorch
def tables(path, folder):
    generate_perf_report_pytorch(profile_json_path=path, output_csvs_dir=folder)
    return {name: pandas.read_csv(os.path.join(folder, name)) for name in sorted(os.listdir(folder))}
original, copy = tables(sys.argv[1], sys.argv[3]), tables(sys.argv[2], sys.argv[4])
assert original.keys() == copy.keys(), (original.keys(), copy.keys())
# The copy names processes and threads its own way, and events have other numbers and another order. Kernels are listed with times.
OWN = ('process_', 'thread_name', 'UID', 'kernel_details', 'trunc_kernel', 'Concrete Inputs_first')
is_number = lambda column: pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column)
for name, before in original.items():
    after = copy[name]
    columns = [column for column in before.columns if not any(own in column for own in OWN)]
    assert len(before) == len(after), name
    numbers = [column for column in columns if is_number(before[column])]
    texts = [column for column in columns if column not in numbers]
    order = texts + [column for column in numbers if 'count' in column]
    before, after = [table.sort_values(order, kind='stable', ignore_index=True) for table in (before, after)]
    for column in texts:
        assert before[column].astype(str).equals(after[column].astype(str)), (name, column)
    for column in numbers:
        # Doubles of the original's times are a nanosecond apart, ours are exact.
        assert before[column].isna().equals(after[column].isna()), (name, column)
        bound = before[column].abs() * 2e-3 + 1e-3
        assert not ((before[column] - after[column]).abs() > bound).any(), (name, column)
    print(name, len(before))
";
    for name in ["gpt-healthy.json.gz", "gpt-sync.json.gz"] {
        let path = shared.join("kineto/h200").join(name);
        if !path.exists() {
            return support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
        }
        let folder = Folder::new();
        std::fs::copy(path, folder.path("original.json.gz")).unwrap();
        assert_eq!(folder.run("original.json.gz --names mangled -o copy.json.gz").0, 0, "{name}");
        let paths = ["original.json.gz", "copy.json.gz", "original", "copy"].map(|name| folder.path(name));
        let [original, copy, one, other] = paths.each_ref().map(|path| path.to_str().unwrap());
        let packages = [tracelens.as_path(), &tracelens.join("packages")];
        let tables = python(&["-c", program, original, copy, one, other], &packages);
        assert!(tables.lines().filter(|line| line.contains(".csv ")).count() >= 10, "{name}: {tables}");
    }
}

#[test]
fn pandas_and_polars_of_2023_open_our_parquet() {
    let Some(parquet) = fetched("readers/parquet-2023", "scripts/fetch/trace-readers") else { return };
    let folder = converted("in.db -o out.parquet");
    let program = "
import sys
import pandas, polars
frame = pandas.read_parquet(sys.argv[1], engine='pyarrow')
print(len(frame), frame['name'].nunique() == polars.read_parquet(sys.argv[1])['name'].n_unique())
print(sorted({str(kind) for kind in polars.read_parquet(sys.argv[1]).dtypes}))
";
    let printed =
        python(&["-c", program, folder.path("out.parquet/ops.parquet").to_str().unwrap()], &[&parquet]);
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["2000 True", "['Boolean', 'Int64', 'String']"]);
}

/// The answer of each reader on the dispatches of a data set: rows, names and the sum of durations, by rank and run.
const READERS: &str = "
import glob, sys
import pandas, polars, pyarrow.dataset, pyarrow.parquet
folder = sys.argv[1]
files = sorted(glob.glob(folder + '/job=*/run=*/kind=dispatches/bucket=*/*.parquet'))
one = pyarrow.parquet.ParquetFile(files[0])
print(str(one.schema_arrow.field('start').type), str(one.schema_arrow.field('name').type))
arrow = pyarrow.dataset.dataset(files, format='parquet').to_table()
print(arrow.num_rows, len(set(arrow['name'].to_pylist())), sum(arrow['duration'].drop_null().to_pylist()))
frame = pandas.concat(pandas.read_parquet(file, engine='pyarrow') for file in files)
print(len(frame), frame['name'].nunique(), int(frame['duration'].sum()))
frame = polars.concat([polars.read_parquet(file, hive_partitioning=False) for file in files])
print(len(frame), frame['name'].n_unique(), frame['duration'].sum())
stats = pyarrow.dataset.dataset(sorted(glob.glob(folder + '/job=*/run=*/kind=kernel_stats/*/*.parquet'))).to_table()
print(sum(stats['count'].to_pylist()), len(set(stats['name'].to_pylist())), sum(stats['duration'].to_pylist()))
";

#[test]
fn arrow_pandas_and_polars_of_2023_and_of_today_read_a_data_set() {
    let folder = converted("in.db --to dataset -o set --run one");
    support::generate(&Options { seed: 2, ops: 2_000, ..Options::default() }, &folder.path("in.db")).unwrap();
    assert_eq!(folder.run("in.db --to dataset -o set --run two").0, 0);
    for packages in ["readers/parquet-2023", "readers/dataframes-2026"] {
        let Some(packages) = fetched(packages, "scripts/fetch/trace-readers") else { continue };
        let printed = python(&["-c", READERS, folder.path("set").to_str().unwrap()], &[&packages]);
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines[0], "int64 string");
        assert!(lines[1..].iter().all(|line| *line == lines[1]), "{printed}");
    }
}

#[test]
fn the_program_of_duckdb_counts_and_adds_up_a_data_set_as_the_trace_does() {
    let Some(judge) = fetched("readers/duckdb-cli-1.5.6", "scripts/fetch/trace-readers duckdb-cli-1.5.6")
    else {
        return;
    };
    let folder = converted("in.db --to dataset -o set --run one");
    let tables = rows(&folder.path("in.db"));
    let mut expected: BTreeMap<&str, [i64; 3]> = BTreeMap::new();
    for dispatch in tables.dispatches.iter() {
        let name = rtl_schema::identity(tables.strings.get(dispatch.name));
        let [count, timed, sum] = expected.entry(name).or_default();
        let duration = dispatch.duration.filter(|&duration| duration >= 0);
        (*count, *timed) = (*count + 1, *timed + i64::from(duration.is_some()));
        *sum += duration.unwrap_or_default();
    }
    for (table, numbers) in [
        (
            "kernel_stats",
            "sum(count)::bigint as calls, sum(timed)::bigint as timed_calls, sum(duration)::bigint as total",
        ),
        ("dispatches", "count(*) as calls, count(duration) as timed_calls, sum(duration)::bigint as total"),
    ] {
        let files = folder.path(&format!("set/job=*/run=*/kind={table}/*/*.parquet"));
        let query = format!(
            "select name, {numbers} from read_parquet('{}', hive_partitioning = true) where run = 'one' group by name;",
            files.display()
        );
        let output =
            Command::new(judge.join("duckdb_cli/duckdb")).args(["-json", "-c", &query]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Vec<BTreeMap<String, serde_json::Value>> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found.len(), expected.len(), "{table}");
        for row in found {
            let name = row["name"].as_str().unwrap();
            let numbers = ["calls", "timed_calls", "total"].map(|column| row[column].as_i64().unwrap());
            assert_eq!(numbers, expected[name], "{name} of {table}");
        }
    }
}
