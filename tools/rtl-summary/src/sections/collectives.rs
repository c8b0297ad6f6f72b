//! Collectives: arrivals, waits and transfers of each group of ranks.

use cli::{Cell, Column, Table};
use rtl_analysis::ranks::Ranks;

use super::ranks::SECTION_ABOUT_RANKS;
use crate::section::{Block, Section};
use crate::tables::{count, duration, optional};

pub(crate) static COLLECTIVES: Section = Section {
    name: "collectives",
    help: "Collectives of groups of ranks: arrivals, waits and transfers [default: with `--by rank`]",
    blocks: |report, view| {
        let ranks = report.sections.ranks.iter();
        ranks
            .map(|ranks| Block::table("Collectives, totals of all calls", collectives(ranks, view.is_csv)))
            .collect()
    },
    ..SECTION_ABOUT_RANKS
};

/// A column without figures is there only `with_all`.
fn collectives(ranks: &Ranks, with_all: bool) -> Table {
    let all = ranks.ranks.len();
    let has_incomplete = with_all || ranks.collectives.iter().any(|group| group.incomplete > 0);
    Table::of(&ranks.collectives)
        .column(Column::name("Collective").field("kernel"), |group| Cell::text(&group.kernel))
        .column(Column::right("Ranks").field("ranks"), |group| match group.ranks.len() {
            members if members == all => Cell::number(format!("all {all}"), all),
            members => Cell::number(members.to_string(), members),
        })
        .column(Column::right("Count").field("collectives"), |group| count(group.collectives))
        .column_if(has_incomplete, Column::right("Incomplete").field("incomplete").optional(), |group| {
            count(group.incomplete)
        })
        .column(Column::right("Arrival spread").field("arrival_spread_ns"), |group| {
            optional(group.arrival_spread_ns, duration)
        })
        .column(Column::right("Wait").field("wait_ns"), |group| optional(group.wait_ns, duration))
        .column(Column::right("Transfer").field("transfer_ns"), |group| optional(group.transfer_ns, duration))
        .column(Column::right("Violated").field("violations").optional(), |group| count(group.violations))
        .column(Column::right("Without clocks: wait").field("clock_free_wait_ns"), |group| {
            duration(group.clock_free_wait_ns)
        })
        .column(Column::right("transfer").field("clock_free_transfer_ns"), |group| {
            duration(group.clock_free_transfer_ns)
        })
        .build()
}
