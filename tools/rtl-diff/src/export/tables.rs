//! The tables of text, Markdown and CSV, with a text for people and a value for machines in each cell.

use std::collections::HashMap;

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::DisplayNames;
use rtl_analysis::compare::{MAX_RUNS, Method, Side, ThresholdSource};
use rtl_analysis::decomposition::{WallChange, WallDecomposition, WallTerms};

use super::report::Report;
use crate::comparison::{Pairing, Row, Total};
use crate::gates::{Allowed, Rule, signed};

/// The table of changed rows has the columns that a reader needs first.
pub(super) fn changed(rows: &[&Row]) -> Table {
    let has_launches = rows.iter().any(|row| row.launch.is_some());
    let short = short_names(rows);
    Table::of(rows.iter().copied())
        .column(Column::name("Kernel").field("name"), |row| Cell::text(name(row)))
        .column_if(has_launches, Column::left("Launch").field("launch"), |row| launch(row))
        .column(Column::left("Status").field("status"), |row| Cell::text(row.change.label()))
        .column(Column::right("Change").field("ratio"), |row| change(row.ratio))
        .column(Column::left("95% interval").field("interval"), |row| interval(row))
        .column(Column::right("Time a run").field("change_ns").optional_late(), |row| time_in_run(row))
        .column(Column::right("Share").field("share").optional(), |row| share(row))
        .column(Column::right("Before").field("baseline_trimmed_mean_ns").optional(), |row| {
            trimmed_mean(row.sides.baseline)
        })
        .column(Column::right("After").field("candidate_trimmed_mean_ns").optional(), |row| {
            trimmed_mean(row.sides.candidate)
        })
        .column(Column::right("Calls").field("calls").optional(), |row| calls(row))
        .build()
        .with_short_names(|text| short.get(text).cloned())
}

pub(super) fn undecided(rows: &[&Row]) -> Table {
    let has_launches = rows.iter().any(|row| row.launch.is_some());
    let has_runs = rows.iter().any(|row| row.uncertainty == Method::BetweenRuns);
    let short = short_names(rows);
    Table::of(rows.iter().copied())
        .column(Column::name("Kernel").field("name"), |row| Cell::text(name(row)))
        .column_if(has_launches, Column::left("Launch").field("launch"), |row| launch(row))
        .column(Column::right("Change").field("ratio"), |row| change(row.ratio))
        .column(Column::left("95% interval").field("interval"), |row| interval(row))
        .column_if(has_runs, Column::right("Runs a side").field("runs_to_decide"), |row| {
            match row.runs_to_decide {
                Some(runs) => Cell::number(runs.to_string(), runs),
                None => Cell::number(format!("> {MAX_RUNS}"), ""),
            }
        })
        .column(Column::right("Time a run").field("change_ns"), |row| time_in_run(row))
        .column(Column::right("Share").field("share").optional(), |row| share(row))
        .build()
        .with_short_names(|text| short.get(text).cloned())
}

pub(super) fn kernels(rows: &[Row]) -> Table {
    let references: Vec<&Row> = rows.iter().collect();
    let short = short_names(&references);
    with_full_names(rows).with_short_names(|text| short.get(text).cloned())
}

pub(super) fn with_full_names(rows: &[Row]) -> Table {
    let has_launches = rows.iter().any(|row| row.launch.is_some());
    let has_waits = rows.iter().any(|row| row.waits.is_some());
    Table::of(rows)
        .column(Column::name("Kernel").field("name"), |row| Cell::text(name(row)))
        .column_if(has_launches, Column::left("Launch").field("launch"), |row| launch(row))
        .column(Column::left("Status").field("status"), |row| Cell::text(row.change.label()))
        .column(Column::right("Change").field("ratio"), |row| change(row.ratio))
        .column(Column::left("95% interval").field("interval"), |row| interval(row))
        .column(Column::right("Would find").field("detectable"), |row| signed_cell(row.detectable, false))
        .column(Column::right("Share").field("share"), |row| share(row))
        .column(Column::right("Calls").field("calls"), |row| calls(row))
        .column(Column::right("Before").field("baseline_trimmed_mean_ns"), |row| {
            trimmed_mean(row.sides.baseline)
        })
        .column(Column::right("After").field("candidate_trimmed_mean_ns"), |row| {
            trimmed_mean(row.sides.candidate)
        })
        .column_if(has_waits, Column::right("Wait before").field("baseline_mean_wait_ns"), |row| {
            optional(row.waits, |waits| duration(waits.baseline.mean_wait_ns()))
        })
        .column_if(has_waits, Column::right("Wait after").field("candidate_mean_wait_ns"), |row| {
            optional(row.waits, |waits| duration(waits.candidate.mean_wait_ns()))
        })
        .column(Column::right("Median").field("median_ratio").optional(), |row| {
            ratio(row, |side| side.median_ns)
        })
        .column(Column::right("p95").field("p95_ratio").optional(), |row| ratio(row, |side| side.p95_ns))
        .column(Column::right("Min").field("min_ratio").optional(), |row| ratio(row, |side| side.min_ns))
        .column(Column::right("p").field("p").optional(), |row| probability(row, row.p))
        .column(Column::right("q").field("q").optional(), |row| probability(row, row.q))
        .build()
}

