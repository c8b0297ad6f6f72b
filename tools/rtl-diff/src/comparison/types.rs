//! The result of a comparison. Field names of serialised types are those of `rtl-diff/1`.

use std::cmp::Reverse;
use std::path::PathBuf;

use rtl_analysis::compare::{Drift, Method as Uncertainty, Reason, Side, ThresholdSource};
use rtl_analysis::decomposition::WallDecomposition;
use rtl_analysis::identity::Method;
use serde::{Serialize, Serializer};

use super::sides::Sides;
use super::work::WorkComparison;
use crate::args::By;
use crate::input::Steps;

#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) by: By,
    /// The files of each run of the baseline; empty if there is no baseline yet.
    pub(crate) baseline: Vec<Vec<PathBuf>>,
    pub(crate) candidate: Vec<Vec<PathBuf>>,
    /// All kernels of either side, in order of [`Row::sort_key`].
    pub(crate) rows: Vec<Row>,
    pub(crate) rename_candidates: Vec<RenameCandidates>,
    pub(crate) totals: Totals,
    /// The change of wall between two typical runs.
    pub(crate) decomposition: WallDecomposition,
    /// The run with the median wall of each side; `None` without a baseline.
    pub(crate) typical: Option<[usize; 2]>,
    /// Differences in hardware, versions, modes and launches.
    pub(crate) differences: Vec<Difference>,
    pub(crate) notes: Vec<String>,
    /// Set if the sides did different amounts of work, so that totals cannot be compared.
    pub(crate) other_work: Option<String>,
    /// Set if the sides cannot be compared at all, or are not compared because they are not comparable.
    pub(crate) incomparable: Option<String>,
    /// True if `--allow incomparable` would compare the sides.
    pub(crate) is_refused: bool,
    /// The complete steps of each run of each side, where the run has steps.
    pub(crate) steps: [Vec<Option<Steps>>; 2],
    /// The work that is compared in place of kernels.
    pub(crate) work: Option<WorkComparison>,
}

/// A family of kernels with several removed and several new ones, too many to pair them.
#[derive(Debug, Serialize)]
pub(crate) struct RenameCandidates {
    pub(crate) name: String,
    pub(crate) removed: usize,
    pub(crate) new: usize,
}

/// A property in which the sides differ.
#[derive(Debug, Serialize)]
pub(crate) struct Difference {
    pub(crate) what: String,
    /// The value in the baseline; `unknown` if the traces do not state it.
    pub(crate) baseline: String,
    pub(crate) candidate: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Total {
    /// The mean over the runs of the baseline.
    pub(crate) baseline: f64,
    /// The mean over the runs of the candidate.
    pub(crate) candidate: f64,
    /// The change: relative (0.05 for +5 %), or in points if the figure is itself a share. `None` if one side is empty
    /// or 0.
    pub(crate) change: Option<f64>,
    /// The lower bound of the change, if several runs show how much it varies.
    pub(crate) change_at_least: Option<f64>,
}

/// The figures of one run, on average.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Totals {
    /// The GPU time of all kernels but collectives.
    pub(crate) kernel_ns: Total,
    /// The wall is summed over GPUs.
    pub(crate) wall_ns: Total,
    /// The idle time as a share of wall.
    pub(crate) idle_share: Total,
    pub(crate) launches: Total,
}

/// A collective on one side, all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Waits {
    /// The number of matched collectives, each of which is a call of several ranks.
    pub(crate) collectives: u64,
    /// The number of calls that matched collectives consist of.
    pub(crate) calls: u64,
    pub(crate) transfer_ns: i64,
    pub(crate) wait_ns: i64,
}

