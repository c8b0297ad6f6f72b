//! Kernel time by category.

use rtl_analysis::kernels::GroupBy;
use rtl_report::Row;

use crate::section::{Block, Section};
use crate::tables::groups;

pub(crate) static CATEGORIES: Section = Section {
    name: "categories",
    help: "Kernel time by category",
    by_kernel: true,
    compute: |context, report| {
        report.sections.categories = Some(Row::list(context.analysis.categories().to_vec()));
    },
    blocks: |report, _| {
        let rows = report.sections.categories.iter();
        rows.map(|rows| Block::table("Categories", groups(rows, rows.len(), GroupBy::Category))).collect()
    },
    ..Section::DEFAULT
};
