//! From the host to the GPU: launch latency, queue depth, and why GPUs were idle.

use cli::units;
use cli::{Cell, Column, Table};
use rtl_analysis::Stats;
use rtl_analysis::launches::{Depth, Idle, Latency, Queues};

use super::about::counted;
use super::tables::{Scale, count, share, stat_cells, stat_columns};

/// What latency counts from, for a heading.
pub(super) fn counted_from(latency: &Latency) -> &'static str {
    match (latency.sources.enqueued, latency.sources.called) {
        (_, 0) => "from enqueueing to the start on the GPU",
        (0, _) => "from the start of the launching call to the start on the GPU",
        _ => "from enqueueing, or else the start of the launching call, to the start on the GPU",
    }
}

/// Launch latency: of everything first, then by kernel.
pub(super) fn latency(latency: &Latency, shown: usize) -> Table {
    let kernels = latency.kernels.iter().map(|kernel| (kernel.name.as_str(), &kernel.stats));
    let together = [("(all kernels)", &latency.all), ("(copies)", &latency.copies)];
    let together = together.into_iter().filter(|(_, stats)| stats.calls > 0);
    let rows: Vec<(&str, &Stats)> = together.chain(kernels.take(shown)).collect();
    let scale = Scale::of_calls(rows.iter().map(|(_, stats)| *stats));
    let mut columns = vec![Column::name("Launches of").field("name"), Column::right("Count").field("calls")];
    columns.extend(stat_columns(scale));
    let mut table = Table::new(columns);
    for (name, stats) in rows {
        let mut cells = vec![Cell::text(name), count(stats.calls)];
        cells.extend(stat_cells(stats, scale));
        table.row(cells);
    }
    table
}

/// What is in no figure of launch latency.
pub(super) fn left_out(latency: &Latency) -> Vec<String> {
    let reasons = [
        (
            latency.later,
            "not the first of its call (a graph launch)",
            "not the first of their call (graph launches)",
        ),
        (
            latency.negative,
            "starts before its launch: clocks disagree",
            "start before their launch: clocks disagree",
        ),
        (latency.sources.unknown, "with no known launch", "with no known launch"),
    ];
    let there = reasons.into_iter().filter(|(rows, ..)| *rows > 0);
    there
        .map(|(rows, one, many)| {
            let reason = if rows == 1 { one } else { many };
            format!("left out: {} {reason}", counted(rows, "op", "ops"))
        })
        .collect()
}

/// Queue depth of GPUs and queues.
pub(super) fn depth(rows: &[Depth]) -> Table {
    let mut table = Table::new([
        Column::left("Place").field("place"),
        Column::right("Ops").field("ops"),
        Column::right("Mean depth").field("mean"),
        Column::right("Max").field("max"),
        Column::right("Empty %").field("empty_share"),
        Column::right("2 or more %").field("at_least_2_share").optional_late(),
        Column::right("10 or more %").field("at_least_10_share").optional_late(),
        Column::right("100 or more %").field("at_least_100_share").optional_late(),
    ]);
    for row in rows {
        let [any, two, ten, hundred] = row.at_least;
        table.row([
            Cell::text(&row.label),
            count(row.sources.known() + row.sources.unknown),
            Cell::number(units::fixed(row.mean, 2), row.mean),
            count(row.max),
            share(1.0 - any),
            share(two),
            share(ten),
            share(hundred),
        ]);
    }
    table
}

/// Why each GPU was idle, and how far to trust that.
pub(super) fn reasons(queues: &Queues) -> Vec<String> {
    let mut lines: Vec<String> = queues.idle.iter().map(reason).collect();
    let gpus = || queues.depth.iter().filter(|depth| depth.queue.is_none());
    let unknown: u64 = gpus().map(|depth| depth.sources.unknown).sum();
    if unknown > 0 {
        lines.push(format!("{} with no known launch: less may be host-bound", counted(unknown, "op", "ops")));
    } else if gpus().any(|depth| depth.sources.called > 0) {
        lines.push("an op counts as enqueued when its call has returned: less may be host-bound".to_owned());
    }
    lines
}

/// `GPU 0: idle 3.200 s: 81 % host-bound (no work enqueued), 19 % waiting`.
fn reason(idle: &Idle) -> String {
    let percent = |part: f64| units::fixed(part * 100.0, 0);
    match idle.idle_ns {
        0 => format!("{}: never idle", idle.label),
        _ => format!(
            "{}: idle {}: {} % host-bound (no work enqueued), {} % waiting (enqueued, not started)",
            idle.label,
            units::duration(idle.idle_ns),
            percent(idle.host_share),
            percent(1.0 - idle.host_share),
        ),
    }
}
