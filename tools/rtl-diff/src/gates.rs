//! The gates, and whether they hold.

use cli::Exit;
use rtl_analysis::compare::{Method, Reason};

use crate::args::Inconclusive;
use crate::comparison::{Change, Comparison, Row, Total};
use crate::settings::Settings;

/// The figure that a gate limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The recordings of both sides.
    Comparable,
    /// Any kernel.
    Kernel,
    /// Any kernel, over many past runs.
    Drift,
    /// GPU time of all kernels but collectives.
    Total,
    /// First start to last end.
    Wall,
    /// Idle share of wall.
    Idle,
    /// Kernel launches.
    Launches,
    /// New kernels.
    New,
    /// Removed kernels.
    Removed,
}

impl Rule {
    /// Its names in machine formats and for people.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Comparable => ("comparable", "recorded alike"),
            Self::Kernel => ("kernel", "any kernel"),
            Self::Drift => ("drift", "any kernel over the past runs"),
            Self::Total => ("total", "total GPU time"),
            Self::Wall => ("wall", "wall"),
            Self::Idle => ("idle", "idle part of wall"),
            Self::Launches => ("launches", "kernel launches"),
            Self::New => ("new", "new kernels"),
            Self::Removed => ("removed", "removed kernels"),
        }
    }

    /// Its name in machine formats.
    pub(crate) fn label(self) -> &'static str {
        self.names().0
    }

    /// Its name for people.
    pub(crate) fn title(self) -> &'static str {
        self.names().1
    }
}

/// The result of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// It holds.
    Pass,
    /// The data does not decide.
    Inconclusive,
    /// Nothing could be measured, which is never a pass.
    NotMeasured,
    /// It does not hold.
    Fail,
}

impl Outcome {
    /// Its name in every format.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::NotMeasured => "not-measured",
            Self::Fail => "fail",
        }
    }

    /// Its name in text, where a failure stands out.
    pub(crate) fn text(self) -> &'static str {
        if self == Self::Fail { "FAIL" } else { self.label() }
    }
}

/// One gate.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) rule: Rule,
    /// The largest change that passes, as a fraction; `None` for gates without a number.
    pub(crate) threshold: Option<f64>,
    pub(crate) outcome: Outcome,
    /// The measured change as a fraction, if the gate is about one figure.
    pub(crate) value: Option<f64>,
    /// The reason of the outcome.
    pub(crate) message: String,
    /// The kernels that fail it or that it cannot decide on: positions in [`Comparison::rows`].
    pub(crate) rows: Vec<usize>,
    /// Kernels that would have failed and are allowed to: position and reason.
    pub(crate) allowed: Vec<(usize, String)>,
}

/// The result of all gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All gates hold, or there is none.
    Pass,
    /// One does not hold.
    Fail,
    /// None fails, but one could not be decided or measured.
    Inconclusive,
}

