//! Ranks side by side: waits, steps and outliers.

use std::collections::HashMap;

use cli::{Cell, Column, Table, units};
use rtl_analysis::ranks::{Outlier, Quantity, Rank, Ranks, StepMethod, Steps};

use crate::report::Report;
use crate::section::{Block, Context, Printed, RenderOptions, Section};
use crate::tables::{count, duration, mean_duration, optional, round_duration};

pub(crate) static RANKS: Section = Section {
    name: "ranks",
    help: "Ranks side by side: waits, steps and outliers [default: with `--by rank`]",
    blocks: |report, view| {
        let Some(ranks) = &report.sections.ranks else { return Vec::new() };
        // A single rank has no other to compare with.
        match view.is_csv || ranks.ranks.len() > 1 {
            true => {
                vec![Block::table("Ranks", table(ranks)), Block::Remarks(remarks(ranks, view))]
            }
            false => Vec::new(),
        }
    },
    ..SECTION_ABOUT_RANKS
};

/// The declaration that `ranks`, `collectives`, `bandwidth` and `imbalance` share, because they print parts of one field.
pub(super) const SECTION_ABOUT_RANKS: Section = Section {
    printed: Printed::ByRank,
    select: |select| {
        (select.shapes, select.links, select.ranges, select.api) = (true, true, true, true);
    },
    compute,
    ..Section::DEFAULT
};

fn compute(context: &Context<'_>, report: &mut Report) {
    if report.sections.ranks.is_some() {
        return;
    }
    let mut ranks = context.analysis.ranks().clone();
    let rename = |name: &mut String| context.names.rename(name);
    ranks.collectives.iter_mut().for_each(|group| rename(&mut group.kernel));
    ranks.kernels.iter_mut().for_each(|kernel| rename(&mut kernel.name));
    ranks.outliers.iter_mut().filter_map(|outlier| outlier.kernel.as_mut()).for_each(rename);
    let steps = ranks.steps.iter_mut().filter(|steps| steps.method == StepMethod::Collectives);
    steps.for_each(|steps| rename(&mut steps.name));
    report.sections.ranks = Some(ranks);
}

/// Figures that need aligned clocks come before the others.
fn table(ranks: &Ranks) -> Table {
    let steps: HashMap<&str, _> =
        ranks.steps.iter().flat_map(|steps| &steps.ranks).map(|rank| (rank.name.as_str(), rank)).collect();
    let repeated = ranks.steps.as_ref().map_or(1, |steps| steps.steps.max(1)) as f64;
    let step = |rank: &Rank| steps.get(rank.name.as_str());
    let matched = |rank: &Rank, cell: Cell| if rank.collectives > 0 { cell } else { Cell::none() };
    Table::of(&ranks.ranks)
        .column(Column::name("Rank").field("name"), |rank| Cell::text(&rank.name))
        .column(Column::right("GPU").field("gpu").optional(), |rank| {
            Cell::number(rank.gpu.to_string(), rank.gpu)
        })
        .column(Column::right("Busy").field("busy_ns").optional(), |rank| duration(rank.busy_ns))
        .column(Column::right("Compute").field("compute_ns"), |rank| duration(rank.compute_ns))
        .column(Column::right("Step").field("mean_step_ns"), |rank| {
            optional(step(rank), |own| mean_duration(own.total_ns as f64 / repeated))
        })
        .column(Column::right("Slowest").field("slowest_steps"), |rank| {
            optional(step(rank), |own| count(own.slowest))
        })
        .column(Column::right("Coll.").field("collectives"), |rank| count(rank.collectives))
        .column(Column::right("Wait").field("wait_ns"), |rank| optional(rank.wait_ns, duration))
        .column(Column::right("Transfer").field("transfer_ns"), |rank| optional(rank.transfer_ns, duration))
        .column(Column::right("Last").field("last"), |rank| optional(rank.last, count))
        .column(Column::right("Held up others").field("delay_ns").optional(), |rank| {
            optional(rank.delay_ns, duration)
        })
        .column(Column::right("Without clocks: wait").field("clock_free_wait_ns"), |rank| {
            matched(rank, duration(rank.clock_free_wait_ns))
        })
        .column(Column::right("transfer").field("clock_free_transfer_ns").optional(), |rank| {
            matched(rank, duration(rank.clock_free_transfer_ns))
        })
        .column(Column::right("last").field("clock_free_last"), |rank| {
            matched(rank, count(rank.clock_free_last))
        })
        .build()
}

fn remarks(ranks: &Ranks, view: RenderOptions<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(steps) = &ranks.steps {
        lines.push(step_sentence(steps, &view.kernel(&steps.name)));
    }
    if let Some(straggler) = &ranks.straggler {
        lines.push(format!("straggler: {straggler}; the other ranks waited for it (found without clocks)"));
    }
    let mut matched = ranks.ranks.iter().filter(|rank| rank.collectives > 0);
    if ranks.lack_a_clock() {
        lines.push(
            "the clocks of ranks with common collectives are not aligned: rtl-merge aligns them".to_owned(),
        );
    } else if !matched.all(|rank| rank.timed_collectives == rank.collectives) {
        lines.push("figures that need clocks cover only ranks whose clocks are aligned".to_owned());
    }
    if ranks.unmatched_calls > 0 {
        let calls = units::count(ranks.unmatched_calls);
        lines.push(match ranks.unmatched_at_edges {
            0 => format!("collective calls without a match on other ranks: {calls}"),
            edges => format!(
                "collective calls without a match on other ranks: {calls}, {} of them where not all ranks were recorded",
                units::count(edges)
            ),
        });
    }
    if !ranks.missing.is_empty() {
        let missing = ranks.missing.join(", ");
        lines
            .push(format!("no verdict covers {missing}: none of its collectives match those of other ranks"));
    }
    lines.extend(ranks.outliers.iter().map(|outlier| outlier_sentence(outlier, view)));
    lines
}

fn step_sentence(steps: &Steps, name: &str) -> String {
    let count = units::count(steps.steps);
    let beyond = units::percent(steps.imbalance);
    let (what, who) = match steps.method {
        StepMethod::Ranges => ("are the ranges", "slowest rank computes"),
        StepMethod::Collectives => ("lie between calls of", "last rank takes"),
    };
    format!("{count} steps {what} {name}: the {who} {beyond} longer than the mean")
}

fn outlier_sentence(outlier: &Outlier, view: RenderOptions<'_>) -> String {
    let what = match outlier.quantity {
        Quantity::Compute => "its own work takes".to_owned(),
        Quantity::Steps => "a step takes".to_owned(),
        Quantity::Wait => "its wait in a collective is".to_owned(),
        Quantity::Kernel => {
            format!("a call of {} takes", view.kernel(outlier.kernel.as_deref().unwrap_or_default()))
        }
    };
    format!(
        "{} stands out: {what} {}, the median of ranks is {} ({} spreads away)",
        outlier.rank,
        round_duration(outlier.value_ns),
        round_duration(outlier.median_ns),
        units::fixed(outlier.spreads.abs(), 1)
    )
}
