//! Sentences and the table of a comparison of operators, modules, categories or steps: the terms of the wall of a step, and
//! where each side wins.

use std::collections::{HashMap, HashSet};

use cli::units::{self, TimeUnit};
use cli::{Cell, Column, Table};
use rtl_analysis::work::WorkKey;

use super::report::{LONGER_WALL, Report};
use super::tables;
use crate::comparison::{Change, Item, Row, Whole, WorkComparison, WorkTerms};
use crate::gates::signed;

/// From this ratio on a factor is shown in place of a percentage.
const MANY_TIMES: f64 = 10.0;

const LONGEST_NAME: usize = 48;

/// The word of the verdict where no gate decides, and the sentence of the first line.
pub(super) fn headline(work: &WorkComparison) -> Option<(&'static str, String)> {
    let terms = work.terms.as_ref()?;
    let whole = work.whole?;
    let word = match (whole.ci_low, whole.ci_high) {
        (Some(low), _) if low > 1.0 => "slower",
        (_, Some(high)) if high < 1.0 => "faster",
        _ => "undecided",
    };
    let time = |side: fn(&Item) -> Option<i64>| {
        let sum = terms.items.iter().filter_map(side).fold(0, |sum: i64, time| sum.saturating_add(time));
        match work.key {
            WorkKey::Step => units::duration(sum / terms.items.iter().filter_map(side).count().max(1) as i64),
            _ => units::duration(sum),
        }
    };
    let [before, after] = [time(|item| item.baseline_ns), time(|item| item.candidate_ns)];
    let is_per_step = work.is_per_step || work.key == WorkKey::Step;
    let step = if is_per_step { " a step" } else { "" };
    let wall = match terms.wall_ns.baseline {
        _ if work.key == WorkKey::Step => String::new(),
        0 => String::new(),
        wall => format!("; wall {}", signed(terms.wall_ns.candidate as f64 / wall as f64 - 1.0, false)),
    };
    let ratio = ratio_with_interval(&whole);
    let idle_ns = terms.idle_ns.candidate.saturating_sub(terms.idle_ns.baseline);
    let is_idle = work.key != WorkKey::Step
        && terms.wall_ns.candidate as f64 > terms.wall_ns.baseline as f64 * (1.0 + LONGER_WALL)
        && idle_ns > 0;
    Some(match is_idle && word != "slower" {
        true => (
            "slower",
            format!(
                "idle time{step} {}{wall}; GPU time {before} to {after}, {ratio}",
                units::change(idle_ns)
            ),
        ),
        false => (word, format!("GPU time{step} {before} to {after}, {ratio}{wall}")),
    })
}

fn ratio_with_interval(whole: &Whole) -> String {
    let change = signed(whole.ratio - 1.0, false);
    match whole.ci_low.zip(whole.ci_high) {
        Some((low, high)) => {
            format!("{change} (95% interval {} .. {})", signed(low - 1.0, false), signed(high - 1.0, false))
        }
        None => format!("{change} (nothing shows how runs differ)"),
    }
}

/// One line for each side with the work in which it wins most, beyond doubt.
pub(super) fn winners(report: &Report<'_>, work: &WorkComparison) -> Vec<String> {
    let is_decided =
        |row: &&Row| matches!(row.change, Change::Slower | Change::SlowerAllowed | Change::Faster);
    let decided = report.comparison.rows.iter().filter(is_decided);
    let decided: HashSet<&str> = decided.map(|row| row.name.as_str()).collect();
    let Some(terms) = &work.terms else { return Vec::new() };
    let names = short_names(terms);
    let most = |sign: i64| {
        let gain = |item: &&Item| item.change_ns().saturating_mul(sign);
        // Work without an operator or module differs in kind between the sides.
        let is_won = |item: &&Item| {
            gain(item) > 0 && decided.contains(item.name.as_str()) && !item.name.starts_with("(no ")
        };
        let items = terms.items.iter().filter(is_won);
        let mut items: Vec<&Item> = items.collect();
        items.sort_by_key(|item| std::cmp::Reverse(gain(item)));
        let word =
            |item: &&Item| format!("{} {}", names[item.name.as_str()], units::change(item.change_ns()));
        items.iter().take(3).map(word).collect::<Vec<_>>().join(", ")
    };
    let line = |(side, sign): (&str, i64)| {
        Some(format!("the {side} wins in {}", most(sign))).filter(|_| !most(sign).is_empty())
    };
    [("candidate", -1), ("baseline", 1)].into_iter().filter_map(line).collect()
}

fn short_names(terms: &WorkTerms) -> HashMap<&str, String> {
    let names: Vec<&str> = terms.items.iter().map(|item| item.name.as_str()).collect();
    names.iter().copied().zip(cli::shorten_distinct(&names, LONGEST_NAME)).collect()
}

struct Line<'a> {
    name: String,
    times_ns: [Option<i64>; 2],
    row: Option<&'a Row>,
}

impl Line<'_> {
    fn new(name: impl Into<String>, times_ns: [Option<i64>; 2]) -> Self {
        Self { name: name.into(), times_ns, row: None }
    }

    fn change_ns(&self) -> i64 {
        self.times_ns[1].unwrap_or(0).saturating_sub(self.times_ns[0].unwrap_or(0))
    }
}

