//! Kernel time by category.

use cli::report::Row;
use rtl_analysis::Part;
use rtl_analysis::kernels::GroupBy;

use crate::section::{Block, Section};
use crate::tables::{Scales, groups};

pub(crate) static CATEGORIES: Section = Section {
    name: "categories",
    help: "Kernel time by category",
    parts: &[Part::Categories],
    compute: |context, report| {
        report.sections.categories = Some(Row::list(context.analysis.categories().to_vec()));
    },
    blocks: |report, _| {
        let table = |rows: &Vec<Row>| {
            let scales = Scales::for_rows(rows.iter().map(|row| &row.stats));
            Block::table("Categories", groups(rows, scales, GroupBy::Category, false))
        };
        report.sections.categories.iter().map(table).collect()
    },
    ..Section::DEFAULT
};
