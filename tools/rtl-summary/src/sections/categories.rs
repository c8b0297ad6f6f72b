//! Kernel time by category.

use rtl_analysis::kernels::GroupBy;
use rtl_report::Row;

use crate::section::{Block, Section};
use crate::tables::groups;

pub(crate) static CATEGORIES: Section = Section {
    name: "categories",
    help: "Kernel time by category",
    analysis: |needed| needed.categories = true,
    compute: |context, report| report.sections.categories = context.analysis.categories.take().map(Row::list),
    blocks: |report, _| {
        let rows = report.sections.categories.iter();
        rows.map(|rows| Block::table("Categories", groups(rows, GroupBy::Category))).collect()
    },
    ..Section::DEFAULT
};
