//! Ranks beside each other: tables, and what is worth a sentence.

use std::collections::HashMap;

use cli::units;
use cli::{Cell, Column, Table};
use rtl_analysis::ranks::{CollectiveGroup, KernelImbalance, Outlier, Quantity, Ranks, StepMethod, Steps};

use super::sanity::name;
use super::tables::{count, duration, share};

/// One row for each rank. Figures that need clocks come before those that do not.
pub(super) fn ranks(ranks: &Ranks) -> Table {
    let mut table = Table::new([
        Column::name("Rank").field("name"),
        Column::right("GPU").field("gpu").optional(),
        Column::right("Busy").field("busy_ns").optional(),
        Column::right("Compute").field("compute_ns"),
        Column::right("Step").field("mean_step_ns"),
        Column::right("Slowest").field("slowest_steps"),
        Column::right("Coll.").field("collectives"),
        Column::right("Wait").field("wait_ns"),
        Column::right("Transfer").field("transfer_ns"),
        Column::right("Last").field("last"),
        Column::right("Held up others").field("delay_ns").optional(),
        Column::right("Without clocks: wait").field("clock_free_wait_ns"),
        Column::right("transfer").field("clock_free_transfer_ns").optional(),
        Column::right("last").field("clock_free_last"),
    ]);
    let steps: HashMap<&str, _> =
        ranks.steps.iter().flat_map(|steps| &steps.ranks).map(|rank| (rank.name.as_str(), rank)).collect();
    let repeated = ranks.steps.as_ref().map_or(1, |steps| steps.steps.max(1));
    for rank in &ranks.ranks {
        let own = steps.get(rank.name.as_str());
        let met = |cell: Cell| if rank.collectives > 0 { cell } else { Cell::none() };
        table.row([
            Cell::text(&rank.name),
            Cell::number(rank.gpu.to_string(), rank.gpu),
            duration(rank.busy_ns),
            duration(rank.compute_ns),
            own.map_or_else(Cell::none, |own| mean(own.total_ns as f64 / repeated as f64)),
            own.map_or_else(Cell::none, |own| count(own.slowest)),
            count(rank.collectives),
            rank.wait_ns.map_or_else(Cell::none, duration),
            rank.transfer_ns.map_or_else(Cell::none, duration),
            rank.last.map_or_else(Cell::none, count),
            rank.delay_ns.map_or_else(Cell::none, duration),
            met(duration(rank.clock_free_wait_ns)),
            met(duration(rank.clock_free_transfer_ns)),
            met(count(rank.clock_free_last)),
        ]);
    }
    table
}

/// One row for each group of ranks and kernel.
pub(super) fn collectives(ranks: &Ranks) -> Table {
    let mut table = Table::new([
        Column::name("Collective").field("kernel"),
        Column::right("Ranks").field("ranks"),
        Column::right("Count").field("collectives"),
        Column::right("Arrival spread").field("arrival_spread_ns"),
        Column::right("Wait").field("wait_ns"),
        Column::right("Transfer").field("transfer_ns"),
        Column::right("Violated").field("violations").optional(),
        Column::right("Without clocks: wait").field("clock_free_wait_ns"),
        Column::right("transfer").field("clock_free_transfer_ns"),
    ]);
    let all = ranks.ranks.len();
    for group in &ranks.collectives {
        let CollectiveGroup { kernel, ranks, collectives, violations, .. } = group;
        let who = if ranks.len() == all { format!("all {all}") } else { ranks.len().to_string() };
        table.row([
            Cell::text(kernel),
            Cell::number(who, ranks.len()),
            count(*collectives),
            group.arrival_spread_ns.map_or_else(Cell::none, duration),
            group.wait_ns.map_or_else(Cell::none, duration),
            group.transfer_ns.map_or_else(Cell::none, duration),
            count(*violations),
            duration(group.clock_free_wait_ns),
            duration(group.clock_free_transfer_ns),
        ]);
    }
    table
}

/// One row for each kernel that several ranks ran.
pub(super) fn imbalance(kernels: &[KernelImbalance]) -> Table {
    let mut table = Table::new([
        Column::name("Kernel").field("name"),
        Column::right("Ranks").field("ranks"),
        Column::right("Fewest calls").field("least_calls").optional(),
        Column::right("Most calls").field("most_calls"),
        Column::right("Mean").field("mean_ns"),
        Column::right("Most").field("most_ns"),
        Column::right("Max/mean - 1 (%)").field("imbalance"),
        Column::left("Of").field("rank"),
        Column::right("A call (%)").field("call_imbalance"),
        Column::left("of").field("call_rank"),
    ]);
    for kernel in kernels {
        table.row([
            Cell::text(&kernel.name),
            count(kernel.ranks),
            count(kernel.least_calls),
            count(kernel.most_calls),
            mean(kernel.mean_ns),
            duration(kernel.most_ns),
            share(kernel.imbalance),
            Cell::text(&kernel.rank),
            share(kernel.call_imbalance),
            Cell::text(&kernel.call_rank),
        ]);
    }
    table
}

fn mean(nanoseconds: f64) -> Cell {
    Cell::number(time(nanoseconds), nanoseconds)
}

fn time(nanoseconds: f64) -> String {
    units::duration(nanoseconds.round() as i64)
}

/// What the tables do not say.
pub(super) fn sentences(ranks: &Ranks, full_names: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(steps) = &ranks.steps {
        lines.push(told(steps, &name(&steps.name, full_names)));
    }
    if let Some(straggler) = &ranks.straggler {
        lines.push(format!("the others waited for {straggler}, told without clocks"));
    }
    let met = || ranks.ranks.iter().filter(|rank| rank.collectives > 0);
    if met().next().is_some() && met().all(|rank| rank.timed_collectives == 0) {
        lines.push("no ranks that met are known to share a clock: rtl-merge puts them on one".to_owned());
    } else if !met().all(|rank| rank.timed_collectives == rank.collectives) {
        lines.push("what needs clocks is only about ranks that are known to share one".to_owned());
    }
    if ranks.unmatched_calls > 0 {
        let calls = units::count(ranks.unmatched_calls);
        lines.push(format!("calls of collectives that no other rank's could be matched with: {calls}"));
    }
    lines.extend(ranks.outliers.iter().map(|outlier| stands_out(outlier, full_names)));
    lines
}

fn told(steps: &Steps, name: &str) -> String {
    let count = units::count(steps.steps);
    let beyond = units::percent(steps.imbalance);
    match steps.method {
        StepMethod::Ranges => {
            format!(
                "{count} steps are the ranges {name}: the slowest rank computes {beyond} longer than the mean"
            )
        }
        StepMethod::Collectives => {
            format!(
                "{count} steps lie between calls of {name}: the last rank takes {beyond} longer than the mean"
            )
        }
    }
}

fn stands_out(outlier: &Outlier, full_names: bool) -> String {
    let what = match outlier.quantity {
        Quantity::Compute => "its own work takes".to_owned(),
        Quantity::Steps => "a step takes".to_owned(),
        Quantity::Wait => "its wait in a collective is".to_owned(),
        Quantity::Kernel => {
            format!("a call of {} takes", name(outlier.kernel.as_deref().unwrap_or_default(), full_names))
        }
    };
    format!(
        "{} stands out: {what} {}, the median of ranks is {} ({} spreads away)",
        outlier.rank,
        time(outlier.value_ns),
        time(outlier.median_ns),
        units::fixed(outlier.spreads.abs(), 1)
    )
}
