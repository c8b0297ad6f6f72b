//! What text, Markdown and CSV have in common: tables with a text for people and a value for machines.

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::compare::{Method, Side};
use rtl_analysis::decomposition::WallTerms;

use super::Answer;
use crate::comparison::{Change, Row, Total};
use crate::gates::{Outcome, signed};

/// The kernels.
pub(super) fn kernels(answer: &Answer<'_>, shown: usize) -> Table {
    let rows = &answer.comparison.rows;
    let rows = &rows[..shown.min(rows.len())];
    let launches = rows.iter().any(|row| row.launch.is_some());
    let waits = answer.comparison.rows.iter().any(|row| row.waits.is_some());
    let mut columns = vec![Column::name("Kernel").field("name")];
    columns.extend(launches.then(|| Column::left("Launch").field("launch")));
    columns.extend([
        Column::left("Status").field("status"),
        Column::right("Change").field("ratio"),
        Column::left("95% interval").field("interval"),
        Column::right("Would find").field("detectable"),
        Column::right("Share").field("share"),
        Column::right("Calls").field("calls"),
        Column::right("Before").field("baseline_trimmed_mean_ns"),
        Column::right("After").field("candidate_trimmed_mean_ns"),
    ]);
    columns.extend(waits.then(|| Column::right("Wait before").field("baseline_mean_wait_ns")));
    columns.extend(waits.then(|| Column::right("Wait after").field("candidate_mean_wait_ns")));
    columns.extend([
        Column::right("Median").field("median_ratio").optional(),
        Column::right("p95").field("p95_ratio").optional(),
        Column::right("Min").field("min_ratio").optional(),
        Column::right("p").field("p").optional(),
        Column::right("q").field("q").optional(),
    ]);
    let mut table = Table::new(columns);
    for row in rows {
        let judgement = &row.judgement;
        let [before, after] = row.sides();
        let both = before.calls > 0 && after.calls > 0;
        let mut cells = vec![Cell::text(name(row))];
        cells.extend(launches.then(|| Cell::text(row.launch.as_deref().unwrap_or_default())));
        cells.push(Cell::text(row.change.label()));
        cells.push(if both { change(judgement.ratio) } else { Cell::none() });
        cells.push(judgement.interval.map_or_else(Cell::none, |interval| {
            let text =
                format!("{} .. {}", signed(interval.low - 1.0, false), signed(interval.high - 1.0, false));
            Cell::number(text, format!("{} {}", interval.low, interval.high))
        }));
        cells.push(
            judgement.detectable.map_or_else(Cell::none, |least| Cell::number(signed(least, false), least)),
        );
        cells.push(Cell::number(units::percent(row.share), row.share));
        cells.push(calls(before, after));
        cells.extend([time(before), time(after)]);
        let wait = |side: usize| row.waits.map_or_else(Cell::none, |waits| mean(waits[side].mean_wait_ns()));
        cells.extend(waits.then(|| [wait(0), wait(1)]).into_iter().flatten());
        for figure in [|side: &Side| side.median_ns, |side: &Side| side.p95_ns, |side: &Side| side.min_ns] {
            cells.push(ratio(figure(before), figure(after)));
        }
        for chance in [judgement.p, judgement.q] {
            let known = both && judgement.method != Method::None;
            cells.push(if known { Cell::number(units::fixed(chance, 3), chance) } else { Cell::none() });
        }
        table.row(cells);
    }
    table
}

/// The name, and the former one with how sure that is.
fn name(row: &Row) -> String {
    match (&row.former, row.pairing) {
        (Some(former), Some((method, score))) => {
            format!("{} (was {former}: {} {})", row.name, method.label(), units::fixed(score, 2))
        }
        _ => row.name.clone(),
    }
}

fn change(ratio: f64) -> Cell {
    Cell::number(signed(ratio - 1.0, false), ratio)
}

/// The change of one figure; none where it was 0.
fn ratio(before: i64, after: i64) -> Cell {
    if before <= 0 || after <= 0 { Cell::none() } else { change(after as f64 / before as f64) }
}

/// Calls of a run.
fn calls(before: &Side, after: &Side) -> Cell {
    let count = |side: &Side| units::count(side.calls / side.runs.max(1) as u64);
    let (one, other) = (count(before), count(after));
    let text = if one == other { one } else { format!("{one} > {other}") };
    Cell::number(text, format!("{} {}", before.calls, after.calls))
}

fn time(side: &Side) -> Cell {
    if side.calls == 0 {
        return Cell::none();
    }
    mean(side.trimmed_mean_ns)
}

fn mean(nanoseconds: f64) -> Cell {
    Cell::number(units::duration(nanoseconds.round() as i64), nanoseconds)
}

/// The gates.
pub(super) fn gates(answer: &Answer<'_>) -> Table {
    let mut table = Table::new([
        Column::left("Gate").field("rule"),
        Column::right("Allowed").field("threshold"),
        Column::left("Outcome").field("outcome"),
        Column::left("Measured").field("message"),
    ]);
    for gate in answer.gates {
        let points = gate.rule == crate::gates::Rule::Idle;
        let threshold = gate
            .threshold
            .map_or_else(Cell::none, |threshold| Cell::number(signed(threshold, points), threshold));
        let outcome = if gate.outcome == Outcome::Fail { "FAIL" } else { gate.outcome.label() };
        table.row([
            Cell::text(gate.rule.title()),
            threshold,
            Cell::text(outcome),
            Cell::text(gate.message.as_str()),
        ]);
    }
    table
}

