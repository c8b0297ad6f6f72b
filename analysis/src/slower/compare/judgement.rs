//! The judgement of one kernel.

use serde::{Deserialize, Serialize};

/// [`Judgement::runs_to_decide`] looks no further.
pub const MAX_RUNS: usize = 100;

/// The verdict on a kernel that both sides ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// Slower than the threshold allows, beyond doubt.
    #[serde(rename = "slower")]
    Slower,
    /// Slower beyond doubt, but by no more than the threshold or a floor allows: see [`Reason`].
    #[serde(rename = "slower within the allowance")]
    SlowerAllowed,
    /// The candidate is faster beyond doubt.
    #[serde(rename = "faster")]
    Faster,
    /// No change beyond doubt, and none larger than the threshold.
    #[serde(rename = "unchanged")]
    Unchanged,
    /// The data does not decide: see [`Reason`].
    #[serde(rename = "undecided")]
    Undecided,
}

/// The reason of the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The whole interval lies beyond the threshold.
    BeyondThreshold,
    /// The whole interval lies within the threshold.
    WithinThreshold,
    /// The whole interval is less than the least change per call that counts.
    TooLittlePerCall,
    /// The interval reaches over the threshold.
    Straddles,
    /// Beyond the threshold, but no farther than runs of one build differ.
    WithinNoise,
    /// Beyond the threshold, but fewer ns a call than counts.
    SmallChange,
    /// Beyond the threshold, but too small a part of the GPU time.
    SmallShare,
    /// Beyond the threshold, but too few calls.
    FewCalls,
    /// One saved report per side: nothing says how much it varies.
    OneReport,
    /// A side has no call.
    NoCalls,
}

/// Where the uncertainty comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// Several runs (or calibration runs) show how runs differ.
    #[serde(rename = "between runs")]
    BetweenRuns,
    /// One run per side: only how calls within it differ.
    #[serde(rename = "within-run only")]
    WithinRunOnly,
    /// The interval is unknown, because the data are too few.
    #[serde(rename = "no uncertainty known")]
    None,
}

/// The origin of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSource {
    /// The user, or the default.
    #[serde(rename = "asked")]
    Requested,
    /// The measured noise of runs of one build.
    NoiseFloor,
    /// One run per side and no calibration.
    SingleRun,
}

/// The slowdown that is tolerated for one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// As a fraction: 0.05 for +5 %.
    pub value: f64,
    /// Why it is this one.
    pub source: ThresholdSource,
}

/// A kernel on one side. Over several runs times are medians of the runs' values, `min_ns` is the shortest of all.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Side {
    /// In how many runs it ran.
    pub runs: usize,
    /// How often, all runs together.
    pub calls: u64,
    /// How long, all runs together, in ns.
    pub total_ns: i64,
    /// The geometric mean over runs of the 10 %-trimmed mean in ns.
    pub trimmed_mean_ns: f64,
    /// Median duration in ns.
    pub median_ns: i64,
    /// The 95th percentile in ns.
    pub p95_ns: i64,
    /// The shortest in ns.
    pub min_ns: i64,
}

/// Bounds of a ratio, candidate over baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound of the relative change.
    #[serde(rename = "ci_low")]
    pub low: f64,
    /// Upper bound of the relative change.
    #[serde(rename = "ci_high")]
    pub high: f64,
}

/// The drift from the oldest run to the newest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// From how many runs.
    pub runs: usize,
    /// The newest over the oldest, by the slope: 1.06 for +6 %.
    pub ratio: f64,
    /// Confidence interval of the change.
    #[serde(flatten)]
    pub interval: Interval,
    /// How rarely runs in random order look so sorted (Mann-Kendall, two-sided).
    pub p: f64,
    /// Slower by more than the threshold beyond doubt, with all kernels looked at together.
    pub slower: bool,
}

/// The judgement of one kernel that both sides ran. All numbers are finite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The verdict on the pair.
    pub status: Status,
    /// The rule that led to the verdict.
    pub reason: Reason,
    /// Trimmed mean of the candidate over that of the baseline, at equal mix of launch shapes ([`super::mix`]).
    pub ratio: f64,
    /// Contains the true ratio as often as [`super::Rules::confidence`] says, for this kernel alone.
    /// `None` where nothing is known.
    pub interval: Option<Interval>,
    /// Wider bounds, for all kernels looked at together: a verdict needs them to leave out 1.
    pub joint: Option<Interval>,
    /// Figures of the baseline.
    pub baseline: Side,
    /// Figures of the candidate.
    pub candidate: Side,
    /// Change of the trimmed mean in ns a call, at equal mix of launch shapes.
    pub change_ns: f64,
    /// Mann-Whitney, two-sided: between runs, or between stretches of the one run. Shown, never required.
    pub p: f64,
    /// `p` after Benjamini and Hochberg over all kernels judged together. Shown, never required.
    pub q: f64,
    /// The smallest true slowdown (0.03 for +3 %) that this comparison finds as often as
    /// [`super::Rules::power`] says. `None` where it would find none, however large.
    pub detectable: Option<f64>,
    /// How many runs a side decide an undecided kernel, if it is as slow and runs differ as much as they do so far. `None`
    /// where it is decided, where runs do not show how they differ, and where [`MAX_RUNS`] are too few.
    pub runs_to_decide: Option<usize>,
    /// Where the uncertainty comes from.
    pub method: Method,
    /// The tolerated slowdown and its source.
    pub threshold: Threshold,
    /// The drift over past runs, with the candidate's runs as the newest: only of [`super::history::judge_history`], and
    /// of six runs or more.
    pub drift: Option<Drift>,
}
