//! How evenly ranks share kernels.

use cli::{Cell, Column, Table};
use rtl_analysis::ranks::KernelImbalance;

use super::ranks::SECTION_ABOUT_RANKS;
use crate::section::{Block, Section};
use crate::tables::{count, duration, mean_duration, share};

pub(crate) static IMBALANCE: Section = Section {
    name: "imbalance",
    help: "How evenly ranks share kernels [default: with `--by rank`]",
    blocks: |report, view| {
        let Some(ranks) = &report.sections.ranks else { return Vec::new() };
        let kernels = &ranks.kernels;
        vec![Block::top_table("Kernels by how unevenly ranks share them", kernels.len(), view.top, |shown| {
            imbalance(&kernels[..shown])
        })]
    },
    ..SECTION_ABOUT_RANKS
};

fn imbalance(kernels: &[KernelImbalance]) -> Table {
    Table::of(kernels)
        .column(Column::name("Kernel").field("name"), |kernel| Cell::text(&kernel.name))
        .column(Column::right("Ranks").field("ranks"), |kernel| count(kernel.ranks))
        .column(Column::right("Fewest calls").field("least_calls").optional(), |kernel| {
            count(kernel.least_calls)
        })
        .column(Column::right("Most calls").field("most_calls"), |kernel| count(kernel.most_calls))
        .column(Column::right("Mean").field("mean_ns"), |kernel| mean_duration(kernel.mean_ns))
        .column(Column::right("Most").field("most_ns"), |kernel| duration(kernel.most_ns))
        .column(Column::right("Max/mean - 1 (%)").field("imbalance"), |kernel| share(kernel.imbalance))
        .column(Column::left("Of").field("rank"), |kernel| Cell::text(&kernel.rank))
        .column(Column::right("A call (%)").field("call_imbalance"), |kernel| share(kernel.call_imbalance))
        .column(Column::left("of").field("call_rank"), |kernel| Cell::text(&kernel.call_rank))
        .build()
}
