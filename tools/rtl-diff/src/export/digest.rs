//! The beginning of every report for people: the verdict with what decided it, what changed, what is undecided and how
//! many runs would decide it.

use std::cmp::Reverse;

use cli::units;
use rtl_analysis::DisplayNames;
use rtl_analysis::compare::{MAX_RUNS, Method};

use super::report::{LONGER_WALL, Report};
use super::tables;
use super::work;
use crate::comparison::{Change, Row};
use crate::gates::{Gate, Outcome, Rule, signed};

/// The advice where too few runs show how runs differ.
const RUNS: &str = "five runs a side, recorded in turn";

#[derive(Debug)]
pub(super) struct Digest<'a> {
    /// The verdict in a word or two.
    pub(super) word: &'static str,
    /// The reasons, and the change of wall.
    pub(super) reason: String,
    pub(super) changed: Vec<&'a Row>,
    /// Undecided rows that are large enough to count, the largest change first.
    pub(super) undecided: Vec<&'a Row>,
    /// The number of runs that would decide the undecided rows.
    pub(super) remedy: Option<String>,
    pub(super) wall: Option<String>,
    /// The number of the other rows.
    pub(super) rest: Option<String>,
    /// The advice on the verdict.
    pub(super) next: Option<String>,
}

impl<'a> Digest<'a> {
    pub(super) fn new(report: &Report<'a>) -> Self {
        let rows = report.comparison.rows.as_slice();
        let names = DisplayNames::of(rows.iter().map(|row| row.name.as_str()));
        let mut changed: Vec<&Row> = rows.iter().filter(|row| row.has_changed()).collect();
        changed.sort_by_key(|row| (row.change != Change::Slower, Reverse(row.change_ns.abs() as i64)));
        let is_undecided = |row: &&Row| row.change == Change::Undecided && row.is_large && row.is_gated();
        let undecided: Vec<&Row> = rows.iter().filter(is_undecided).collect();
        let work = report.comparison.work.as_ref().and_then(work::headline);
        let work = work.filter(|_| report.gates.is_empty() && report.comparison.incomparable.is_none());
        let (word, reason) = work.unwrap_or_else(|| {
            let word = word(report, &changed, &undecided);
            (word, reason(report, word, &names, &changed, &undecided))
        });
        Self {
            word,
            reason,
            remedy: remedy(report, &undecided),
            wall: wall(report),
            rest: rest(report, changed.len() + undecided.len()),
            next: next(report, word, &changed),
            changed,
            undecided,
        }
    }

    pub(super) fn headline(&self) -> String {
        format!("{}: {}", self.word, self.reason)
    }
}