impl Waits {
    pub(crate) fn mean_wait_ns(&self) -> f64 {
        self.wait_ns as f64 / self.calls.max(1) as f64
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Change {
    /// The kernel is slower than is allowed, beyond doubt.
    Slower,
    /// The kernel is slower beyond doubt, by no more than is allowed.
    SlowerAllowed,
    Faster,
    /// Only the candidate has the kernel.
    New,
    /// Only the baseline has the kernel.
    Removed,
    /// The kernel is paired with another name by a guess.
    Renamed,
    /// The data does not decide.
    Undecided,
    /// The kernel is neither slower nor faster.
    Unchanged,
}

impl Change {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::SlowerAllowed => "slower within the allowance",
            Self::Faster => "faster",
            Self::New => "new",
            Self::Removed => "removed",
            Self::Renamed => "renamed?",
            Self::Undecided => "undecided",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.label())
    }
}

/// The method that paired two names.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Pairing {
    pub(crate) method: Method,
    /// The certainty of the pair, 0 to 1.
    pub(crate) score: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// The name in the candidate; in the baseline if it is removed.
    pub(crate) name: String,
    /// The name in the baseline, if different.
    pub(crate) former: Option<String>,
    /// The launch shape, if it distinguishes kernels.
    pub(crate) launch: Option<String>,
    #[serde(rename = "status")]
    pub(crate) change: Change,
    pub(crate) reason: Reason,
    pub(crate) collective: bool,
    /// Waits on both sides, if the ranks of a collective were matched. Then the rest of the row is about transfers, and
    /// gated. Other collectives are shown and never gated.
    pub(crate) waits: Option<Sides<Waits>>,
    /// The candidate over the baseline. This, `p` and `q` are known if both sides have the kernel.
    pub(crate) ratio: Option<f64>,
    /// The bounds of `ratio`, if anything is known of its uncertainty.
    pub(crate) ci_low: Option<f64>,
    pub(crate) ci_high: Option<f64>,
    pub(crate) p: Option<f64>,
    pub(crate) q: Option<f64>,
    pub(crate) uncertainty: Uncertainty,
    /// The tolerated slowdown as a fraction.
    pub(crate) threshold: f64,
    pub(crate) threshold_source: ThresholdSource,
    /// The smallest slowdown that the comparison would find.
    pub(crate) detectable: Option<f64>,
    /// The number of runs a side that would decide an undecided kernel.
    pub(crate) runs_to_decide: Option<usize>,
    /// The share of the GPU time, on the side where that is larger.
    pub(crate) share: f64,
    /// The change of the kernel's time in a run, averaged over runs, in ns.
    pub(crate) change_ns: f64,
    /// The calls on each side that has the kernel.
    #[serde(flatten)]
    pub(crate) sides: Sides<Option<Side>>,
    pub(crate) pairing: Option<Pairing>,
    /// The trend over many past runs.
    pub(crate) drift: Option<Drift>,
    /// The share of the GPU time on each side.
    #[serde(skip)]
    pub(crate) shares: [f64; 2],
    /// True if share and calls are large enough for the kernel to count.
    #[serde(skip)]
    pub(crate) is_large: bool,
}

impl Row {
    pub(crate) fn label(&self) -> String {
        crate::input::label(&self.name, self.launch.as_deref())
    }

    /// The baseline and the candidate; without calls where a side lacks the kernel.
    pub(crate) fn sides(&self) -> [Side; 2] {
        [self.sides.baseline, self.sides.candidate].map(Option::unwrap_or_default)
    }

    /// Returns true if the change is beyond doubt, or the kernel is new, removed or renamed.
    pub(crate) fn has_changed(&self) -> bool {
        !matches!(self.change, Change::Undecided | Change::Unchanged)
    }

    /// Returns true if the kernel gate applies to the row.
    pub(crate) fn is_gated(&self) -> bool {
        (!self.collective || self.waits.is_some())
            && !matches!(self.change, Change::New | Change::Removed | Change::Renamed)
    }

    /// The order of the report: slower kernels, then other changes, each by time.
    pub(crate) fn sort_key(&self) -> (Change, Reverse<i64>, &str, Option<&str>) {
        (self.change, Reverse(self.change_ns.abs() as i64), &self.name, self.launch.as_deref())
    }
}