/// Figures of whole runs.
pub(super) fn totals(answer: &Answer<'_>) -> Table {
    let mut table = Table::new([
        Column::left("Of one run").field("figure"),
        Column::right("Before").field("baseline"),
        Column::right("After").field("candidate"),
        Column::right("Change").field("change"),
    ]);
    let totals = &answer.comparison.totals;
    let mut add = |word: &str, total: &Total, text: &dyn Fn(f64) -> String, points: bool| {
        let side = |value: f64| Cell::number(text(value), value);
        let change =
            total.change.map_or_else(Cell::none, |change| Cell::number(signed(change, points), change));
        table.row([Cell::text(word), side(total.baseline), side(total.candidate), change]);
    };
    let time = |value: f64| units::duration(value.round() as i64);
    add("GPU time of kernels", &totals.kernels, &time, false);
    add("wall", &totals.wall, &time, false);
    add("idle", &totals.idle, &units::percent, true);
    add("kernel launches", &totals.launches, &|value| units::count(value.round() as u64), false);
    table
}

/// What the change of wall consists of, for all GPUs and each.
pub(super) fn books(answer: &Answer<'_>) -> Table {
    let books = &answer.comparison.books;
    let columns = [
        ("Wall", "wall_delta_ns"),
        ("Count", "count_ns"),
        ("Duration", "duration_ns"),
        ("Mix", "mix_ns"),
        ("New", "new_ns"),
        ("Removed", "removed_ns"),
        ("Renamed", "renamed_ns"),
        ("Overlap", "overlap_ns"),
        ("Idle", "idle_ns"),
    ];
    let largest = books.gpus.iter().flat_map(|gpu| terms(gpu.change.wall_delta_ns, &gpu.change.terms));
    let largest =
        largest.chain(terms(books.total.wall_delta_ns, &books.total.terms)).map(i64::unsigned_abs).max();
    let unit = TimeUnit::of(i64::try_from(largest.unwrap_or(0)).unwrap_or(i64::MAX) / 10);
    let mut table = Table::new(std::iter::once(Column::left("GPU").field("gpu")).chain(
        columns.into_iter().enumerate().map(|(at, (header, field))| {
            let header = if at == 0 { format!("{header} ({})", unit.symbol()) } else { header.to_owned() };
            Column::right(header).field(field)
        }),
    ));
    let mut add = |gpu: Cell, delta: i64, of: &WallTerms| {
        let time = |value: i64| {
            let sign = if value > 0 { "+" } else { "" };
            Cell::number(format!("{sign}{}", unit.number(value)), value)
        };
        table.row(std::iter::once(gpu).chain(terms(delta, of).map(time)));
    };
    if books.gpus.len() > 1 {
        add(Cell::text("all"), books.total.wall_delta_ns, &books.total.terms);
    }
    for gpu in &books.gpus {
        add(Cell::number(gpu.gpu.to_string(), gpu.gpu), gpu.change.wall_delta_ns, &gpu.change.terms);
    }
    table
}

fn terms(delta: i64, terms: &WallTerms) -> impl Iterator<Item = i64> {
    std::iter::once(delta).chain(terms.named().map(|(_, term)| term))
}

/// How the two sides were recorded differently.
pub(super) fn differences(answer: &Answer<'_>) -> Table {
    let mut table = Table::new([
        Column::left("Differs").field("what"),
        Column::left("Baseline").field("baseline"),
        Column::left("Candidate").field("candidate"),
    ]);
    for difference in &answer.comparison.differences {
        table.row([
            Cell::text(difference.what.as_str()),
            Cell::text(difference.baseline.as_str()),
            Cell::text(difference.candidate.as_str()),
        ]);
    }
    table
}

/// How many kernels there are of each kind of change: `1 regressed, 79 unchanged`.
pub(super) fn census(rows: &[Row]) -> String {
    let kinds = [
        Change::Regressed,
        Change::Improved,
        Change::New,
        Change::Removed,
        Change::Renamed,
        Change::Inconclusive,
        Change::Unchanged,
    ];
    let count = |kind| rows.iter().filter(|row| row.change == kind).count();
    let words: Vec<String> = kinds
        .into_iter()
        .filter(|&kind| count(kind) > 0)
        .map(|kind| format!("{} {}", units::count(count(kind) as u64), kind.label()))
        .collect();
    if words.is_empty() { "no kernels".to_owned() } else { words.join(", ") }
}

/// What is said before all tables: which runs, and what to know about them.
pub(super) fn sentences(answer: &Answer<'_>) -> Vec<String> {
    let comparison = answer.comparison;
    let mut lines = Vec::new();
    if let Some(why) = &comparison.incomparable {
        lines.push(format!("cannot compare: {why}"));
    }
    lines.extend(comparison.other_work.clone());
    lines.extend(comparison.notes.iter().cloned());
    let raised = comparison
        .rows
        .iter()
        .filter(|row| row.judgement.threshold.source == rtl_analysis::compare::ThresholdSource::SingleRun);
    if let Some(row) = raised.clone().next() {
        lines.push(format!(
            "the threshold of {} kernels was raised to {}: one run a side cannot tell less",
            raised.count(),
            signed(row.judgement.threshold.value, false)
        ));
    }
    for kin in &comparison.kin {
        lines.push(format!("family {}: {} removed, {} new", kin.name, kin.removed, kin.new));
    }
    lines
}

/// Kernels that would have failed and are allowed to.
pub(super) fn allowed(answer: &Answer<'_>) -> Vec<String> {
    let entries = answer.gates.iter().flat_map(|gate| &gate.allowed);
    entries
        .map(|(at, reason)| format!("allowed: {}: {reason}", answer.comparison.rows[*at].title()))
        .collect()
}