fn word(report: &Report<'_>, changed: &[&Row], undecided: &[&Row]) -> &'static str {
    if report.comparison.incomparable.is_some() {
        return "not comparable";
    }
    if !report.gates.is_empty() {
        return match report.verdict {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Inconclusive | Outcome::NotMeasured => "undecided",
        };
    }
    let any = |change| changed.iter().any(|row| row.change == change && row.is_large && row.is_gated());
    if any(Change::Slower) || slower_wall(report).is_some() {
        Change::Slower.label()
    } else if any(Change::Faster) {
        Change::Faster.label()
    } else if any(Change::SlowerAllowed) {
        Change::SlowerAllowed.label()
    } else if !undecided.is_empty() {
        Change::Undecided.label()
    } else if changed.is_empty() {
        Change::Unchanged.label()
    } else {
        "changed"
    }
}

fn reason(
    report: &Report<'_>,
    word: &str,
    names: &DisplayNames,
    changed: &[&Row],
    undecided: &[&Row],
) -> String {
    if let Some(reason) = &report.comparison.incomparable {
        return reason.clone();
    }
    let failed = report.gates.iter().find(|gate| gate.outcome == Outcome::Fail);
    let open = report.gates.iter().find(|gate| gate.outcome != Outcome::Pass);
    let slower = |change| {
        changed.iter().copied().filter(move |row| row.change == change && row.is_large && row.is_gated())
    };
    let decided = match (word, failed.or(open)) {
        ("fail" | "undecided", Some(gate)) => gate_sentence(report, gate, names),
        ("pass", _) if slower(Change::Slower).next().is_some() => {
            format!("no gate fails on {}", first(slower(Change::Slower), names))
        }
        ("pass", _) => match slower(Change::SlowerAllowed).next() {
            Some(row) => {
                format!("{} within the allowance", rows_sentence(slower(Change::SlowerAllowed), row, names))
            }
            None => "no kernel is slower".to_owned(),
        },
        ("slower", _) => match slower(Change::Slower).next() {
            Some(row) => rows_sentence(slower(Change::Slower), row, names),
            None => return slower_wall(report).unwrap_or_default(),
        },
        ("faster", _) => first(slower(Change::Faster), names),
        ("slower within the allowance", _) => first(slower(Change::SlowerAllowed), names),
        ("undecided", None) if undecided.iter().all(|row| row.uncertainty == Method::None) => {
            "one saved report a side does not show how kernels vary".to_owned()
        }
        ("undecided", None) => first(undecided.iter().copied(), names),
        ("unchanged", _) => "no kernel changed".to_owned(),
        _ => tables::change_counts(&report.comparison.rows),
    };
    match report.comparison.totals.wall_ns.change {
        Some(change) => format!("{decided}; wall {}", signed(change, false)),
        None => decided,
    }
}

/// The sentence that wall is longer although no kernel is slower.
fn slower_wall(report: &Report<'_>) -> Option<String> {
    let comparison = report.comparison;
    let total = &comparison.totals.wall_ns;
    let change = total.change.filter(|&change| change > LONGER_WALL)?;
    if total.change_at_least.is_some_and(|least| least <= 0.0) || comparison.other_work.is_some() {
        return None;
    }
    let terms = comparison.decomposition.total.terms.named();
    let (name, ns) = terms.into_iter().max_by_key(|(_, ns)| *ns)?;
    // Longer calls are judged as kernels, which may be undecided.
    let is_of_kernels = matches!(name, "duration" | "mix" | "renamed");
    (!is_of_kernels).then(|| {
        let wall = signed(change, false);
        format!("wall {wall}, most by {name} +{}; no kernel is slower", units::duration(ns))
    })
}

fn gate_sentence(report: &Report<'_>, gate: &Gate<'_>, names: &DisplayNames) -> String {
    let allowed =
        gate.threshold.map(|threshold| format!("allowed {}", signed(threshold, gate.rule == Rule::Idle)));
    let is_presence = matches!(gate.rule, Rule::New | Rule::Removed);
    match gate.rows.first() {
        Some(row) if is_presence => {
            format!("{}: {}", gate.message, names.get(&row.name))
        }
        Some(row) => rows_sentence(gate.rows.iter().copied(), row, names),
        None if gate.rule == Rule::Kernel || gate.rule == Rule::Comparable => gate.message.clone(),
        None => {
            let allowed = allowed.map(|allowed| format!(", {allowed}")).unwrap_or_default();
            format!("{} {}{allowed}", report.title(gate.rule), gate.message)
        }
    }
}

fn first<'r>(mut rows: impl Iterator<Item = &'r Row> + Clone, names: &DisplayNames) -> String {
    let all = rows.clone();
    rows.next().map_or_else(String::new, |row| rows_sentence(all, row, names))
}

/// `gemm +20.00% (95% interval +19.81% .. +20.18%, allowed +5.00%) and 2 more`.
fn rows_sentence<'r>(rows: impl Iterator<Item = &'r Row>, row: &Row, names: &DisplayNames) -> String {
    let change = row.ratio.map_or_else(String::new, |ratio| format!(" {}", signed(ratio - 1.0, false)));
    let mut details: Vec<String> = Vec::new();
    if let (Some(low), Some(high)) = (row.ci_low, row.ci_high) {
        details.push(format!("95% interval {} .. {}", signed(low - 1.0, false), signed(high - 1.0, false)));
    }
    if row.ratio.is_some_and(|ratio| ratio > 1.0) {
        details.push(format!("allowed {}", signed(row.threshold, false)));
    }
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    let more = match rows.count() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    format!("{}{change}{details}{more}", crate::input::label(names.get(&row.name), row.launch.as_deref()))
}

