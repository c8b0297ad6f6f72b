//! Evaluates the gates that the user set, and the exit code.

use cli::{Exit, Failure};
use rtl_analysis::compare::{Method, Reason};
use serde::{Serialize, Serializer};

use crate::args::Inconclusive;
use crate::comparison::{Change, Comparison, Row, Total};
use crate::settings::Settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rule {
    /// The sides must not differ in anything but speed.
    Comparable,
    Kernel,
    /// No kernel may become slower run by run.
    Drift,
    Total,
    Wall,
    Idle,
    Launches,
    New,
    Removed,
}

impl Rule {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Comparable => "recorded alike",
            Self::Kernel => "any kernel",
            Self::Drift => "any kernel over the past runs",
            Self::Total => "total GPU time",
            Self::Wall => "wall",
            Self::Idle => "idle part of wall",
            Self::Launches => "kernel launches",
            Self::New => "new kernels",
            Self::Removed => "removed kernels",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    Pass,
    /// The data does not decide.
    Inconclusive,
    /// Nothing could be measured, which is never a pass.
    NotMeasured,
    Fail,
}

impl Outcome {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::NotMeasured => "not-measured",
            Self::Fail => "fail",
        }
    }

    /// A failure stands out in text.
    pub(crate) fn text(self) -> &'static str {
        if self == Self::Fail { "FAIL" } else { self.label() }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Gate<'a> {
    pub(crate) rule: Rule,
    /// The largest change that passes, as a fraction; `None` for gates without a number.
    pub(crate) threshold: Option<f64>,
    pub(crate) outcome: Outcome,
    /// The measured change as a fraction, if the gate is about one figure.
    pub(crate) value: Option<f64>,
    pub(crate) message: String,
    /// The kernels that fail the gate or that it cannot decide on.
    #[serde(rename = "kernels", serialize_with = "names")]
    pub(crate) rows: Vec<&'a Row>,
    /// Kernels that would have failed and are allowed to.
    pub(crate) allowed: Vec<Allowed<'a>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Allowed<'a> {
    #[serde(rename = "kernel", serialize_with = "name")]
    pub(crate) row: &'a Row,
    pub(crate) reason: String,
}

/// Evaluates all gates that are set, in a fixed order.
pub(crate) fn gates<'a>(
    comparison: &'a Comparison,
    settings: &Settings,
    require_comparable: bool,
) -> Vec<Gate<'a>> {
    let set = &settings.thresholds;
    let totals = &comparison.totals;
    let mut gates = Vec::new();
    if require_comparable {
        gates.push(comparable(comparison));
    }
    if let Some(threshold) = set.kernel {
        gates.push(kernel(comparison, settings, threshold.0));
        if settings.history {
            gates.push(drift(comparison, settings, threshold.0));
        }
    }
    for (rule, threshold, total) in [
        (Rule::Total, set.total.map(|share| share.0), &totals.kernel_ns),
        (Rule::Wall, set.wall.map(|share| share.0), &totals.wall_ns),
        (Rule::Idle, set.idle.map(|points| points.0), &totals.idle_share),
        (Rule::Launches, set.launches.map(|share| share.0), &totals.launches),
    ] {
        gates.extend(threshold.map(|threshold| figure(rule, threshold, total, comparison)));
    }
    for (rule, threshold) in [(Rule::New, set.new), (Rule::Removed, set.removed)] {
        gates.extend(threshold.map(|threshold| presence(rule, threshold.0, comparison, settings)));
    }
    if let Some(reason) = &comparison.incomparable {
        for gate in &mut gates {
            gate.outcome = Outcome::NotMeasured;
            gate.message.clone_from(reason);
        }
    }
    gates
}

