//! Launch latency.

use cli::{Cell, Column, Table};
use rtl_analysis::launches::Latency;
use rtl_analysis::{Part, Stats};

use crate::section::{Block, Section};
use crate::tables::{Scale, count, counted, stat_columns};

pub(crate) static LAUNCHES: Section = Section {
    name: "launches",
    help: "Launch latency: from the launch on the host to the start on the GPU",
    select: |select| (select.links, select.api) = (true, true),
    parts: &[Part::Launches],
    compute: |context, report| {
        let mut latency = context.analysis.launches().map(|(latency, _)| latency.clone());
        let kernels = latency.iter_mut().flat_map(|latency| &mut latency.kernels);
        kernels.for_each(|kernel| context.names.rename(&mut kernel.name));
        report.sections.launches = latency;
    },
    blocks: |report, view| {
        let Some(all) = &report.sections.launches else { return Vec::new() };
        let heading = format!("Launch latency, {}", source(all));
        let table = Block::top_table(&heading, all.kernels.len(), view.top, |shown| latency(all, shown));
        vec![table, Block::Remarks(excluded(all))]
    },
    ..Section::DEFAULT
};

fn source(latency: &Latency) -> &'static str {
    match (latency.sources.enqueued, latency.sources.called) {
        (_, 0) => "from enqueueing to the start on the GPU",
        (0, _) => "from the start of the launching call to the start on the GPU",
        _ => "from enqueueing, or else the start of the launching call, to the start on the GPU",
    }
}

/// The table has all kernels, all copies, then each kernel.
fn latency(latency: &Latency, shown: usize) -> Table {
    let kernels = latency.kernels.iter().map(|kernel| (kernel.name.as_str(), &kernel.stats));
    let totals = [("(all kernels)", &latency.all), ("(copies)", &latency.copies)];
    let totals = totals.into_iter().filter(|(_, stats)| stats.calls > 0);
    let rows: Vec<(&str, &Stats)> = totals.chain(kernels.take(shown)).collect();
    let totals = [&latency.all, &latency.copies].into_iter().filter(|stats| stats.calls > 0);
    let scale = Scale::for_calls(totals.chain(latency.kernels.iter().map(|kernel| &kernel.stats)));
    let table = Table::of(rows)
        .column(Column::name("Launches of").field("name"), |(name, _)| Cell::text(*name))
        .column(Column::right("Count").field("calls"), |(_, stats)| count(stats.calls));
    stat_columns(table, scale, |(_, stats)| stats).build()
}

fn excluded(latency: &Latency) -> Vec<String> {
    let reasons = [
        (
            latency.later,
            "that is not the first of its call (a graph launch)",
            "that are not the first of their call (graph launches)",
        ),
        (
            latency.negative,
            "that starts before its launch (clocks disagree)",
            "that start before their launch (clocks disagree)",
        ),
        (latency.sources.unknown, "without a known launch", "without a known launch"),
    ];
    let reasons = reasons.into_iter().filter(|(rows, ..)| *rows > 0);
    let sentence = |(rows, one, many)| {
        format!("excluded: {} {}", counted(rows, "op", "ops"), if rows == 1 { one } else { many })
    };
    reasons.map(sentence).collect()
}