fn remedy(report: &Report<'_>, undecided: &[&Row]) -> Option<String> {
    if report.comparison.incomparable.is_some() {
        return None;
    }
    let Some(first) = undecided.first() else {
        let rows = &report.comparison.rows;
        let is_once = |row: &Row| row.change == Change::Undecided && row.uncertainty == Method::None;
        let is_once = report.comparison.work.is_some() && rows.iter().any(is_once);
        return is_once
            .then(|| format!("one run a side has one time for each {}: {RUNS}, do", report.noun(1)));
    };
    Some(match first.uncertainty {
        Method::None => format!(
            "one saved report a side cannot decide: give the traces themselves, {RUNS}, or `--noise` with a file of \
             `rtl-diff calibrate`"
        ),
        Method::WithinRunOnly => {
            format!("one run a side does not show how runs differ: {RUNS}, do")
        }
        Method::BetweenRuns => {
            let known: Vec<usize> = undecided.iter().filter_map(|row| row.runs_to_decide).collect();
            let never = undecided.len() - known.len();
            let most = known.iter().max().map(|runs| format!("{runs} runs a side"));
            match (most, never) {
                (Some(most), 0) => format!("{most} would decide {}", all_of(known.len())),
                (Some(most), never) => format!(
                    "{most} would decide {}; more than {MAX_RUNS} the other {}",
                    all_of(known.len()),
                    never
                ),
                (None, _) => format!(
                    "more than {MAX_RUNS} runs a side would be needed: the changes are about as large as is allowed"
                ),
            }
        }
    })
}

fn all_of(count: usize) -> String {
    if count == 1 { "it".to_owned() } else { format!("{count} of them") }
}

const MAX_CAUSES: usize = 3;

/// `wall +362.180 us = duration +470.906 us, idle -108.726 us`.
fn wall(report: &Report<'_>) -> Option<String> {
    let comparison = report.comparison;
    if comparison.incomparable.is_some() || comparison.work.is_some() || comparison.typical.is_none() {
        return None;
    }
    let total = &comparison.decomposition.total;
    let mut terms: Vec<(&str, i64)> = total.terms.named().into_iter().filter(|(_, ns)| *ns != 0).collect();
    terms.sort_by_key(|(_, ns)| Reverse(ns.unsigned_abs()));
    let causes = comparison.decomposition.idle.iter().take(MAX_CAUSES);
    let causes: Vec<String> =
        causes.map(|idle| format!("{} {}", idle.cause.label(), units::change(idle.delta_ns))).collect();
    let term = |(name, ns): (&str, i64)| match name {
        "idle" if !causes.is_empty() => format!("{name} {} ({})", units::change(ns), causes.join(", ")),
        _ => format!("{name} {}", units::change(ns)),
    };
    let terms: Vec<String> = terms.into_iter().map(term).collect();
    let runs = match comparison.baseline.len() + comparison.candidate.len() {
        2 => "",
        _ => "between the median runs ",
    };
    let terms = if terms.is_empty() { String::new() } else { format!(" = {}", terms.join(", ")) };
    Some(format!("{runs}wall {}{terms}", units::change(total.wall_delta_ns)))
}

fn rest(report: &Report<'_>, shown: usize) -> Option<String> {
    let rows = &report.comparison.rows;
    if report.comparison.work.is_some() && report.comparison.incomparable.is_none() {
        return Some(format!("{}: {}", report.noun(rows.len()), tables::change_counts(rows)));
    }
    if rows.len() == shown || report.comparison.incomparable.is_some() {
        return None;
    }
    let unchanged = rows.iter().filter(|row| row.change == Change::Unchanged).count();
    let kernels = |count: usize| format!("{} {}", units::count(count as u64), report.noun(count));
    let mut parts = Vec::new();
    if unchanged > 0 {
        parts.push(format!("{} unchanged", kernels(unchanged)));
    }
    let open = rows.len() - shown - unchanged;
    if open > 0 {
        parts
            .push(format!("{} undecided and not gated: too small, too few calls, or waiting", kernels(open)));
    }
    Some(parts.join("; "))
}

fn next(report: &Report<'_>, word: &str, changed: &[&Row]) -> Option<String> {
    if report.comparison.incomparable.is_some() {
        return None;
    }
    let is_slower = changed.iter().any(|row| row.change == Change::Slower && row.is_gated());
    match word {
        "fail" if is_slower => {
            Some("if it is intended, allow it by an [[allow]] in rtl-diff.toml".to_owned())
        }
        "slower" if report.comparison.work.is_none() => Some("--gate makes this exit code 1".to_owned()),
        _ => None,
    }
}
