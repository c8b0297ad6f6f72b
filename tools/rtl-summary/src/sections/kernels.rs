//! The main table: kernels, or dispatches grouped by another key.

use cli::report::Row;
use cli::units;
use rtl_analysis::Part;
use rtl_analysis::kernels::{self, Group, GroupBy};
use rtl_analysis::unfinished::{self, UnfinishedDispatch};

use crate::choices::label;
use crate::report::AllGroups;
use crate::section::{Block, Context, Printed, RenderOptions, Section};
use crate::tables::{self, Scales};

pub(crate) static KERNELS: Section = Section {
    name: "kernels",
    help: "The main table; its bars are the durations, from the shortest to the longest in 8 steps of equal ratio",
    printed: Printed::Always,
    parts: &[Part::Kernels],
    compute: |context, report| {
        let (mut kernels, keys) = rows(context, &mut report.groups, context.analysis.kernels());
        kernels.iter_mut().zip(keys).for_each(|(row, key)| row.key = key);
        if let Some(comparison) = &context.comparison {
            comparison.extend(&mut kernels);
        }
        report.sections.kernels = Some(kernels);
        if context.by != GroupBy::Kernel {
            report.sections.by = Some(label(context.by).to_owned());
            let groups = context.analysis.groups(context.by);
            report.sections.groups = Some(rows(context, &mut report.groups, &groups).0);
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
        let Some(AllGroups { count, scales }) = report.groups else { return Vec::new() };
        let table =
            Block::top_table(&heading, count, view.top, |_| tables::groups(rows, scales, by, view.is_csv));
        let unfinished = report.sections.unfinished_dispatches.iter().flatten();
        let remarks = unfinished.map(|dispatch| sentence(dispatch, report.origin(), view)).collect();
        vec![table, Block::Remarks(remarks)]
    },
    ..Section::DEFAULT
};

/// The rows of the groups to print, and the keys of those that are kernels with keys. Only these are copied and renamed,
/// because a trace may have a million kernels.
fn rows(
    context: &Context<'_>,
    all: &mut Option<AllGroups>,
    groups: &[Group],
) -> (Vec<Row>, Vec<Option<String>>) {
    let scales = Scales::for_rows(groups.iter().map(|group| &group.stats));
    *all = Some(AllGroups { count: groups.len(), scales });
    let mut sorted: Vec<&Group> = groups.iter().collect();
    kernels::sort(&mut sorted, context.sort);
    sorted.truncate(context.top);
    let key = |group: &&Group| context.keys.as_ref().and_then(|keys| keys.key(&group.label));
    let keys = sorted.iter().map(key).collect();
    let renamed = sorted.into_iter().map(|group| {
        let mut group = group.clone();
        context.names.rename_group(&mut group);
        group
    });
    (Row::list(renamed), keys)
}

fn sentence(dispatch: &UnfinishedDispatch, origin: i64, view: RenderOptions<'_>) -> String {
    let kernel = view.kernel(&dispatch.kernel);
    let since = match dispatch.waited_ns {
        Some(waited) => format!("in flight since {} before the end", units::duration(waited)),
        None => format!("in flight since {}", tables::moment(dispatch.start_ns, origin)),
    };
    format!("did not end: {kernel} on {}, {since}", dispatch.place)
}
