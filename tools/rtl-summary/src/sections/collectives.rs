//! Collectives: arrivals, waits and transfers of each group of ranks.

use cli::{Cell, Column, Table};
use rtl_analysis::ranks::{CollectiveGroup, Ranks};

use super::ranks::SECTION_ABOUT_RANKS;
use crate::section::{Block, Section};
use crate::tables::{count, duration, optional};

pub(crate) static COLLECTIVES: Section = Section {
    name: "collectives",
    help: "Collectives of groups of ranks: arrivals, waits and transfers [default: with `--by rank`]",
    blocks: |report, _| {
        let ranks = report.sections.ranks.iter();
        ranks.map(|ranks| Block::table("Collectives", collectives(ranks))).collect()
    },
    ..SECTION_ABOUT_RANKS
};

/// One row for each group of ranks and kernel.
fn collectives(ranks: &Ranks) -> Table {
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
        let members = if ranks.len() == all { format!("all {all}") } else { ranks.len().to_string() };
        table.row([
            Cell::text(kernel),
            Cell::number(members, ranks.len()),
            count(*collectives),
            optional(group.arrival_spread_ns, duration),
            optional(group.wait_ns, duration),
            optional(group.transfer_ns, duration),
            count(*violations),
            duration(group.clock_free_wait_ns),
            duration(group.clock_free_transfer_ns),
        ]);
    }
    table
}
