//! The versioned shape of an answer, `rtl-summary/1`: what scripts and other tools of the suite rely on.
//! `docs/reference/rtl-summary.schema.json` describes it and a test holds the two together. Times are integer
//! nanoseconds of the trace's own clock; means and shares are floating point.

use std::collections::HashMap;

use rtl_analysis::api::{ApiGroup, UnfinishedCall};
use rtl_analysis::copies::CopyGroup;
use rtl_analysis::facts::Fact;
use rtl_analysis::kernels::Group;
use rtl_analysis::launches::{Latency, Queues};
use rtl_analysis::overview::TraceOverview;
use rtl_analysis::profile::{Activity, CollectiveWaits, Kernel};
use rtl_analysis::ranges::RangeReport;
use rtl_analysis::ranks::Ranks;
use rtl_analysis::region::Region;
use rtl_analysis::sanity::Sanity;
use rtl_analysis::sweep::{Gap, Gpu, GpuGaps};
use rtl_analysis::{Report, Stats};
use serde::Serialize;

use crate::answer::{Answer, Comparable};
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
    about: Option<&'a TraceOverview>,
    region: &'a Region,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<&'a [Fact]>,
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
    gpus: Option<Vec<GpuRow<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gaps: Option<&'a [GpuGaps]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_gaps: Option<&'a [Gap]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<&'a [CopyGroup]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api: Option<&'a [ApiGroup]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished_calls: Option<&'a [UnfinishedCall]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    launches: Option<Latency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queues: Option<&'a Queues>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranges: Option<&'a RangeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranks: Option<&'a Ranks>,
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
    /// The mean without the shortest and the longest tenth of the calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    trimmed_mean_ns: Option<f64>,
    /// Sum of the squares of the durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    squares_ns2: Option<f64>,
    /// What its calls are made of, where it is a collective that was matched on several ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    transfers: Option<Transfers>,
    share: f64,
    cumulative_share: f64,
    zero_calls: u64,
}

/// What was left of collectives when the last rank had come, one value of each.
#[derive(Debug, Clone, Serialize)]
struct Transfers {
    collectives: u64,
    total_ns: i64,
    calls: u64,
    transfer_ns: i64,
    wait_ns: i64,
    trimmed_mean_ns: f64,
    min_ns: i64,
    p50_ns: i64,
    p95_ns: i64,
    stddev_ns: f64,
}

impl Transfers {
    fn of(waiting: &CollectiveWaits) -> Self {
        let CollectiveWaits { run, deviation_ns, calls, transfer_ns, wait_ns, .. } = waiting;
        Self {
            collectives: run.calls,
            total_ns: run.total_ns,
            calls: *calls,
            transfer_ns: *transfer_ns,
            wait_ns: *wait_ns,
            trimmed_mean_ns: run.trimmed_mean_ns,
            min_ns: run.min_ns,
            p50_ns: run.median_ns,
            p95_ns: run.p95_ns,
            stddev_ns: *deviation_ns,
        }
    }
}

/// A GPU, with everything that ran on it.
#[derive(Debug, Clone, Serialize)]
struct GpuRow<'a> {
    #[serde(flatten)]
    gpu: &'a Gpu,
    /// Sum of the durations of all ops: `busy_ns` and what ran at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    ops_ns: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<Vec<Work<'a>>>,
}

/// What one kernel or one direction of copies did on one GPU.
#[derive(Debug, Clone, Serialize)]
struct Work<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<&'static str>,
    calls: u64,
    total_ns: i64,
}

