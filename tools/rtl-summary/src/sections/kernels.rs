//! The main table: kernels, or dispatches grouped by another key.

use cli::units;
use rtl_analysis::kernels::{self, Group, GroupBy};
use rtl_analysis::unfinished::{self, UnfinishedDispatch};
use rtl_report::Row;

use crate::choices::label;
use crate::section::{Block, RenderOptions, Section};
use crate::tables;

pub(crate) static KERNELS: Section = Section {
    name: "kernels",
    help: "The main table",
    by_kernel: true,
    compute: |context, report| {
        let groups = |key| {
            let mut groups = context.analysis.groups(key);
            kernels::sort(&mut groups, context.sort);
            groups
        };
        let rows = |mut groups: Vec<Group>| {
            context.names.rename_groups(&mut groups);
            Row::list(groups)
        };
        let stored = groups(GroupBy::Kernel);
        let keys: Vec<_> = (stored.iter())
            .map(|group| context.keys.as_ref().and_then(|keys| keys.key(&group.label)))
            .collect();
        let kernels = report.sections.kernels.insert(rows(stored));
        kernels.iter_mut().zip(keys).for_each(|(row, key)| row.key = key);
        if let Some(comparison) = &context.comparison {
            comparison.extend(kernels);
        }
        if context.by != GroupBy::Kernel {
            report.sections.by = Some(label(context.by).to_owned());
            report.sections.groups = Some(rows(groups(context.by)));
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
        let table = Block::top_table(&heading, rows.len(), view.top, |shown| tables::groups(rows, shown, by));
        let unfinished = report.sections.unfinished_dispatches.iter().flatten();
        let remarks = unfinished.map(|dispatch| sentence(dispatch, report.origin(), view)).collect();
        vec![table, Block::Remarks(remarks)]
    },
    ..Section::DEFAULT
};

fn sentence(dispatch: &UnfinishedDispatch, origin: i64, view: RenderOptions<'_>) -> String {
    let kernel = view.kernel(&dispatch.kernel);
    let since = match dispatch.waited_ns {
        Some(waited) => format!("in flight since {} before the end", units::duration(waited)),
        None => format!("in flight since {}", units::duration(dispatch.start_ns.saturating_sub(origin))),
    };
    format!("did not end: {kernel} on {}, {since}", dispatch.place)
}
