//! The versioned shape of an answer, `rtl-summary/1`: what scripts and other tools of the suite rely on.
//! `docs/rtl-summary.schema.json` describes it and a test holds the two together. Times are integer
//! nanoseconds of the trace's own clock; means and shares are floating point.

use analysis::about::About;
use analysis::api::ApiGroup;
use analysis::copies::CopyGroup;
use analysis::kernels::Group;
use analysis::ranges::RangeReport;
use analysis::region::Region;
use analysis::sanity::Sanity;
use analysis::sweep::{Gap, Gpu, GpuGaps};
use analysis::{Report, Stats};
use serde::Serialize;

use crate::answer::Answer;
use crate::args::By;

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-summary/1";

/// One answer. With several inputs the body is about all of them and `reports` has one for each.
#[derive(Debug, Clone, Serialize)]
pub struct Document<'a> {
    schema: &'static str,
    tool_version: &'static str,
    inputs: Vec<Input<'a>>,
    /// Figures that are not exact, by field name. Every figure is exact so far.
    approximate: Vec<&'static str>,
    #[serde(flatten)]
    body: Body<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reports: Vec<Body<'a>>,
}

/// What one input is.
#[derive(Debug, Clone, Serialize)]
struct Input<'a> {
    path: String,
    #[serde(flatten)]
    about: Option<&'a About>,
    region: &'a Region,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata: Vec<Pair<'a>>,
}

/// What a file says about itself.
#[derive(Debug, Clone, Serialize)]
struct Pair<'a> {
    tag: &'a str,
    value: &'a str,
}

/// The sections that were asked for.
#[derive(Debug, Clone, Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernels: Option<Vec<Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Row<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpus: Option<&'a [Gpu]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<&'a [GpuGaps]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_gaps: Option<&'a [Gap]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<&'a [CopyGroup]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'a [ApiGroup]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<&'a RangeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sanity: Option<&'a Sanity>,
}

/// A kernel, or whatever the main table is grouped by.
#[derive(Debug, Clone, Serialize)]
struct Row<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    #[serde(flatten)]
    stats: &'a Stats,
    share: f64,
    cumulative_share: f64,
    zero_calls: u64,
}

impl<'a> Document<'a> {
    /// The document of `answers`; `combined` is the one about all of them. `rows` cuts the long tables.
    pub fn of(
        answers: &'a [Answer],
        combined: Option<&'a Answer>,
        by: Option<By>,
        rows: impl Fn(usize) -> usize,
    ) -> Self {
        let main = combined.or(answers.first());
        let body = |answer: &'a Answer, input| Body::of(answer, input, by, &rows);
        let reports = answers.iter().enumerate().filter(|_| combined.is_some());
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            inputs: answers.iter().map(Input::of).collect(),
            approximate: Vec::new(),
            body: main.map_or_else(Body::empty, |answer| body(answer, None)),
            reports: reports.map(|(input, answer)| body(answer, Some(input))).collect(),
        }
    }
}

impl<'a> Input<'a> {
    fn of(answer: &'a Answer) -> Self {
        Self {
            path: answer.path.as_ref().map(|path| path.display().to_string()).unwrap_or_default(),
            about: answer.report.about.as_ref(),
            region: &answer.region,
            metadata: answer.metadata.iter().map(|(tag, value)| Pair { tag, value }).collect(),
        }
    }
}

impl<'a> Body<'a> {
    fn empty() -> Self {
        Self {
            input: None,
            kernels: None,
            by: None,
            groups: None,
            categories: None,
            gpus: None,
            gaps: None,
            longest_gaps: None,
            copies: None,
            api: None,
            ranges: None,
            sanity: None,
        }
    }

    fn of(answer: &'a Answer, input: Option<usize>, by: Option<By>, rows: &impl Fn(usize) -> usize) -> Self {
        let Report { kernels, gpus, gaps, longest_gaps, copies, api, ranges, categories, sanity, about: _ } =
            &answer.report;
        let cut = |groups: &'a Vec<Group>| Row::list(&groups[..rows(groups.len())]);
        Self {
            input,
            kernels: kernels.as_ref().map(cut),
            by: answer.groups.as_ref().and(by).map(By::label),
            groups: answer.groups.as_ref().map(cut),
            categories: categories.as_ref().map(|groups| Row::list(groups)),
            gpus: gpus.as_deref(),
            gaps: gaps.as_deref(),
            longest_gaps: longest_gaps.as_deref(),
            copies: copies.as_deref(),
            api: api.as_ref().map(|calls| &calls[..rows(calls.len())]),
            ranges: ranges.as_ref(),
            sanity: sanity.as_ref(),
        }
    }
}

impl<'a> Row<'a> {
    fn list(groups: &'a [Group]) -> Vec<Self> {
        let mut cumulative_share = 0.0;
        groups
            .iter()
            .map(|group| {
                cumulative_share += group.share;
                Self {
                    name: &group.label,
                    kernel: group.kernel.as_deref().filter(|&kernel| kernel != group.label),
                    category: group.category.as_deref(),
                    stats: &group.stats,
                    share: group.share,
                    cumulative_share,
                    zero_calls: group.zero,
                }
            })
            .collect()
    }
}
