//! API calls by function.

use cli::{Cell, Column, Table, units};
use rtl_analysis::api::{self, ApiGroup, UnfinishedCall};

use crate::section::{Block, Section};
use crate::tables::{Scales, count, moment, share, stat_columns};

pub(crate) static API: Section = Section {
    name: "api",
    help: "API calls",
    select: |select| select.api = true,
    compute: |context, report| {
        report.sections.api = Some(api::by_function(context.analysis.tables()));
        report.sections.unfinished_calls = Some(api::unfinished(context.analysis.tables()));
    },
    blocks: |report, view| {
        let table =
            report.sections.api.iter().map(|rows| {
                Block::top_table("API calls", rows.len(), view.top, |shown| functions(rows, shown))
            });
        let calls = report.sections.unfinished_calls.iter();
        table.chain(calls.map(|calls| Block::Remarks(unfinished(calls, report.origin())))).collect()
    },
    ..Section::DEFAULT
};

fn functions(all: &[ApiGroup], shown: usize) -> Table {
    let rows = &all[..shown];
    let scales = Scales::for_rows(all.iter().map(|row| &row.stats));
    let has = |test: fn(&ApiGroup) -> bool| all.iter().any(test);
    let table = Table::of(rows)
        .column(Column::name("Call").field("name"), |row| Cell::text(&row.name))
        .column_if(
            has(|row| row.domain.is_some()),
            Column::left("Domain").field("domain").optional_late(),
            |row| Cell::text(row.domain.as_deref().unwrap_or_default()),
        )
        .column(Column::right("Calls").field("calls"), |row| count(row.stats.calls))
        .column(Column::right(scales.total.head("Total")).field("total_ns"), |row| {
            scales.total.time(row.stats.total_ns)
        })
        .column(Column::right("%").field("share").optional_late(), |row| share(row.share))
        .column_if(has(|row| row.errors > 0), Column::right("Errors").field("errors"), |row| {
            count(row.errors)
        })
        .column_if(has(|row| row.unfinished > 0), Column::right("Unfinished").field("unfinished"), |row| {
            count(row.unfinished)
        });
    stat_columns(table, scales.call, |row| &row.stats).build()
}

fn unfinished(calls: &[UnfinishedCall], origin: i64) -> Vec<String> {
    let several = calls.iter().any(|call| call.pid != calls[0].pid);
    let sentence = |call: &UnfinishedCall| {
        let thread = call.tid.map(|tid| format!(" by thread {tid}")).unwrap_or_default();
        let process =
            call.pid.filter(|_| several).map(|pid| format!(" of process {pid}")).unwrap_or_default();
        let when = match call.waited_ns {
            Some(waited) => format!("{} before the end", units::duration(waited)),
            None => format!("at {}", moment(call.start_ns, origin)),
        };
        format!("did not return: {}, called{thread}{process} {when}", call.name)
    };
    calls.iter().map(sentence).collect()
}
