use serde::{Deserialize, Serialize};

use super::evidence::Evidence;

/// From this part of what should be there, its absence makes a trace bad.
const MUCH: f64 = 0.1;

/// The verdict on a trace, and what a reason makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Use it: every figure holds. A reason of this weight is a remark.
    #[default]
    Good,
    /// The figures that the reasons name do not hold, all others do.
    Limited,
    /// Do not use it: the figures do not describe the run.
    Bad,
}

impl Trust {
    /// The word for it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Limited => "limited",
            Self::Bad => "bad",
        }
    }

    /// Trust in a trace that lacks this part, 0 to 1.
    fn of_missing(share: f64) -> Self {
        if share < MUCH { Self::Limited } else { Self::Bad }
    }
}

/// Why a trace is less than good, or a remark.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reason {
    /// The stable name of the rule.
    pub id: String,
    /// Verdict that it leads to.
    pub trust: Trust,
    /// States what is wrong, with its numbers.
    pub sentence: String,
    /// How many rows, launches, steps or ns are concerned.
    pub count: u64,
    /// The number of all rows of the kind; 0 where that is unknown.
    pub of: u64,
    /// `count / of`, 0 to 1.
    pub share: f64,
    /// The figures that do not hold, in words: of a reason that makes a trace limited.
    #[serde(default)]
    pub affects: String,
    /// The first few places.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// The position of the trace among several, in a report on all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<usize>,
}

impl Reason {
    /// A reason that concerns `count` of `of`; its weight is for the rule to set.
    pub(super) fn new(id: &str, count: u64, of: u64, sentence: String) -> Self {
        let share = if of == 0 { 0.0 } else { count as f64 / of as f64 };
        Self { id: id.to_owned(), trust: Trust::Limited, sentence, count, of, share, ..Self::default() }
    }

    /// The reason with the figures that do not hold because of it.
    pub(super) fn with_affected(self) -> Self {
        let affects = if self.trust == Trust::Limited { affected(&self.id) } else { "" };
        Self { affects: affects.to_owned(), ..self }
    }

    /// A reason whose weight follows from how much is missing.
    pub(super) fn missing(id: &str, count: u64, of: u64, sentence: String) -> Self {
        let reason = Self::new(id, count, of, sentence);
        Self { trust: Trust::of_missing(reason.share), ..reason }
    }

    /// A remark unless at least this part is concerned.
    pub(super) fn remark_below(self, least: f64) -> Self {
        let trust = if self.share < least { Trust::Good } else { self.trust };
        Self { trust, ..self }
    }
}

/// The figures that do not hold in a trace that is limited by this rule.
fn affected(rule: &str) -> &'static str {
    match rule {
        "no-gpu-events" => "any figure of GPUs",
        "graphs-incomplete" | "steps-incomplete" | "kernels-missing" | "lost-records" | "lite-mode" => {
            "totals, counts, busy and idle time"
        }
        "sampled" => "totals, counts, busy and idle time, and its causes",
        "holes" => "busy and idle time, and its causes",
        "gpu-without-kernels" => "busy and idle time of these GPUs",
        "duplicates" => "totals and counts",
        "cut-off" => "totals and counts of the whole run",
        "overlaps" => "totals of kernels, which exceed the busy time",
        "window-start" => "figures by step, range and launch",
        "stray-ops" => "totals and counts to the last op",
        "gpu-before-launch" => "launch latency, queue depth and causes of idle time",
        "clocks-apart" => "the time of the whole trace, launch latency, queue depth and causes of idle time",
        "counters" => "busy and idle time, overlap and launch latency",
        "copies-missing" => "copies, busy and idle time",
        "profiler-cost" => "idle time, steps and times of the host",
        _ => "",
    }
}
