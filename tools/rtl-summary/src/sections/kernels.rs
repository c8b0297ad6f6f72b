//! The main table: kernels, or dispatches grouped by another key.

use cli::units;
use rtl_analysis::kernels::{self, GroupBy};
use rtl_analysis::unfinished::{self, UnfinishedDispatch};
use rtl_report::Row;

use crate::choices::label;
use crate::section::{Block, Section};
use crate::tables::{groups, kernel_name};

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
        let mut unfinished = unfinished::dispatches(context.analysis.tables());
        unfinished.iter_mut().for_each(|dispatch| context.names.rename(&mut dispatch.kernel));
        report.sections.unfinished_dispatches = Some(unfinished).filter(|unfinished| !unfinished.is_empty());
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
        let table = Block::top_table(&heading, rows.len(), view.top, |shown| groups(&rows[..shown], by));
        let unfinished = report.sections.unfinished_dispatches.iter().flatten();
        let remarks =
            unfinished.map(|dispatch| sentence(dispatch, report.origin(), view.full_names)).collect();
        vec![table, Block::Remarks(remarks)]
    },
    ..Section::DEFAULT
};

fn sentence(dispatch: &UnfinishedDispatch, origin: i64, full_names: bool) -> String {
    let kernel = kernel_name(&dispatch.kernel, full_names);
    let since = match dispatch.waited_ns {
        Some(waited) => format!("in flight since {} before the end", units::duration(waited)),
        None => format!("in flight since {}", units::duration(dispatch.start_ns.saturating_sub(origin))),
    };
    format!("did not end: {kernel} on {}, {since}", dispatch.place)
}
