//! Is the candidate slower than the baseline, kernel by kernel, and how sure is that?
//!
//! Numbers in, judgements out. [`Run::of`] turns the durations of one kernel in one run into a small
//! summary, [`judge`] compares summaries of both sides, [`Noise::calibrate`] learns from repeated runs of one build
//! what differs by itself, [`history::judge_history`] looks along many past runs, [`mix::normalise`] compares launch shapes with
//! their like. What it is not: it opens nothing, matches no names and knows no gate but the one on kernels. The same
//! input gives the same result, whatever the order of kernels; no result is NaN or infinite.
//!
//! The method and the evidence for it: `docs/design/statistics.md`.
//!
//! Ratios are candidate over baseline of 10 %-trimmed means; inside, all arithmetic is on their natural logarithms,
//! where a ratio of means is a difference and noise is additive.

pub mod bootstrap;
pub mod distributions;
mod family;
pub mod history;
mod judgement;
pub mod noise;
mod pair;
pub mod ranks;
mod rules;
pub mod spread;
mod uncertainty;
mod verdict;

pub use judgement::{
    Drift, Interval, Judgement, MAX_RUNS, Method, Reason, Side, Status, Threshold, ThresholdSource,
};
pub use noise::Noise;
pub use pair::KernelPair;
pub use rules::Rules;
pub use verdict::judge;

pub use crate::base::random;
pub use crate::slower::run::{Run, SharedSlice, mix, trimmed};
