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

/// One row for each kernel that several ranks ran.
fn imbalance(kernels: &[KernelImbalance]) -> Table {
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
            mean_duration(kernel.mean_ns),
            duration(kernel.most_ns),
            share(kernel.imbalance),
            Cell::text(&kernel.rank),
            share(kernel.call_imbalance),
            Cell::text(&kernel.call_rank),
        ]);
    }
    table
}