impl Verdict {
    /// Its name in every format.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Evaluates all gates that are set, in a fixed order.
pub(crate) fn gates(comparison: &Comparison, settings: &Settings, require_comparable: bool) -> Vec<Gate> {
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

/// The result of all gates.
pub(crate) fn verdict(gates: &[Gate]) -> Verdict {
    match gates.iter().map(|gate| gate.outcome).max() {
        None | Some(Outcome::Pass) => Verdict::Pass,
        Some(Outcome::Fail)
            if gates.iter().any(|gate| gate.outcome == Outcome::Fail && gate.rule != Rule::Comparable) =>
        {
            Verdict::Fail
        }
        Some(_) => Verdict::Inconclusive,
    }
}

/// The exit code.
pub(crate) fn exit(gates: &[Gate], inconclusive: Inconclusive) -> Exit {
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

/// A gate that holds so far.
fn gate(rule: Rule, threshold: Option<f64>) -> Gate {
    let (outcome, message) = (Outcome::Pass, String::new());
    Gate { rule, threshold, outcome, value: None, message, rows: Vec::new(), allowed: Vec::new() }
}

impl Gate {
    fn ended(self, outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, message: message.into(), ..self }
    }

    /// Adds a kernel that fails, unless the settings allow it under this name.
    fn add_failure(&mut self, at: usize, name: &str, settings: &Settings) {
        match settings.allowance(name) {
            Some(reason) => self.allowed.push((at, reason)),
            None => self.rows.push(at),
        }
    }
}

fn comparable(comparison: &Comparison) -> Gate {
    let differences = comparison.differences.iter().map(|difference| difference.what.as_str());
    let differences: Vec<&str> =
        differences.chain(comparison.other_work.as_ref().map(|_| "amount of work")).collect();
    let gate = gate(Rule::Comparable, None);
    if differences.is_empty() {
        return gate.ended(Outcome::Pass, "no difference is known");
    }
    gate.ended(Outcome::Fail, format!("the sides differ in {}", differences.join(", ")))
}

fn gated(comparison: &Comparison) -> impl Iterator<Item = (usize, &Row)> {
    comparison.rows.iter().enumerate().filter(|(_, row)| row.is_gated())
}

fn kernel(comparison: &Comparison, settings: &Settings, threshold: f64) -> Gate {
    let mut gate = gate(Rule::Kernel, Some(threshold));
    let min_share = settings.rules.min_share;
    let (mut all, mut measured, mut large) = (0, 0, 0);
    let mut undecided = Vec::new();
    for (at, row) in gated(comparison) {
        let judgement = &row.judgement;
        let is_measured = judgement.method != Method::None;
        all += 1;
        measured += usize::from(is_measured);
        let is_small = matches!(judgement.reason, Reason::FewCalls | Reason::SmallShare);
        large += usize::from(is_measured && !is_small && row.share() >= min_share);
        if row.change == Change::Regressed {
            gate.add_failure(at, &row.name, settings);
        } else if judgement.reason == Reason::Straddles
            && judgement.ratio > 1.0 + judgement.threshold.value
            && row.share() >= min_share
        {
            undecided.push(at);
        }
    }
    let failed = gate.rows.len();
    let kernels = |count: usize| if count == 1 { "kernel" } else { "kernels" };
    if all == 0 {
        gate.ended(Outcome::NotMeasured, "no kernel of both sides can be gated")
    } else if measured == 0 {
        gate.ended(Outcome::Inconclusive, "one report per side does not say how much kernels vary")
    } else if failed > 0 {
        gate.ended(Outcome::Fail, format!("{failed} {} regressed", kernels(failed)))
    } else if large == 0 {
        let message = "no kernel reaches the least number of calls and the least share of GPU time";
        gate.ended(Outcome::NotMeasured, message)
    } else if !undecided.is_empty() {
        let count = undecided.len();
        gate.rows = undecided;
        let message = format!("{count} {} may be slower than allowed: more runs would tell", kernels(count));
        gate.ended(Outcome::Inconclusive, message)
    } else {
        let message =
            format!("{measured} {} compared, {large} of them large enough to fail", kernels(measured));
        gate.ended(Outcome::Pass, message)
    }
}

/// Finds a change that no threshold between two builds finds: ten builds, each slower by 1 %.
fn drift(comparison: &Comparison, settings: &Settings, threshold: f64) -> Gate {
    let mut gate = gate(Rule::Drift, Some(threshold));
    let mut measured = 0;
    for (at, row) in gated(comparison) {
        let Some(drift) = &row.drift else { continue };
        measured += 1;
        if drift.slower {
            gate.add_failure(at, &row.name, settings);
        }
    }
    if measured == 0 {
        return gate.ended(Outcome::NotMeasured, "too few runs to see drift: six at least");
    }
    let failed = gate.rows.len();
    let outcome = if failed > 0 { Outcome::Fail } else { Outcome::Pass };
    gate.ended(outcome, format!("{failed} of {measured} kernels became slower run by run"))
}

fn figure(rule: Rule, threshold: f64, total: &Total, comparison: &Comparison) -> Gate {
    let mut gate = gate(rule, Some(threshold));
    gate.value = total.change;
    let Some(change) = total.change else {
        return gate.ended(Outcome::NotMeasured, "one of the sides has nothing of it");
    };
    let depends_on_work = rule != Rule::Launches && rule != Rule::Idle;
    if let Some(reason) = comparison.other_work.as_ref().filter(|_| depends_on_work) {
        return gate.ended(Outcome::NotMeasured, reason.as_str());
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
    gate.ended(outcome, format!("{} ({bound_text})", text(change)))
}

/// A kernel that is paired only by a guess counts as new and removed until the settings pair it.
fn presence(rule: Rule, threshold: f64, comparison: &Comparison, settings: &Settings) -> Gate {
    let (side, change, word) =
        if rule == Rule::New { (1, Change::New, "new") } else { (0, Change::Removed, "removed") };
    let mut gate = gate(rule, Some(threshold));
    for (at, row) in comparison.rows.iter().enumerate() {
        if (row.change == change || row.change == Change::Renamed) && row.shares[side] >= threshold {
            let name = row.former.as_ref().filter(|_| side == 0).unwrap_or(&row.name);
            gate.add_failure(at, name, settings);
        }
    }
    match gate.rows.len() {
        0 => gate.ended(Outcome::Pass, format!("no {word} kernel of that share")),
        1 => gate.ended(Outcome::Fail, format!("1 {word} kernel")),
        count => gate.ended(Outcome::Fail, format!("{count} {word} kernels")),
    }
}

/// `+5.00%`, or `+2.00 pp` for a difference of shares.
pub(crate) fn signed(change: f64, points: bool) -> String {
    let sign = if change > 0.0 { "+" } else { "" };
    let unit = if points { " pp" } else { "%" };
    format!("{sign}{}{unit}", cli::units::fixed(change * 100.0, 2))
}
