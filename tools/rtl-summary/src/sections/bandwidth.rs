//! The bandwidth of collectives whose sizes the trace states.

use cli::{Cell, Column, Table, units};
use rtl_analysis::ranks::{Bandwidth, Ranks, Timing};

use super::ranks::SECTION_ABOUT_RANKS;
use crate::section::{Block, Section};
use crate::tables::{count, duration, optional};

pub(crate) static BANDWIDTH: Section = Section {
    name: "bandwidth",
    help: "Bandwidth of collectives by communicator and size [default: with `--by rank`]",
    blocks: |report, view| {
        let ranks = report.sections.ranks.iter();
        let ranks = ranks.filter(|ranks| view.is_csv || !ranks.bandwidth.is_empty());
        let blocks = |ranks: &Ranks| {
            [
                Block::table("Bandwidth of collectives", table(&ranks.bandwidth)),
                Block::Remarks(remarks(ranks)),
            ]
        };
        ranks.flat_map(blocks).collect()
    },
    ..SECTION_ABOUT_RANKS
};

fn table(rows: &[Bandwidth]) -> Table {
    Table::of(rows)
        .column(Column::left("Operation").field("operation"), |row| Cell::text(&row.operation))
        .column(Column::left("Group").field("communicator"), |row| Cell::text(&row.communicator))
        .column(Column::right("Ranks").field("members"), |row| optional(row.members, |all| count(all.into())))
        .column(Column::left("Numbers").field("ranks").optional(), |row| Cell::text(&row.ranks))
        .column(Column::right("Size from").field("from_bytes"), |row| {
            Cell::number(units::bytes(row.from_bytes), row.from_bytes)
        })
        .column(Column::left("Timing").field("timing"), |row| Cell::text(label(row.timing)))
        .column(Column::right("Count").field("count"), |row| count(row.count))
        .column(Column::right("Bytes").field("bytes").optional_late(), |row| {
            Cell::number(units::bytes(row.bytes), row.bytes)
        })
        .column(Column::right("Time").field("time_ns").optional_late(), |row| duration(row.time_ns))
        .column(Column::right("Algorithm (GB/s)").field("algorithm_bytes_per_second"), |row| {
            optional(row.algorithm_bytes_per_second, rate)
        })
        .column(Column::right("Bus (GB/s)").field("bus_bytes_per_second"), |row| {
            optional(row.bus_bytes_per_second, rate)
        })
        .build()
}

fn rate(bytes_per_second: f64) -> Cell {
    Cell::number(units::fixed(bytes_per_second / 1e9, 2), bytes_per_second)
}

fn label(timing: Timing) -> &'static str {
    match timing {
        Timing::Transfer => "transfer",
        Timing::Shortest => "shortest",
        Timing::Call => "call",
    }
}

/// The times that bandwidths come from, and the calls that they do not cover.
fn remarks(ranks: &Ranks) -> Vec<String> {
    let has = |timing| ranks.bandwidth.iter().any(|row| row.timing == timing);
    let mut lines = Vec::new();
    for (timing, meaning) in [
        (Timing::Transfer, "transfer: from the last arrival to the last end"),
        (
            Timing::Shortest,
            "shortest: the shortest call of all ranks, because no common clock of them is known",
        ),
        (Timing::Call, "call: the whole call, waiting included, because other ranks have no matching call"),
    ] {
        if has(timing) {
            lines.push(meaning.to_owned());
        }
    }
    if ranks.unsized_calls > 0 {
        lines.push(format!(
            "collective calls whose size the trace does not state: {}",
            units::count(ranks.unsized_calls)
        ));
    }
    lines
}
