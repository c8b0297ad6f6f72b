//! The report of RTG's rpt.

use rtl_analysis::rpt::{Op, Region, Report, Resource, Row};

/// RTG's report shows this number of rows of a resource.
pub const TOP: usize = 20;

/// Three lines are about the region, and each resource has a table.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    match &report.region {
        Some(region) => {
            text.push_str(&region_lines(region));
            for resource in &report.resources {
                text.push_str(&table(resource, region.duration));
            }
        }
        None => text.push_str("no kernels, barriers or copies\n"),
    }
    text
}

fn region_lines(region: &Region) -> String {
    format!(
        "ROI_START: {}\nROI_STOP : {}\nROI_TIME={:8.3} secs\n",
        op_line(&region.first),
        op_line(&region.last),
        region.duration as f64 / 1e9
    )
}

/// The `+0.00` is the column of the critical time, which the ends of the region do not have.
fn op_line(op: &Op) -> String {
    format!(
        "{:>4} {:16.6}: {:>+10.2} {:<7} #{}.{}.{} {:8}: {:<30} ",
        op.resource,
        op.offset as f64 / 1e6,
        0.0,
        op.kind,
        op.agent,
        op.queue,
        op.position,
        op.id,
        op.name
    )
}

fn table(resource: &Resource, region: i64) -> String {
    let mut text = format!(
        "\nResource={} Showing {}/{} records  {:6.2}% busy\n{:>14} {:>11} {:>8} {:>8} {:>8} {:>8}  {:<30}\n",
        resource.name,
        resource.rows.len(),
        resource.row_count,
        percent(resource.busy, region),
        "Total(%)",
        "Time(us)",
        "Calls",
        "Avg(us)",
        "Min(us)",
        "Max(us)",
        "Name"
    );
    for row in &resource.rows {
        text.push_str(&row_line(row, region));
    }
    text
}

fn row_line(Row { name, times }: &Row, region: i64) -> String {
    let time = micros(times.total_ns());
    format!(
        "{:13.2}% {:10.1} {:8} {:8.1} {:8.1} {:8.1}  {:<30}\n",
        percent(times.total_ns(), region),
        time,
        times.calls,
        time / times.calls as f64,
        micros(times.min_ns),
        micros(times.max_ns),
        name
    )
}

fn micros(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn percent(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
