//! Operators of a framework with the GPU time of what they launched.

use std::collections::HashMap;

use cli::{Cell, Column, Table, TableOf, units};
use rtl_analysis::operators::{self, OperatorGroup, OperatorReport};

use crate::section::{Block, Section};
use crate::tables::{Scale, count, duration, share};

pub(crate) static OPERATORS: Section = Section {
    name: "operators",
    help: "Operators of a framework with the GPU time they launched",
    select: |select| (select.operators, select.links, select.api) = (true, true, true),
    compute: |context, report| {
        report.sections.operators = operators::by_name(context.analysis.tables());
    },
    blocks: |report, view| {
        let Some(all) = &report.sections.operators else { return Vec::new() };
        if view.is_csv {
            return vec![Block::table("Operators", by_shapes(all))];
        }
        let groups = by_name(&all.groups);
        let table = |shown| groups_table(&groups[..shown], all.gpu_ns).build();
        vec![
            Block::top_table("Operators", groups.len(), view.top, table),
            Block::Remarks(outside(all).into_iter().collect()),
        ]
    },
    ..Section::DEFAULT
};

/// Merges the groups of one name, whatever their shapes, so that rows for people have different names.
fn by_name(all: &[OperatorGroup]) -> Vec<OperatorGroup> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut merged: Vec<OperatorGroup> = Vec::new();
    for group in all {
        let position = *positions.entry(&group.name).or_insert(merged.len());
        if let Some(known) = merged.get_mut(position) {
            known.add(group);
        } else {
            merged.push(OperatorGroup { shapes: None, ..group.clone() });
        }
    }
    OperatorGroup::sort(&mut merged);
    merged
}

fn by_shapes(all: &OperatorReport) -> Table {
    groups_table(&all.groups, all.gpu_ns)
        .column(Column::left("Input shapes").field("shapes"), |row| {
            Cell::text(row.shapes.as_deref().unwrap_or_default())
        })
        .build()
}

fn groups_table(rows: &[OperatorGroup], all_ns: i64) -> TableOf<&OperatorGroup> {
    let scale = Scale::for_totals(rows.iter().map(|row| row.gpu_ns));
    let has_backward = rows.iter().any(|row| row.backward_gpu_ns > 0);
    Table::of(rows)
        .column(Column::name("Operator").field("name"), |row| Cell::text(&row.name))
        .column(Column::right("Calls").field("calls"), |row| count(row.calls))
        .column(Column::right(scale.head("Own GPU")).field("own_gpu_ns"), |row| scale.time(row.own_gpu_ns))
        .column(Column::right("%").field("share"), |row| share(part(row.own_gpu_ns, all_ns)))
        .column(Column::right("GPU").field("gpu_ns"), |row| scale.time(row.gpu_ns))
        .column_if(has_backward, Column::right("Backward").field("backward_gpu_ns").optional_late(), |row| {
            scale.time(row.backward_gpu_ns)
        })
        .column(Column::right("Ops").field("ops").optional_late(), |row| count(row.ops))
        .column(Column::right("Host").field("host_ns").optional_late(), |row| duration(row.host_ns))
}

fn part(time: i64, all: i64) -> f64 {
    if all == 0 { 0.0 } else { time as f64 / all as f64 }
}

fn outside(all: &OperatorReport) -> Option<String> {
    let outside = all.gpu_ns.saturating_sub(all.in_operators_ns);
    let share = 100.0 * part(outside, all.gpu_ns);
    (share >= 0.1)
        .then(|| format!("{} % of the GPU time was launched outside of operators", units::fixed(share, 1)))
}
