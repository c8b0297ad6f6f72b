//! AMD's TraceLens reads our JSON, where `scripts/fetch/tracelens` has fetched it.

use std::collections::BTreeMap;
use std::process::Command;

use rtl_schema::Tables;
use support::fetched;

use crate::rocprofv3::{Folder, read};

/// Launches and ns by the short name of the kernel, which is what TraceLens groups by.
fn by_kernel(tables: &Tables) -> BTreeMap<String, (u64, i64)> {
    let mut kernels: BTreeMap<String, (u64, i64)> = BTreeMap::new();
    for row in tables.dispatches.iter() {
        let name = rtl_schema::identity(tables.strings.get(row.name));
        let full = rtl_schema::demangle(name).unwrap_or_else(|| name.to_owned());
        let sum = kernels.entry(rtl_schema::shorten(&full).to_owned()).or_default();
        *sum = (sum.0 + 1, sum.1 + row.duration.unwrap());
    }
    kernels
}

#[test]
fn tracelens_reports_every_launch_with_its_time() {
    let Some(tracelens) = fetched("tracelens/171dd74721ca", "scripts/fetch/tracelens") else { return };
    let folder = Folder::new();
    let options = support::Options { ops: 2_000, ..support::Options::default() };
    support::generate(&options, &folder.path("in.db")).unwrap();
    folder.answer("in.db -o out_results.json");
    let packages = tracelens.join("packages");
    let paths = std::env::join_paths([&tracelens, &packages]).unwrap();
    let output = Command::new("python3")
        .args(["-m", "TraceLens.Reporting.generate_perf_report_rocprof", "--profile_json_path"])
        .arg(folder.path("out_results.json"))
        .arg("--output_csvs_dir")
        .arg(folder.path("report"))
        .env("PYTHONPATH", paths)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = std::fs::read_to_string(folder.path("report/kernel_summary.csv")).unwrap();
    let mut lines = summary.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|column| column.starts_with(name)).unwrap();
    let (name, count, total) = (column("name"), column("Count"), column("Total Kernel Time"));
    let reported: BTreeMap<String, (u64, i64)> = lines
        .map(|row| {
            // The column says ms and holds us.
            let ns = (row[total].parse::<f64>().unwrap() * 1000.0).round() as i64;
            (row[name].trim_matches('"').to_owned(), (row[count].parse().unwrap(), ns))
        })
        .collect();
    assert_eq!(reported, by_kernel(&read(&folder.path("in.db"))));
}
