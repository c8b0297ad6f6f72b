//! The styles of other tools, against what those tools print.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rtl_analysis::rocprofv3::summary;
use rtl_analysis::rpt::report;
use rtl_schema::table::{Agent, Barrier, Copy, Direction, Dispatch, Process, Track};
use rtl_schema::{Dialect, NameId, Select, Tables, Trace};
use rtl_summary::style::{rocprofv3, rpt};

#[test]
fn rpts_report_is_rtgs_own_byte_for_byte() {
    let Some(shared) = support::shared() else { return };
    let tables = Trace::open(shared.join("golden/rpt/in.txt")).unwrap().read(&Select::everything()).unwrap();
    let expected = std::fs::read_to_string(shared.join("golden/rpt/out.txt")).unwrap();
    assert_eq!(rpt::render(&report(&tables, Some(rpt::TOP))), expected);
}

#[test]
fn all_rows_of_rocprofv3s_table_are_equal() {
    let Some(shared) = support::shared() else { return };
    let trace = Trace::open(shared.join("traces/made/rocprofv3-rank0.db")).unwrap();
    assert_eq!(trace.dialect(), Dialect::Rocprofiler);
    let tables = trace.read(&Select::everything()).unwrap();
    let expected = std::fs::read_to_string(shared.join("golden/rocprofv3/summary.txt")).unwrap();
    assert_eq!(rocprofv3::render(&summary(&tables)), expected);
}

#[test]
fn rows_and_idle_ends_add_up_on_every_trace_at_hand() {
    let Some(shared) = support::shared() else { return };
    let traces = ["made", "real"].map(|folder| std::fs::read_dir(shared.join("traces").join(folder)));
    for file in traces.into_iter().flatten().flatten() {
        let path = file.unwrap().path();
        let Ok(trace) = Trace::open(&path) else { continue };
        let tables = trace.read(&Select::everything()).unwrap();
        let report = report(&tables, None);
        let region = report.region.as_ref().map_or(0, |region| region.duration);
        for resource in &report.resources {
            let time: i64 = resource.rows.iter().map(|row| row.times.total_ns()).sum();
            assert_eq!(resource.leading + time + resource.trailing, region, "{}", path.display());
            assert!(resource.busy <= region + (-resource.trailing).max(0), "{}", path.display());
        }
        let summary = summary(&tables);
        assert_eq!(
            summary.rows.iter().map(|row| row.times.total_ns()).sum::<i64>(),
            summary.total,
            "{}",
            path.display()
        );
    }
}

/// GPU 2, queue 1: `gemm` for 3 µs, 5 µs idle, a barrier without a name for 2 µs; a copy of 4 KiB beside
/// the gemm; a last kernel that ends the region at 20 µs.
fn story() -> Tables {
    let mut tables = Tables::default();
    tables.processes.push(Process::default());
    tables.agents.push(Agent { number: 2, ..Agent::default() });
    let track = tables.tracks.intern(Track { queue: 1, ..Track::default() });
    let [gemm, last, copy] = ["gemm", "last", "DeviceToHost"].map(|name| tables.strings.intern(name));
    for (id, name, start, duration) in [(1, gemm, 100_000, 3_000), (4, last, 115_000, 5_000)] {
        let duration = Some(duration);
        tables.dispatches.push(Dispatch { id, name, track, start, duration, ..Dispatch::default() });
    }
    let duration = Some(2_000);
    tables.barriers.push(Barrier {
        id: 3,
        name: NameId::NONE,
        track,
        start: 108_000,
        duration,
        correlation: 0,
        ..Barrier::default()
    });
    tables.copies.push(Copy {
        id: 2,
        name: copy,
        track,
        start: 101_000,
        duration: Some(1_000),
        direction: Direction::DeviceToHost,
        bytes: Some(4096),
        ..Copy::default()
    });
    tables
}

#[test]
fn rpts_report_reads_like_rtgs_for_any_trace() {
    let expected = "\
ROI_START: GPU2         0.000000:      +0.00 kernel  #2.1.0        1: gemm                           
ROI_STOP : GPU2         0.015000:      +0.00 kernel  #2.1.3        4: last                           
ROI_TIME=   0.000 secs

Resource=GPU2 Showing 3/3 records   25.00% busy
      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name                          
        25.00%        5.0        1      5.0      5.0      5.0  gap <10us                     
        15.00%        3.0        1      3.0      3.0      3.0  gemm                          
        10.00%        2.0        1      2.0      2.0      2.0                                

Resource=DATA Showing 1/1 records    5.00% busy
      Total(%)    Time(us)    Calls  Avg(us)  Min(us)  Max(us)  Name                          
         5.00%        1.0        1      1.0      1.0      1.0  DeviceToHost_4096_bytes       
";
    assert_eq!(rpt::render(&report(&story(), Some(rpt::TOP))), expected);
}

#[test]
fn a_trace_without_ops_says_so() {
    assert_eq!(rpt::render(&report(&Tables::default(), Some(rpt::TOP))), "no kernels, barriers or copies\n");
    assert_eq!(rocprofv3::render(&summary(&Tables::default())), "");
}

#[test]
fn rocprofv3s_table_reads_like_rocprofv3s_for_any_trace() {
    let text = rocprofv3::render(&summary(&story()));
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.contains("DURATION"))
        .map(|line| line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    assert!(text.contains("DURATION (nsec)"));
    assert_eq!(
        rows[0],
        ["last", "KERNEL_DISPATCH", "1", "5000", "5.000e+03", "55.555556", "5000", "5000", "0.000e+00"]
    );
    assert_eq!(rows[2][..2], ["MEMORY_COPY_DEVICE_TO_HOST", "MEMORY_COPY"]);
}