/// The outcome of all gates together: a pass if there is none, and inconclusive if none fails but one could not be decided
/// or measured.
pub(crate) fn verdict(gates: &[Gate<'_>]) -> Outcome {
    let fails = |gate: &Gate<'_>| gate.outcome == Outcome::Fail && gate.rule != Rule::Comparable;
    if gates.iter().all(|gate| gate.outcome == Outcome::Pass) {
        Outcome::Pass
    } else if gates.iter().any(fails) {
        Outcome::Fail
    } else {
        Outcome::Inconclusive
    }
}

pub(crate) fn exit(gates: &[Gate<'_>], inconclusive: Inconclusive) -> Exit {
    let any = |outcome| gates.iter().any(|gate| gate.outcome == outcome);
    if gates.iter().any(|gate| gate.rule == Rule::Comparable && gate.outcome != Outcome::Pass) {
        Exit::Input
    } else if any(Outcome::Fail) {
        Exit::GateFailed
    } else if any(Outcome::NotMeasured) {
        Exit::Input
    } else if any(Outcome::Inconclusive) && inconclusive == Inconclusive::Fail {
        Exit::Inconclusive
    } else {
        Exit::Success
    }
}

impl<'a> Gate<'a> {
    fn new(rule: Rule, threshold: Option<f64>) -> Self {
        let (outcome, message) = (Outcome::Pass, String::new());
        Self { rule, threshold, outcome, value: None, message, rows: Vec::new(), allowed: Vec::new() }
    }

    fn with_outcome(self, outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, message: message.into(), ..self }
    }

    /// The failure where nothing could be measured, or where the sides must be recorded alike and are not.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let is_other_recording = self.rule == Rule::Comparable && self.outcome != Outcome::Pass;
        if !is_other_recording && self.outcome != Outcome::NotMeasured {
            return None;
        }
        let hint = match self.rule {
            Rule::Comparable => "without --require-comparable the report notes the differences",
            Rule::Kernel => {
                "--min-calls N and --min-share SHARE also gate kernels with fewer calls and less time"
            }
            Rule::Drift => "name more past runs, or leave out --history",
            _ => "`rtl-summary --section trace,kernels` shows the contents of each side",
        };
        let message = format!("the gate on {} cannot be measured: {}", self.rule.title(), self.message);
        let message = if is_other_recording { self.message.clone() } else { message };
        Some(Failure::input(anyhow::anyhow!(message)).with_hint(hint))
    }

    /// Adds a kernel that fails, unless the settings allow it under this name.
    fn add_failure(&mut self, row: &'a Row, name: &str, settings: &Settings) {
        match settings.allowance(name) {
            Some(reason) => self.allowed.push(Allowed { row, reason }),
            None => self.rows.push(row),
        }
    }
}

fn names<S: Serializer>(rows: &[&Row], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.iter().map(|row| &row.name))
}

fn name<S: Serializer>(row: &&Row, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&row.name)
}

fn comparable(comparison: &Comparison) -> Gate<'_> {
    let differences = comparison.differences.iter().map(|difference| difference.what.as_str());
    let differences: Vec<&str> =
        differences.chain(comparison.other_work.as_ref().map(|_| "amount of work")).collect();
    let gate = Gate::new(Rule::Comparable, None);
    if differences.is_empty() {
        return gate.with_outcome(Outcome::Pass, "no difference is known");
    }
    gate.with_outcome(Outcome::Fail, format!("the sides differ in {}", differences.join(", ")))
}

fn gated(comparison: &Comparison) -> impl Iterator<Item = &Row> {
    comparison.rows.iter().filter(|row| row.is_gated())
}

fn kernel<'a>(comparison: &'a Comparison, settings: &Settings, threshold: f64) -> Gate<'a> {
    let mut gate = Gate::new(Rule::Kernel, Some(threshold));
    let (mut all, mut measured, mut large) = (0, 0, 0);
    let mut undecided = Vec::new();
    for row in gated(comparison) {
        let is_measured = row.uncertainty != Method::None;
        all += 1;
        measured += usize::from(is_measured);
        large += usize::from(is_measured && row.is_large);
        if row.change == Change::Slower {
            gate.add_failure(row, &row.name, settings);
        } else if row.reason == Reason::Straddles
            && row.ratio.is_some_and(|ratio| ratio > 1.0 + row.threshold)
            && row.is_large
        {
            undecided.push(row);
        }
    }
    let failed = gate.rows.len();
    let kernels = |count: usize| if count == 1 { "kernel" } else { "kernels" };
    let are = |count: usize| if count == 1 { "kernel is" } else { "kernels are" };
    if all == 0 {
        gate.with_outcome(Outcome::NotMeasured, "no kernel of both sides can be gated")
    } else if measured == 0 {
        gate.with_outcome(
            Outcome::Inconclusive,
            "one saved report a side does not show how much kernels vary",
        )
    } else if failed > 0 {
        gate.with_outcome(Outcome::Fail, format!("{failed} {} slower", are(failed)))
    } else if large == 0 {
        let message = "no kernel reaches the least number of calls and the least share of GPU time";
        gate.with_outcome(Outcome::NotMeasured, message)
    } else if !undecided.is_empty() {
        let count = undecided.len();
        gate.rows = undecided;
        let message = format!("{count} {} may be slower than allowed", kernels(count));
        gate.with_outcome(Outcome::Inconclusive, message)
    } else {
        let message =
            format!("{measured} {} compared, {large} of them large enough to fail", kernels(measured));
        gate.with_outcome(Outcome::Pass, message)
    }
}

