//! The main table: kernels, or dispatches grouped by another key.

use rtl_analysis::kernels::{self, GroupBy};
use rtl_report::Row;

use crate::choices::label;
use crate::section::{Block, Section};
use crate::tables::groups;

pub(crate) static KERNELS: Section = Section {
    name: "kernels",
    help: "The main table",
    analysis: |needed| needed.kernels = true,
    compute: |context, report| {
        let Some(mut kernels) = context.analysis.kernels.take() else { return };
        context.names.rename_groups(&mut kernels);
        let mut rows = Row::list(kernels);
        if let Some(comparison) = &context.comparison {
            comparison.extend(&mut rows);
        }
        report.sections.kernels = Some(rows);
        if context.by != GroupBy::Kernel {
            let mut groups = kernels::by(context.tables, context.by, context.categories);
            kernels::sort(&mut groups, context.sort);
            context.names.rename_groups(&mut groups);
            report.sections.by = Some(label(context.by).to_owned());
            report.sections.groups = Some(Row::list(groups));
        }
    },
    blocks: |report, view| {
        let by = view.by;
        let (heading, rows, by) = match (&report.sections.groups, &report.sections.kernels) {
            (Some(rows), _) => {
                let key = if by == GroupBy::Gpu { "GPU" } else { label(by) };
                (format!("Kernel time by {key}"), rows, by)
            }
            (None, Some(rows)) => ("Kernels".to_owned(), rows, GroupBy::Kernel),
            (None, None) => return Vec::new(),
        };
        vec![Block::top_table(&heading, rows.len(), view.top, |shown| groups(&rows[..shown], by))]
    },
    ..Section::DEFAULT
};
