//! What must hold, and whether it does.

use cli::Exit;
use rtl_analysis::compare::{Method, Reason};

use crate::args::Inconclusive;
use crate::comparison::{Change, Comparison, Total};
use crate::settings::Settings;

/// What a gate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The two sides were recorded alike.
    Comparable,
    /// Any kernel.
    Kernel,
    /// Any kernel, over many past runs.
    Drift,
    /// GPU time of all kernels but collectives.
    Total,
    /// First start to last end.
    Wall,
    /// Idle part of wall.
    Idle,
    /// Kernel launches.
    Launches,
    /// New kernels.
    New,
    /// Removed kernels.
    Removed,
}

impl Rule {
    /// The word of machine formats.
    pub fn label(self) -> &'static str {
        match self {
            Self::Comparable => "comparable",
            Self::Kernel => "kernel",
            Self::Drift => "drift",
            Self::Total => "total",
            Self::Wall => "wall",
            Self::Idle => "idle",
            Self::Launches => "launches",
            Self::New => "new",
            Self::Removed => "removed",
        }
    }

    /// The words of people.
    pub fn title(self) -> &'static str {
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

/// How a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It holds.
    Pass,
    /// The data does not decide.
    Inconclusive,
    /// There was nothing to measure: never a pass.
    NotMeasured,
    /// It does not hold.
    Fail,
}

impl Outcome {
    /// The word of every format.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::NotMeasured => "not-measured",
            Self::Fail => "fail",
        }
    }
}

/// One gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// What it looks at.
    pub rule: Rule,
    /// What is tolerated, as a fraction; `None` for gates without a number.
    pub threshold: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// What was measured, as a fraction, where it is one figure.
    pub value: Option<f64>,
    /// Why, in a sentence.
    pub message: String,
    /// The kernels that made it fail, or that it cannot decide on: positions in [`Comparison::rows`].
    pub rows: Vec<usize>,
    /// Kernels that would have failed and are allowed to: position and reason.
    pub allowed: Vec<(usize, String)>,
}

/// The answer in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// All gates hold, or none was asked for.
    Pass,
    /// One does not hold.
    Fail,
    /// None fails, but one could not be decided or measured.
    Inconclusive,
}