fn launch(row: &Row) -> Cell {
    Cell::text(row.launch.as_deref().unwrap_or_default())
}

fn share(row: &Row) -> Cell {
    Cell::number(units::percent(row.share), row.share)
}

fn time_in_run(row: &Row) -> Cell {
    Cell::number(units::change(row.change_ns.round() as i64), row.change_ns)
}

fn short_names(rows: &[&Row]) -> HashMap<String, String> {
    let names = rows.iter().flat_map(|row| [Some(row.name.as_str()), row.former.as_deref()]).flatten();
    let display = DisplayNames::of(names);
    let short = |row: &&Row| {
        let short = name_with(row, |name| display.get(name));
        (name(row), short)
    };
    rows.iter().map(short).filter(|(name, short)| name != short).collect()
}

/// A renamed kernel has both names, the method that paired them and the score.
fn name(row: &Row) -> String {
    name_with(row, |name| name)
}

fn name_with<'a>(row: &'a Row, form: impl Fn(&'a str) -> &'a str) -> String {
    match (&row.former, row.pairing) {
        (Some(former), Some(Pairing { method, score })) => {
            let score = units::fixed(score, 2);
            format!("{} (was {}: {} {score})", form(&row.name), form(former), method.label())
        }
        _ => form(&row.name).to_owned(),
    }
}

fn optional<T>(value: Option<T>, cell: impl Fn(T) -> Cell) -> Cell {
    value.map_or_else(Cell::none, cell)
}

fn change(ratio: Option<f64>) -> Cell {
    optional(ratio, |ratio| Cell::number(signed(ratio - 1.0, false), ratio))
}

fn signed_cell(change: Option<f64>, points: bool) -> Cell {
    optional(change, |change| Cell::number(signed(change, points), change))
}

pub(super) fn interval(row: &Row) -> Cell {
    optional(row.ci_low.zip(row.ci_high), |(low, high)| {
        let texts = [low, high].map(|bound| signed(bound - 1.0, false));
        Cell::number(texts.join(" .. "), format!("{low} {high}"))
    })
}

/// A figure that is 0 on one side has no ratio.
fn ratio(row: &Row, figure: fn(&Side) -> i64) -> Cell {
    let [before, after] = row.sides().each_ref().map(figure);
    change((before > 0 && after > 0).then(|| after as f64 / before as f64))
}

fn probability(row: &Row, value: Option<f64>) -> Cell {
    optional(value.filter(|_| row.uncertainty != Method::None), |value| {
        Cell::number(units::fixed(value, 3), value)
    })
}

/// The text has the calls of a run, the value all calls of the baseline and all of the candidate.
fn calls(row: &Row) -> Cell {
    let [before, after] = row.sides();
    let [one, other] = [before, after].map(|side| units::count(side.calls / side.runs.max(1) as u64));
    let text = if one == other { one } else { format!("{one} > {other}") };
    Cell::number(text, format!("{} {}", before.calls, after.calls))
}

fn trimmed_mean(side: Option<Side>) -> Cell {
    optional(side, |side| duration(side.trimmed_mean_ns))
}

fn duration(nanoseconds: f64) -> Cell {
    Cell::number(units::duration(nanoseconds.round() as i64), nanoseconds)
}

pub(super) fn gates(report: &Report<'_>) -> Table {
    Table::of(report.gates)
        .column(Column::left("Gate").field("rule"), |gate| Cell::text(report.title(gate.rule)))
        .column(Column::right("Allowed").field("threshold"), |gate| {
            signed_cell(gate.threshold, gate.rule == Rule::Idle)
        })
        .column(Column::left("Outcome").field("outcome"), |gate| Cell::text(gate.outcome.text()))
        .column(Column::sentence("Measured").field("message"), |gate| Cell::text(gate.message.as_str()))
        .build()
}

/// The name, values and text of a figure of whole runs, and true if a change is in points.
type Figure<'a> = (&'static str, &'a Total, fn(f64) -> String, bool);

