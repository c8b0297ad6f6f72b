//! The main table: kernels, or dispatches grouped by another key.

use rtl_analysis::kernels::{self, GroupBy};
use rtl_report::Row;

use crate::choices::label;
use crate::section::{Block, Section};
use crate::tables::groups;

pub(crate) static KERNELS: Section = Section {
    name: "kernels",
    help: "The main table",
    by_kernel: true,
    compute: |context, report| {
        let rows = |key| {
            let mut groups = context.analysis.groups(key);
            kernels::sort(&mut groups, context.sort);
            context.names.rename_groups(&mut groups);
            Row::list(groups)
        };
        let kernels = report.sections.kernels.insert(rows(GroupBy::Kernel));
        if let Some(comparison) = &context.comparison {
            comparison.extend(kernels);
        }
        if context.by != GroupBy::Kernel {
            report.sections.by = Some(label(context.by).to_owned());
            report.sections.groups = Some(rows(context.by));
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
