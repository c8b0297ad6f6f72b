//! What a trace is and how far to trust it, as pairs of a word and what there is to say.

use std::collections::BTreeMap;

use cli::units;
use rtl_analysis::overview::{GpuInfo, RowCounts, TraceOverview};
use rtl_analysis::region::Region;

/// From so many ops on, people expect a tool to estimate.
const MANY_OPS: u64 = 50_000_000;

/// The lines about a trace, or several together, in order of reading. `GPU ops` and `API calls` are always there and
/// begin with a plain number, because scripts for rocm-trace-lite's summary look for them.
pub(super) fn lines(about: &TraceOverview, region: &Region, together: bool) -> Vec<(&'static str, String)> {
    let recorder = if together { about.tool.clone() } else { recorder(about) };
    let mut lines = vec![("Recorder", recorder)];
    if let Some(processes) = processes(about) {
        lines.push(("Processes", processes));
    }
    if !about.gpus.is_empty() {
        lines.push(("GPUs", gpus(&about.gpus)));
    }
    if !together {
        // Several traces need not share a clock.
        lines.push(("Span", units::duration(about.span_ns)));
    }
    lines.push(("GPU ops", ops(&about.rows)));
    lines.push(("API calls", about.rows.api_calls.to_string()));
    lines.extend(others(&about.rows).map(|others| ("Also", others)));
    if region.filtered {
        let kept = format!(
            "{} of {} ops: {}",
            units::count(region.ops_after),
            units::count(region.ops_before),
            region.description.join(", ")
        );
        lines.push(("Region", kept));
    }
    if about.rows.dispatches + about.rows.copies >= MANY_OPS {
        lines.push(("Exactness", "every figure is exact, percentiles too".to_owned()));
    }
    lines.extend(about.notes.iter().map(|note| ("Note", note.clone())));
    lines
}

fn recorder(about: &TraceOverview) -> String {
    let mut text = about.tool.clone();
    if let Some(version) = &about.tool_version {
        text = format!("{text} {version}");
    }
    if let Some(mode) = &about.mode {
        text = format!("{text}, mode {mode}");
    }
    let stated = about.schema_version.as_deref().filter(|version| !about.dialect.ends_with(version));
    let schema = stated.map(|version| format!(" {version}")).unwrap_or_default();
    format!("{text} (layout {}{schema})", about.dialect)
}

fn processes(about: &TraceOverview) -> Option<String> {
    let mut words = Vec::new();
    match about.processes.as_slice() {
        [only] => {
            words.extend(only.pid.map(|pid| format!("pid {pid}")));
            words.extend(only.rank.map(|rank| format!("rank {rank}")));
            words.extend(only.host.as_ref().map(|host| format!("on {host}")));
            words.extend(only.command.as_ref().map(|command| format!("`{command}`")));
        }
        several => {
            words.push(several.len().to_string());
            if let [first, .., last] = about.ranks.as_slice() {
                words.push(format!("ranks {first} to {last}"));
            }
            match about.hosts.as_slice() {
                [] => {}
                [host] => words.push(format!("on {host}")),
                hosts => words.push(format!("on {} hosts", hosts.len())),
            }
        }
    }
    (!words.is_empty()).then(|| words.join(", "))
}

fn gpus(gpus: &[GpuInfo]) -> String {
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

/// Ascending numbers, three or more in a row by their ends: `0 to 7`, `0, 2, 3`.
fn list(numbers: &[i64]) -> String {
    let runs = numbers.chunk_by(|&number, &next| number.checked_add(1) == Some(next));
    let words = runs.flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(i64::to_string).collect(),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// `1 copy`, `2 copies`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", units::count(count), if count == 1 { one } else { many })
}

/// How many there are, and of which kinds.
fn ops(rows: &RowCounts) -> String {
    let kinds = kinds(&[
        (rows.dispatches, "dispatch", "dispatches"),
        (rows.copies, "copy", "copies"),
        (rows.barriers, "barrier", "barriers"),
    ]);
    let all = rows.dispatches + rows.copies + rows.barriers;
    match kinds.as_slice() {
        [] => all.to_string(),
        [only] => only.replace(',', ""),
        several => format!("{all} ({})", several.join(", ")),
    }
}

fn others(rows: &RowCounts) -> Option<String> {
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
