//! API calls by function.

use cli::{Cell, Column, Table, units};
use rtl_analysis::api::{ApiGroup, UnfinishedCall};

use crate::section::{Block, Section};
use crate::tables::{Scales, count, share, stat_cells, stat_columns};

pub(crate) static API: Section = Section {
    name: "api",
    help: "API calls",
    select: |select| select.api = true,
    analysis: |needed| needed.api = true,
    compute: |context, report| {
        report.sections.api = context.analysis.api.take();
        report.sections.unfinished_calls = context.analysis.unfinished_calls.take();
    },
    blocks: |report, view| {
        let table = report
            .sections
            .api
            .iter()
            .map(|rows| Block::top_table("API calls", rows.len(), view.top, |shown| api(rows, shown)));
        let calls = report.sections.unfinished_calls.iter();
        table.chain(calls.map(|calls| Block::Remarks(unfinished(calls)))).collect()
    },
    ..Section::DEFAULT
};

fn api(all: &[ApiGroup], shown: usize) -> Table {
    let rows = &all[..shown];
    let scales = Scales::of(rows.iter().map(|row| &row.stats));
    let domains = all.iter().any(|row| row.domain.is_some());
    let errors = all.iter().any(|row| row.errors > 0);
    let unfinished = all.iter().any(|row| row.unfinished > 0);
    let mut columns = vec![Column::name("Call").field("name")];
    columns.extend(domains.then(|| Column::left("Domain").field("domain").optional_late()));
    columns.extend([
        Column::right("Calls").field("calls"),
        Column::right(scales.total.head("Total")).field("total_ns"),
        Column::right("%").field("share").optional_late(),
    ]);
    columns.extend(errors.then(|| Column::right("Errors").field("errors")));
    columns.extend(unfinished.then(|| Column::right("Unfinished").field("unfinished")));
    columns.extend(stat_columns(scales.call));
    let mut table = Table::new(columns);
    for row in rows {
        let mut cells = vec![Cell::text(&row.name)];
        cells.extend(domains.then(|| Cell::text(row.domain.as_deref().unwrap_or_default())));
        cells.extend([count(row.stats.calls), scales.total.time(row.stats.total_ns), share(row.share)]);
        cells.extend(errors.then(|| count(row.errors)));
        cells.extend(unfinished.then(|| count(row.unfinished)));
        cells.extend(stat_cells(&row.stats, scales.call));
        table.row(cells);
    }
    table
}

/// Calls that had not returned, as sentences.
fn unfinished(calls: &[UnfinishedCall]) -> Vec<String> {
    let several = calls.iter().any(|call| call.pid != calls[0].pid);
    let sentence = |call: &UnfinishedCall| {
        let thread = call.tid.map(|tid| format!(" by thread {tid}")).unwrap_or_default();
        let process =
            call.pid.filter(|_| several).map(|pid| format!(" of process {pid}")).unwrap_or_default();
        let when = match call.waited_ns {
            Some(waited) => format!("{} before the end", units::duration(waited)),
            None => format!("at {} ns", call.start_ns),
        };
        format!("did not return: {}, called{thread}{process} {when}", call.name)
    };
    calls.iter().map(sentence).collect()
}