pub(super) fn totals(report: &Report<'_>) -> Table {
    let totals = &report.comparison.totals;
    let time = |value: f64| units::duration(value.round() as i64);
    let figures: [Figure<'_>; 4] = [
        ("GPU time of kernels", &totals.kernel_ns, time, false),
        ("wall", &totals.wall_ns, time, false),
        ("idle", &totals.idle_share, units::percent, true),
        ("kernel launches", &totals.launches, |value| units::count(value.round() as u64), false),
    ];
    Table::of(figures)
        .column(Column::left("Of one run").field("figure"), |&(name, ..)| Cell::text(name))
        .column(Column::right("Before").field("baseline"), |&(_, total, text, _)| {
            Cell::number(text(total.baseline), total.baseline)
        })
        .column(Column::right("After").field("candidate"), |&(_, total, text, _)| {
            Cell::number(text(total.candidate), total.candidate)
        })
        .column(Column::right("Change").field("change"), |&(_, total, _, points)| {
            signed_cell(total.change, points)
        })
        .build()
}

/// The terms of the change of wall, for all GPUs and each.
pub(super) fn decomposition(report: &Report<'_>) -> Table {
    let WallDecomposition { total, gpus, .. } = &report.comparison.decomposition;
    let all = Some((Cell::text("all"), total)).filter(|_| gpus.len() > 1);
    let each = gpus.iter().map(|gpu| (Cell::number(gpu.gpu.to_string(), gpu.gpu), &gpu.change));
    let rows: Vec<(Cell, &WallChange)> = all.into_iter().chain(each).collect();
    let terms = rows.iter().flat_map(|(_, change)| change.terms.named().map(|(_, term)| term));
    let walls = rows.iter().map(|(_, change)| change.wall_delta_ns);
    let largest = terms.chain(walls).map(i64::unsigned_abs).max().unwrap_or(0);
    let unit = TimeUnit::of(i64::try_from(largest).unwrap_or(i64::MAX) / 10);
    let time = |value: i64| {
        let sign = if value > 0 { "+" } else { "" };
        Cell::number(format!("{sign}{}", unit.number(value)), value)
    };
    let mut table = Table::of(rows)
        .column(Column::left("GPU").field("gpu"), |(gpu, _)| gpu.clone())
        .column(Column::right(format!("Wall ({})", unit.symbol())).field("wall_delta_ns"), |(_, change)| {
            time(change.wall_delta_ns)
        });
    for (at, (name, _)) in WallTerms::default().named().into_iter().enumerate() {
        let header = name[..1].to_uppercase() + &name[1..];
        let column = Column::right(header).field(format!("{name}_ns"));
        table = table.column(column, |(_, change)| time(change.terms.named()[at].1));
    }
    table.build()
}

pub(super) fn differences_in_words(report: &Report<'_>) -> Vec<String> {
    let differences = report.comparison.differences.iter();
    differences.map(|row| format!("{}: {} and {}", row.what, row.baseline, row.candidate)).collect()
}

pub(super) fn differences(report: &Report<'_>) -> Table {
    Table::of(&report.comparison.differences)
        .column(Column::left("Differs").field("what"), |row| Cell::text(row.what.as_str()))
        .column(Column::sentence("Baseline").field("baseline"), |row| Cell::text(row.baseline.as_str()))
        .column(Column::sentence("Candidate").field("candidate"), |row| Cell::text(row.candidate.as_str()))
        .build()
}

/// The number of kernels of each status: `1 slower, 79 unchanged`.
pub(super) fn change_counts(rows: &[Row]) -> String {
    // Rows are sorted by status, so that those of one status are adjacent.
    let counts: Vec<String> = (rows.chunk_by(|one, other| one.change == other.change))
        .map(|rows| format!("{} {}", units::count(rows.len() as u64), rows[0].change.label()))
        .collect();
    if counts.is_empty() { "no kernels".to_owned() } else { counts.join(", ") }
}

pub(super) fn notes(report: &Report<'_>) -> Vec<String> {
    let comparison = report.comparison;
    let mut notes: Vec<String> = comparison.other_work.iter().chain(&comparison.notes).cloned().collect();
    let rows = comparison.rows.iter();
    let raised = rows.filter(|row| row.threshold_source == ThresholdSource::SingleRun);
    let raised: Vec<f64> = raised.map(|row| row.threshold).collect();
    notes.extend(raised.first().map(|&threshold| {
        format!(
            "the threshold of {} kernels was raised to {}: one run a side cannot resolve less",
            raised.len(),
            signed(threshold, false)
        )
    }));
    notes.extend(
        comparison
            .rename_candidates
            .iter()
            .map(|family| format!("family {}: {} removed, {} new", family.name, family.removed, family.new)),
    );
    notes
}

/// Kernels that would have failed and are allowed to.
pub(super) fn allowed(report: &Report<'_>) -> Vec<String> {
    let allowed = report.gates.iter().flat_map(|gate| &gate.allowed);
    allowed.map(|Allowed { row, reason }| format!("allowed: {}: {reason}", row.label())).collect()
}
