//! The origin of the trace and its losses.

use std::collections::BTreeMap;

use cli::units;
use rtl_analysis::overview::{GpuInfo, RowCounts, TraceOverview, overview};
use rtl_analysis::tracing_cost::TracingCost;

use crate::report::Report;
use crate::section::{Block, Printed, Section};
use crate::tables::counted;

/// From this number of ops on the report states that figures are exact, because users of other tools expect samples.
const MANY_OPS: u64 = 50_000_000;

pub(crate) static TRACE: Section = Section {
    name: "trace",
    help: "What the trace is and how far to trust it",
    printed: Printed::Always,
    has_table: false,
    select: |select| (select.ranges, select.api) = (true, true),
    compute: |context, report| report.input.info = Some(overview(context.analysis.tables())),
    blocks: |report, _| report.input.info.iter().map(|info| Block::Lines(lines(info, report))).collect(),
    ..Section::DEFAULT
};

/// Scripts for rocm-trace-lite's summary look for `GPU ops` and `API calls`, so these lines are always printed and
/// begin with a plain number.
fn lines(info: &TraceOverview, report: &Report) -> Vec<(&'static str, String)> {
    let recorder = if report.is_combined { info.tool.clone() } else { recorder(info) };
    let mut lines = vec![("Recorder", recorder)];
    lines.extend(processes(info).map(|processes| ("Processes", processes)));
    if !info.gpus.is_empty() {
        lines.push(("GPUs", gpus(&chosen(&info.gpus, &info.active.gpus))));
    }
    if !report.is_combined {
        // Several traces need not share a clock.
        lines.push(("Span", units::duration(info.span_ns)));
    }
    lines.push(("GPU ops", ops(&info.rows)));
    lines.push(("API calls", info.rows.api_calls.to_string()));
    lines.extend(other_rows(&info.rows).map(|others| ("Also", others)));
    let region = &report.input.region;
    if region.filtered {
        let (after, before) = (units::count(region.ops_after), units::count(region.ops_before));
        lines.push(("Region", format!("{after} of {before} ops: {}", region.description.join(", "))));
    }
    lines.extend(info.tracing_cost.as_ref().map(|cost| ("Tracing", tracing(cost))));
    if info.rows.dispatches + info.rows.copies >= MANY_OPS {
        lines.push(("Exactness", "every figure is exact, percentiles too".to_owned()));
    }
    lines.extend(info.notes.iter().map(|note| ("Note", note.clone())));
    lines
}

fn tracing(cost: &TracingCost) -> String {
    let launch = cost.launch_ns.map(|ns| format!(", {ns:.0} ns a launch")).unwrap_or_default();
    let hook = cost.hook_ns.map(|ns| format!(", {ns:.0} ns a hook of calls and ranges")).unwrap_or_default();
    format!("cost {:.1} % of CPU{launch}{hook}", cost.cpu_share * 100.0)
}

fn recorder(info: &TraceOverview) -> String {
    let mut text = info.tool.clone();
    if let Some(version) = &info.tool_version {
        text = format!("{text} {version}");
    }
    if let Some(mode) = &info.mode {
        text = format!("{text}, mode {mode}");
    }
    let stated = info.schema_version.as_deref().filter(|version| !info.dialect.ends_with(version));
    let schema = stated.map(|version| format!(" {version}")).unwrap_or_default();
    format!("{text} (layout {}{schema})", info.dialect)
}

fn processes(info: &TraceOverview) -> Option<String> {
    let mut words = Vec::new();
    match chosen(&info.processes, &info.active.processes).as_slice() {
        [only] => {
            words.extend(only.pid.map(|pid| format!("pid {pid}")));
            words.extend(only.rank.map(|rank| format!("rank {rank}")));
            words.extend(only.host.as_ref().map(|host| format!("on {host}")));
            words.extend(only.command.as_ref().map(|command| format!("`{command}`")));
        }
        several => {
            words.push(several.len().to_string());
            if let [first, .., last] = info.ranks.as_slice() {
                words.push(format!("ranks {first} to {last}"));
            }
            match info.hosts.as_slice() {
                [] => {}
                [host] => words.push(format!("on {host}")),
                hosts => words.push(format!("on {} hosts", hosts.len())),
            }
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// Leaves out what has no events, where anything has some.
fn chosen<'a, T>(all: &'a [T], active: &[usize]) -> Vec<&'a T> {
    let known: Vec<&T> = active.iter().filter_map(|&position| all.get(position)).collect();
    if known.is_empty() { all.iter().collect() } else { known }
}

fn gpus(gpus: &[&GpuInfo]) -> String {
    let mut kinds: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for gpu in gpus {
        let kind = match (&gpu.product, &gpu.target) {
            (Some(product), Some(target)) if !product.is_empty() => format!("{product} ({target})"),
            (Some(name), _) | (None, Some(name)) => name.clone(),
            (None, None) => String::new(),
        };
        kinds.entry(kind).or_default().push(gpu.gpu);
    }
    let kinds = kinds.into_iter().map(|(kind, numbers)| match kind.as_str() {
        "" => format!("GPU {}", list(&numbers)),
        kind => format!("GPU {}: {kind}", list(&numbers)),
    });
    kinds.collect::<Vec<_>>().join("; ")
}

/// Ascending numbers, with runs of three or more as ranges: `0 to 7`, `0, 2, 3`.
fn list(numbers: &[i64]) -> String {
    let runs = numbers.chunk_by(|&number, &next| number.checked_add(1) == Some(next));
    let words = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(i64::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn ops(rows: &RowCounts) -> String {
    let kinds = kinds(&[
        (rows.dispatches, "dispatch", "dispatches"),
        (rows.copies - rows.fills.min(rows.copies), "copy", "copies"),
        (rows.fills, "memset", "memsets"),
        (rows.barriers, "barrier", "barriers"),
    ]);
    let all = rows.dispatches + rows.copies + rows.barriers;
    match kinds.as_slice() {
        [] => all.to_string(),
        [only] => only.replace(',', ""),
        several => format!(
            "{all} ({})",
            several.iter().map(|kind| kind.replace(',', "")).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn other_rows(rows: &RowCounts) -> Option<String> {
    let kinds = kinds(&[
        (rows.ranges, "range", "ranges"),
        (rows.markers, "marker", "markers"),
        (rows.allocations, "allocation", "allocations"),
        (rows.counters, "counter value", "counter values"),
    ]);
    (!kinds.is_empty()).then(|| kinds.join(", "))
}

fn kinds(kinds: &[(u64, &str, &str)]) -> Vec<String> {
    let present = kinds.iter().filter(|(count, ..)| *count > 0);
    present.map(|(count, one, many)| counted(*count, one, many)).collect()
}