/// Finds a change that no threshold between two builds finds: ten builds, each slower by 1 %.
fn drift<'a>(comparison: &'a Comparison, settings: &Settings, threshold: f64) -> Gate<'a> {
    let mut gate = Gate::new(Rule::Drift, Some(threshold));
    let mut measured = 0;
    for row in gated(comparison) {
        let Some(drift) = &row.drift else { continue };
        measured += 1;
        if drift.slower {
            gate.add_failure(row, &row.name, settings);
        }
    }
    if measured == 0 {
        return gate.with_outcome(Outcome::NotMeasured, "too few runs to see drift: six at least");
    }
    let failed = gate.rows.len();
    let outcome = if failed > 0 { Outcome::Fail } else { Outcome::Pass };
    gate.with_outcome(outcome, format!("{failed} of {measured} kernels became slower run by run"))
}

fn figure<'a>(rule: Rule, threshold: f64, total: &Total, comparison: &'a Comparison) -> Gate<'a> {
    let mut gate = Gate::new(rule, Some(threshold));
    gate.value = total.change;
    let Some(change) = total.change else {
        return gate.with_outcome(Outcome::NotMeasured, "one of the sides has nothing of it");
    };
    let depends_on_work = rule != Rule::Launches && rule != Rule::Idle;
    if let Some(reason) = comparison.other_work.as_ref().filter(|_| depends_on_work) {
        return gate.with_outcome(Outcome::NotMeasured, reason.as_str());
    }
    let text = |value: f64| signed(value, rule == Rule::Idle);
    let bound = total.change_at_least;
    let bound_text =
        bound.map_or_else(|| "one run per side".to_owned(), |bound| format!("at least {}", text(bound)));
    let outcome = if change <= threshold {
        Outcome::Pass
    } else if bound.is_none_or(|bound| bound > threshold) {
        Outcome::Fail
    } else {
        Outcome::Inconclusive
    };
    gate.with_outcome(outcome, format!("{} ({bound_text})", text(change)))
}

/// A kernel that is paired only by a guess counts as new and removed until the settings pair it.
fn presence<'a>(rule: Rule, threshold: f64, comparison: &'a Comparison, settings: &Settings) -> Gate<'a> {
    let (side, change, word) =
        if rule == Rule::New { (1, Change::New, "new") } else { (0, Change::Removed, "removed") };
    let mut gate = Gate::new(rule, Some(threshold));
    for row in &comparison.rows {
        if (row.change == change || row.change == Change::Renamed) && row.shares[side] >= threshold {
            let name = row.former.as_ref().filter(|_| side == 0).unwrap_or(&row.name);
            gate.add_failure(row, name, settings);
        }
    }
    match gate.rows.len() {
        0 => gate.with_outcome(Outcome::Pass, format!("no {word} kernel of that share")),
        1 => gate.with_outcome(Outcome::Fail, format!("1 {word} kernel")),
        count => gate.with_outcome(Outcome::Fail, format!("{count} {word} kernels")),
    }
}

/// `+5.00%`, or `+2.00 pp` for a difference of shares.
pub(crate) fn signed(change: f64, points: bool) -> String {
    let sign = if change > 0.0 { "+" } else { "" };
    let unit = if points { " pp" } else { "%" };
    format!("{sign}{}{unit}", cli::units::fixed(change * 100.0, 2))
}