impl<'a> GpuRow<'a> {
    fn list(gpus: &'a [Gpu], comparable: Option<&'a Comparable>) -> Vec<Self> {
        let row = |gpu: &'a Gpu| {
            let places = comparable.map(|comparable| comparable.profile.gpus.iter());
            let place = places.and_then(|mut places| places.find(|place| place.gpu == gpu.gpu));
            let work = place.zip(comparable).map(|(place, comparable)| {
                let mut work: Vec<Work<'a>> = Vec::new();
                for part in &place.work {
                    let (kernel, copies) = match &part.item {
                        Activity::Kernel(kernel) => (Some(comparable.names[*kernel].as_str()), None),
                        Activity::Copies(direction) => (None, Some(direction.label())),
                    };
                    match work.last_mut().filter(|last| (last.kernel, last.copies) == (kernel, copies)) {
                        Some(last) => {
                            last.calls += part.calls;
                            last.total_ns = last.total_ns.saturating_add(part.total_ns);
                        }
                        None => {
                            work.push(Work { kernel, copies, calls: part.calls, total_ns: part.total_ns })
                        }
                    }
                }
                work
            });
            let sum = |work: &Vec<Work<'_>>| {
                work.iter().fold(0, |sum: i64, part| sum.saturating_add(part.total_ns))
            };
            Self { gpu, ops_ns: work.as_ref().map(sum), work }
        };
        gpus.iter().map(row).collect()
    }
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
            run: answer.comparable.as_ref().and_then(|comparable| comparable.run.as_deref()),
            facts: answer.comparable.as_ref().map(|comparable| comparable.facts.as_slice()),
            metadata: (answer.stored.iter())
                .flat_map(|stored| &stored.metadata)
                .map(|(tag, value)| Pair { tag, value })
                .collect(),
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
            unfinished_calls: None,
            launches: None,
            queues: None,
            ranges: None,
            ranks: None,
            sanity: None,
        }
    }

    fn of(answer: &'a Answer, input: Option<usize>, by: Option<By>, rows: &impl Fn(usize) -> usize) -> Self {
        let Report {
            kernels,
            gpus,
            gaps,
            longest_gaps,
            copies,
            api,
            unfinished_calls,
            launches,
            queues,
            ranges,
            categories,
            sanity,
            about: _,
        } = &answer.report;
        let cut = |groups: &'a Vec<Group>| Row::list(&groups[..rows(groups.len())]);
        let comparable = answer.comparable.as_ref();
        Self {
            input,
            kernels: kernels.as_ref().map(cut).map(|rows| Row::with_trimmed_means(rows, comparable)),
            by: answer.groups.as_ref().and(by).map(By::label),
            groups: answer.groups.as_ref().map(cut),
            categories: categories.as_ref().map(|groups| Row::list(groups)),
            gpus: gpus.as_deref().map(|gpus| GpuRow::list(gpus, comparable)),
            gaps: gaps.as_deref(),
            longest_gaps: longest_gaps.as_deref(),
            copies: copies.as_deref(),
            api: api.as_ref().map(|calls| &calls[..rows(calls.len())]),
            unfinished_calls: unfinished_calls.as_deref(),
            launches: launches.as_ref().map(|latency| Latency {
                kernels: latency.kernels[..rows(latency.kernels.len())].to_vec(),
                ..latency.clone()
            }),
            queues: queues.as_ref(),
            ranges: ranges.as_ref(),
            ranks: answer.ranks.as_ref(),
            sanity: sanity.as_ref(),
        }
    }
}

impl<'a> Row<'a> {
    /// Adds what is only known of kernels.
    fn with_trimmed_means(mut rows: Vec<Self>, comparable: Option<&Comparable>) -> Vec<Self> {
        let Some(Comparable { profile, names, .. }) = comparable else { return rows };
        let kernels: HashMap<&str, &Kernel> =
            names.iter().map(String::as_str).zip(&profile.kernels).collect();
        for row in &mut rows {
            let Stats { calls, mean_ns, stddev_ns, .. } = *row.stats;
            let count = calls as f64;
            let kernel = kernels.get(row.name);
            row.trimmed_mean_ns = kernel.map(|kernel| kernel.run.trimmed_mean_ns);
            row.transfers = kernel.and_then(|kernel| kernel.waiting.as_ref()).map(Transfers::of);
            row.squares_ns2 =
                Some(stddev_ns * stddev_ns * (count - 1.0).max(0.0) + count * mean_ns * mean_ns);
        }
        rows
    }

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
                    trimmed_mean_ns: None,
                    squares_ns2: None,
                    transfers: None,
                    share: group.share,
                    cumulative_share,
                    zero_calls: group.zero,
                }
            })
            .collect()
    }
}