impl Verdict {
    /// The word of every format.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// Asks all gates that are set, in a fixed order.
pub fn gates(comparison: &Comparison, settings: &Settings, require_comparable: bool) -> Vec<Gate> {
    let asked = &settings.gates;
    let totals = &comparison.totals;
    let mut gates = Vec::new();
    if require_comparable {
        gates.push(comparable(comparison));
    }
    if let Some(threshold) = asked.kernel {
        gates.push(kernel(comparison, settings, threshold));
        if settings.history {
            gates.push(drift(comparison, settings, threshold));
        }
    }
    for (rule, threshold, total) in [
        (Rule::Total, asked.total, &totals.kernels),
        (Rule::Wall, asked.wall, &totals.wall),
        (Rule::Idle, asked.idle, &totals.idle),
        (Rule::Launches, asked.launches, &totals.launches),
    ] {
        if let Some(threshold) = threshold {
            gates.push(figure(rule, threshold, total, comparison));
        }
    }
    for (rule, threshold) in [(Rule::New, asked.new), (Rule::Removed, asked.removed)] {
        if let Some(threshold) = threshold {
            gates.push(presence(rule, threshold, comparison, settings));
        }
    }
    if let Some(why) = &comparison.incomparable {
        for gate in &mut gates {
            gate.outcome = Outcome::NotMeasured;
            gate.message.clone_from(why);
        }
    }
    gates
}

/// The verdict over all gates.
pub fn verdict(gates: &[Gate]) -> Verdict {
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

/// How the program ends.
pub fn exit(gates: &[Gate], inconclusive: Inconclusive) -> Exit {
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

fn gate(rule: Rule, threshold: Option<f64>, outcome: Outcome, message: String) -> Gate {
    Gate { rule, threshold, outcome, value: None, message, rows: Vec::new(), allowed: Vec::new() }
}

fn comparable(comparison: &Comparison) -> Gate {
    let mut differences: Vec<&str> =
        comparison.differences.iter().map(|difference| difference.what.as_str()).collect();
    differences.extend(comparison.other_work.as_ref().map(|_| "amount of work"));
    if differences.is_empty() {
        return gate(Rule::Comparable, None, Outcome::Pass, "no difference is known".to_owned());
    }
    gate(Rule::Comparable, None, Outcome::Fail, format!("the sides differ in {}", differences.join(", ")))
}

fn kernel(comparison: &Comparison, settings: &Settings, threshold: f64) -> Gate {
    let rows = || comparison.rows.iter().enumerate().filter(|(_, row)| row.is_gated());
    let measured = rows().filter(|(_, row)| row.judgement.method != Method::None).count();
    let mut gate = gate(Rule::Kernel, Some(threshold), Outcome::Pass, String::new());
    if rows().next().is_none() {
        gate.outcome = Outcome::NotMeasured;
        gate.message = "no kernel of both sides can be gated".to_owned();
        return gate;
    }
    if measured == 0 {
        gate.outcome = Outcome::Inconclusive;
        gate.message = "one report per side does not say how much kernels vary".to_owned();
        return gate;
    }
    let counting = rows().filter(|(_, row)| {
        row.judgement.method != Method::None
            && !matches!(row.judgement.reason, Reason::FewCalls | Reason::SmallShare)
            && row.share >= settings.rules.min_share
    });
    let counting = counting.count();
    let mut undecided = Vec::new();
    for (at, row) in rows() {
        let judgement = &row.judgement;
        if row.change == Change::Regressed {
            match settings.allowance(&row.name) {
                Some(allowance) => gate.allowed.push((at, allowance.words())),
                None => gate.rows.push(at),
            }
        } else if judgement.reason == Reason::Straddles
            && judgement.ratio > 1.0 + judgement.threshold.value
            && row.share >= settings.rules.min_share
        {
            undecided.push(at);
        }
    }
    let kernels = |count: usize| if count == 1 { "kernel".to_owned() } else { "kernels".to_owned() };
    if !gate.rows.is_empty() {
        gate.outcome = Outcome::Fail;
        gate.message = format!("{} {} regressed", gate.rows.len(), kernels(gate.rows.len()));
    } else if counting == 0 {
        gate.outcome = Outcome::NotMeasured;
        gate.message =
            "no kernel reaches the least number of calls and the least share of GPU time".to_owned();
    } else if !undecided.is_empty() {
        gate.outcome = Outcome::Inconclusive;
        let count = undecided.len();
        gate.message = format!("{count} {} may be slower than allowed: more runs would tell", kernels(count));
        gate.rows = undecided;
    } else {
        gate.message =
            format!("{measured} {} compared, {counting} of them large enough to fail", kernels(measured));
    }
    gate
}

/// What no threshold between two builds sees: ten builds that are 1 % slower each.
fn drift(comparison: &Comparison, settings: &Settings, threshold: f64) -> Gate {
    let mut gate = gate(Rule::Drift, Some(threshold), Outcome::Pass, String::new());
    let mut measured = 0;
    for (at, row) in comparison.rows.iter().enumerate().filter(|(_, row)| row.is_gated()) {
        let Some(drift) = &row.drift else { continue };
        measured += 1;
        if drift.slower {
            match settings.allowance(&row.name) {
                Some(allowance) => gate.allowed.push((at, allowance.words())),
                None => gate.rows.push(at),
            }
        }
    }
    gate.message = format!("{} of {measured} kernels became slower run by run", gate.rows.len());
    if !gate.rows.is_empty() {
        gate.outcome = Outcome::Fail;
    } else if measured == 0 {
        gate.outcome = Outcome::NotMeasured;
        gate.message = "too few runs to see drift: six at least".to_owned();
    }
    gate
}

fn figure(rule: Rule, threshold: f64, total: &Total, comparison: &Comparison) -> Gate {
    let mut gate = gate(rule, Some(threshold), Outcome::Pass, String::new());
    gate.value = total.change;
    let Some(change) = total.change else {
        gate.outcome = Outcome::NotMeasured;
        gate.message = "one of the sides has nothing of it".to_owned();
        return gate;
    };
    if let Some(why) = comparison.other_work.as_ref().filter(|_| rule != Rule::Launches && rule != Rule::Idle)
    {
        gate.outcome = Outcome::NotMeasured;
        gate.message.clone_from(why);
        return gate;
    }
    let unit = |value: f64| signed(value, rule == Rule::Idle);
    let bound = total
        .at_least
        .map_or_else(|| "one run per side".to_owned(), |bound| format!("at least {}", unit(bound)));
    gate.message = format!("{} ({bound})", unit(change));
    gate.outcome = if change <= threshold {
        Outcome::Pass
    } else if total.at_least.is_none_or(|bound| bound > threshold) {
        Outcome::Fail
    } else {
        Outcome::Inconclusive
    };
    gate
}

/// Before any pairing by guess: a kernel that may only be renamed is new all the same until the settings say so.
fn presence(rule: Rule, threshold: f64, comparison: &Comparison, settings: &Settings) -> Gate {
    let (side, own) = if rule == Rule::New { (1, Change::New) } else { (0, Change::Removed) };
    let mut gate = gate(rule, Some(threshold), Outcome::Pass, String::new());
    for (at, row) in comparison.rows.iter().enumerate() {
        let concerned = row.change == own || row.change == Change::Renamed;
        if !concerned || row.shares[side] < threshold {
            continue;
        }
        let name = if side == 0 { row.former.as_ref().unwrap_or(&row.name) } else { &row.name };
        match settings.allowance(name) {
            Some(allowance) => gate.allowed.push((at, allowance.words())),
            None => gate.rows.push(at),
        }
    }
    let word = if side == 0 { "removed" } else { "new" };
    gate.message = match gate.rows.len() {
        0 => format!("no {word} kernel of that share"),
        1 => format!("1 {word} kernel"),
        count => format!("{count} {word} kernels"),
    };
    if !gate.rows.is_empty() {
        gate.outcome = Outcome::Fail;
    }
    gate
}

/// `+5.00%`, or `+2.00 pp` for a difference of shares.
pub fn signed(change: f64, points: bool) -> String {
    let sign = if change > 0.0 { "+" } else { "" };
    let unit = if points { " pp" } else { "%" };
    format!("{sign}{}{unit}", cli::units::fixed(change * 100.0, 2))
}