/// The terms of wall, with `shown` items of both sides. The changes sum to that of wall, to the nanosecond.
pub(super) fn table(report: &Report<'_>, work: &WorkComparison, shown: usize) -> Table {
    let Some(terms) = &work.terms else { return Table::default() };
    let rows: HashMap<&str, &Row> =
        report.comparison.rows.iter().map(|row| (row.name.as_str(), row)).collect();
    let line = |item: &Item| Line {
        name: item.name.clone(),
        times_ns: [item.baseline_ns, item.candidate_ns],
        row: rows.get(item.name.as_str()).copied(),
    };
    let mut matched: Vec<Line<'_>> = terms.items.iter().filter(|item| item.is_matched()).map(line).collect();
    match work.key {
        WorkKey::Step => matched.sort_by_key(|line| (line.name.len(), line.name.clone())),
        _ => matched
            .sort_by_key(|line| (std::cmp::Reverse(line.change_ns().unsigned_abs()), line.name.clone())),
    }
    let [one, several] = work.nouns();
    let sum = |name: String, lines: &[Line<'_>], is_on: [bool; 2]| {
        let time = |side: usize| {
            let times = lines.iter().filter_map(|line| line.times_ns[side]);
            is_on[side].then(|| times.fold(0, |sum: i64, time| sum.saturating_add(time)))
        };
        Line::new(name, [time(0), time(1)])
    };
    let noun = |count: usize| if count == 1 { one } else { several };
    let others = matched.split_off(shown.min(matched.len()));
    let mut lines = matched;
    if !others.is_empty() {
        lines.push(sum(format!("{} other {}", others.len(), noun(others.len())), &others, [true, true]));
    }
    for (side, word) in ["baseline", "candidate"].into_iter().enumerate() {
        let only: Vec<Line<'_>> = terms
            .items
            .iter()
            .filter(|item| !item.is_matched())
            .map(line)
            .filter(|line| line.times_ns[side].is_some())
            .collect();
        if !only.is_empty() {
            let name = format!("{} {} of the {word} only", only.len(), noun(only.len()));
            lines.push(sum(name, &only, [side == 0, side == 1]));
        }
    }
    let both = |sides: [i64; 2]| sides.map(Some);
    lines.push(Line::new(
        "less what ran at the same time",
        both([-terms.overlap_ns.baseline, -terms.overlap_ns.candidate]),
    ));
    lines.push(Line::new("idle", both([terms.idle_ns.baseline, terms.idle_ns.candidate])));
    let wall = if work.is_per_step { "wall of a step" } else { "wall" };
    lines.push(Line::new(wall, both([terms.wall_ns.baseline, terms.wall_ns.candidate])));
    let largest = lines.iter().flat_map(|line| line.times_ns).flatten().map(i64::unsigned_abs).max();
    let unit = TimeUnit::of(i64::try_from(largest.unwrap_or(0)).unwrap_or(i64::MAX));
    let time = |ns: Option<i64>| ns.map_or_else(|| Cell::text(""), |ns| Cell::number(unit.number(ns), ns));
    let header = one[..1].to_uppercase() + &one[1..];
    Table::of(lines)
        .column(Column::name(header), |line| Cell::text(line.name.as_str()))
        .column(Column::right(format!("Before ({})", unit.symbol())), |line| time(line.times_ns[0]))
        .column(Column::right("After"), |line| time(line.times_ns[1]))
        .column(Column::right("Change"), |line| {
            let change = line.change_ns();
            let sign = if change > 0 { "+" } else { "" };
            Cell::number(format!("{sign}{}", unit.number(change)), change)
        })
        .column(Column::right("%"), |line| match line.times_ns {
            [Some(before), Some(after)] if before > 0 => Cell::text(relative(after as f64 / before as f64)),
            _ => Cell::text(""),
        })
        .column(Column::left("Status"), |line| Cell::text(line.row.map_or("", |row| row.change.label())))
        .column(Column::left("95% interval").optional(), |line| {
            line.row.map_or_else(|| Cell::text(""), tables::interval)
        })
        .build()
}

/// `-3.50%`, or `12.1 x` where a percentage would be hard to read.
fn relative(ratio: f64) -> String {
    match ratio < MANY_TIMES {
        true => signed(ratio - 1.0, false),
        false => format!("{} x", units::fixed(ratio, 1)),
    }
}

type TimeOf = fn(&Item) -> Option<i64>;

/// The largest items that only one side has, one line a side.
pub(super) fn unmatched(work: &WorkComparison) -> Vec<String> {
    let Some(terms) = &work.terms else { return Vec::new() };
    let names = short_names(terms);
    let line = |(word, time): (&str, TimeOf)| {
        let items = terms.items.iter().filter(|item| !item.is_matched());
        let mut items: Vec<(i64, &str)> =
            items.filter_map(|item| Some((time(item)?, item.name.as_str()))).collect();
        items.sort_by(|one, other| (other.0, one.1).cmp(&(one.0, other.1)));
        let words: Vec<String> = items
            .iter()
            .take(3)
            .map(|(ns, name)| format!("{} {}", names[name], units::duration(*ns)))
            .collect();
        (!words.is_empty()).then(|| format!("of the {word} only: {}", words.join(", ")))
    };
    let sides: [(&str, TimeOf); 2] =
        [("baseline", |item| item.baseline_ns), ("candidate", |item| item.candidate_ns)];
    let mut lines: Vec<String> = sides.into_iter().filter_map(line).collect();
    let sum = |is_matched: bool| {
        let items = terms.items.iter().filter(|item| item.is_matched() == is_matched);
        items
            .map(|item| item.baseline_ns.unwrap_or(0).saturating_add(item.candidate_ns.unwrap_or(0)))
            .fold(0, i64::saturating_add)
    };
    if sum(false) > sum(true) && !matches!(work.key, WorkKey::Category | WorkKey::Step) {
        let [_, several] = work.nouns();
        lines.push(format!(
            "most time is in {several} that one side lacks: `--by category` compares kinds of kernels"
        ));
    }
    lines
}
