//! The versioned report `rtl-summary/1`.
//!
//! rtl-summary and `rtl-merge --to summary` write these types as JSON, which rtl-diff reads, and
//! `docs/reference/rtl-summary.schema.json` describes them; a test of rtl-summary compares the two. Times are integer
//! nanoseconds of the trace's own clock; means and shares are floating point. Within version 1 fields are only
//! added, so a reader ignores unknown fields. The order of fields is the order of the JSON keys.

mod row;

use rtl_analysis::Stats;
use rtl_analysis::api::{ApiGroup, UnfinishedCall};
use rtl_analysis::copies::CopyGroup;
use rtl_analysis::facts::Fact;
use rtl_analysis::findings::{Finding, Headline};
use rtl_analysis::idle::GpuIdle;
use rtl_analysis::launches::{Latency, Queues};
use rtl_analysis::memory::DeviceMemory;
use rtl_analysis::operators::OperatorReport;
use rtl_analysis::overview::{ProcessInfo, TraceOverview};
use rtl_analysis::ranges::RangeReport;
use rtl_analysis::ranks::Ranks;
use rtl_analysis::region::Region;
use rtl_analysis::sanity::Sanity;
use rtl_analysis::sweep::{Gap, Gpu, GpuGaps};
use rtl_analysis::trust::{Reason, Trust};
use rtl_analysis::unfinished::UnfinishedDispatch;
use serde::{Deserialize, Serialize};

pub use self::row::{GpuRow, Row, Transfers, Work};

pub const SCHEMA: &str = "rtl-summary/1";

/// A whole report. With several inputs `sections` covers all of them and `reports` has one entry for each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    pub schema: String,
    /// The version of the program that wrote the report.
    pub tool_version: String,
    /// The traces, in the order of the command line.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Names of fields whose figures are not exact.
    #[serde(default)]
    pub approximate: Vec<String>,
    /// The sections about all inputs.
    #[serde(flatten)]
    pub sections: Sections,
    /// The sections about each input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Sections>,
}

/// One trace. `I` is [`TraceOverview`], or [`StreamedInfo`] in a report of `rtl-merge --to summary`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Input<I = TraceOverview> {
    /// The path as given.
    #[serde(default)]
    pub path: String,
    #[serde(flatten)]
    pub info: Option<I>,
    #[serde(default)]
    pub region: Region,
    /// The run of which the trace is a part (`run_id`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The properties in which two comparable runs agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Vec<Fact>>,
    /// The metadata as stored, with `--info`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<Tag>,
}

/// The part of [`TraceOverview`] that needs no rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StreamedInfo {
    pub dialect: String,
    pub tool: String,
    /// The version of the recording tool.
    pub tool_version: Option<String>,
    pub mode: Option<String>,
    pub processes: Vec<ProcessInfo>,
    /// The distinct ranks in ascending order.
    pub ranks: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub tag: String,
    pub value: String,
}

/// The sections of a report; `None` for a section that was not requested.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sections {
    /// The position in [`Document::inputs`] of the trace that the sections are about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<usize>,
    /// The verdict is about the whole trace, whatever the region of interest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The reasons of a limited or bad verdict, and remarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust_reasons: Option<Vec<Reason>>,
    /// The time of the GPUs in few figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<Headline>,
    /// The finding that costs most is first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<Finding>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<Vec<Row>>,
    /// The `--by` of `groups`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Dispatches grouped by another key than the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Row>>,
    /// Dispatches that had not completed, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_dispatches: Option<Vec<UnfinishedDispatch>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<Row>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<Vec<GpuRow>>,
    /// Gaps of GPUs by length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Vec<GpuGaps>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_gaps: Option<Vec<Gap>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Vec<GpuIdle>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<Vec<CopyGroup>>,
    /// API calls by function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<Vec<ApiGroup>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Vec<DeviceMemory>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operators: Option<OperatorReport>,
    /// API calls that had not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_calls: Option<Vec<UnfinishedCall>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches: Option<Latency>,
    /// Queue depth and reasons of idle time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<Queues>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<RangeReport>,
    /// Ranks, collectives and imbalance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sanity: Option<Sanity>,
}

/// The sections that `rtl-merge --to summary` writes for each rank of each trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankReport {
    /// The position of the trace in [`Document::inputs`].
    pub input: usize,
    pub rank: Option<u32>,
    /// The kernel with the largest total is first.
    pub kernels: Vec<Row>,
    /// GPUs that the rank used, by their numbers in the trace.
    pub gpus: Vec<Gpu>,
}

/// Sum of the squares of the durations behind `stats`, in ns^2.
pub fn squares_ns2(stats: &Stats) -> f64 {
    let calls = stats.calls as f64;
    stats.stddev_ns * stats.stddev_ns * (calls - 1.0).max(0.0) + calls * stats.mean_ns * stats.mean_ns
}
