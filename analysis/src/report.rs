//! Several sections of a report on one trace.

use rtl_schema::Tables;
use serde::Serialize;

use crate::Categories;
use crate::api::{self, ApiGroup, UnfinishedCall};
use crate::copies::{self, CopyGroup};
use crate::kernel_names::KernelNames;
use crate::kernels::{self, Group, GroupBy, Sort};
use crate::launches::{self, Latency};
use crate::ops::Order;
use crate::overview::{self, TraceOverview};
use crate::ranges::{self, RangeReport};
use crate::sanity::{self, Sanity};
use crate::sweep::{self, Gap, Gpu, GpuGaps, Sweep};

/// Which parts of a report to compute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sections {
    /// The description of the trace.
    pub about: bool,
    /// Kernels, grouped by [`Options::key`].
    pub kernels: bool,
    /// Busy time of GPUs.
    pub gpus: bool,
    /// Gap buckets and the longest gaps.
    pub gaps: bool,
    /// Copies by direction.
    pub copies: bool,
    /// API calls.
    pub api: bool,
    /// Launch latency.
    pub launches: bool,
    /// Queue depth, and why GPUs were idle.
    pub queues: bool,
    /// Ranges and markers.
    pub ranges: bool,
    /// Kernel time by category.
    pub categories: bool,
    /// Findings.
    pub sanity: bool,
}

impl Sections {
    /// Every section.
    pub const ALL: Self = Self {
        about: true,
        kernels: true,
        gpus: true,
        gaps: true,
        copies: true,
        api: true,
        launches: true,
        queues: true,
        ranges: true,
        categories: true,
        sanity: true,
    };
}

/// The sections to compute and their options.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which sections.
    pub sections: Sections,
    /// The key of [`Report::kernels`].
    pub key: GroupBy,
    /// The order of [`Report::kernels`].
    pub sort: Sort,
    /// The rules of categories.
    pub categories: Categories,
    /// How many of the longest gaps.
    pub longest: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sections: Sections::ALL,
            key: GroupBy::default(),
            sort: Sort::default(),
            categories: Categories::default(),
            longest: 10,
        }
    }
}

/// The sections; one that was not requested is `None`.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// The description of the trace.
    pub about: Option<TraceOverview>,
    /// Kernels, or what they were grouped by; all of them: a renderer cuts.
    pub kernels: Option<Vec<Group>>,
    /// GPUs by number.
    pub gpus: Option<Vec<Gpu>>,
    /// Gap buckets of each GPU.
    pub gaps: Option<Vec<GpuGaps>>,
    /// The longest gaps (with `gaps`).
    pub longest_gaps: Option<Vec<Gap>>,
    /// Copies by direction.
    pub copies: Option<Vec<CopyGroup>>,
    /// API calls by function.
    pub api: Option<Vec<ApiGroup>>,
    /// The first calls that had not returned (with `api`).
    pub unfinished_calls: Option<Vec<UnfinishedCall>>,
    /// Launch latency, where the trace ties ops to the host.
    pub launches: Option<Latency>,
    /// Queue depth and why GPUs were idle, where the trace ties ops to the host.
    pub queues: Option<launches::Queues>,
    /// Ranges and markers by name.
    pub ranges: Option<RangeReport>,
    /// Kernel time by category.
    pub categories: Option<Vec<Group>>,
    /// Findings.
    pub sanity: Option<Sanity>,
}

/// Traces of more ops are worth a second thread; starting one costs as much as a small report.
const PARALLEL: usize = 200_000;

/// Computes the report. Traces of more than 200,000 ops use a second thread.
pub fn report(tables: &Tables, options: &Options) -> Report {
    let sections = options.sections;
    let wants = Wants {
        kernels: sections.kernels || sections.categories || sections.sanity,
        places: sections.gpus
            || sections.gaps
            || sections.sanity
            || sections.ranges
            || sections.launches
            || sections.queues,
    };
    let names = KernelNames::of(tables, &options.categories);
    let (kernels, places) = if tables.dispatches.len() > PARALLEL && wants.kernels && wants.places {
        std::thread::scope(|scope| {
            let kernels = scope.spawn(|| kernel_sections(tables, options, &names));
            let places = place_sections(tables, options, &names);
            match kernels.join() {
                Ok(kernels) => (kernels, places),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    } else {
        (kernel_sections(tables, options, &names), place_sections(tables, options, &names))
    };
    let Places { sweep, ranges, latency, queues } = places;
    Report {
        about: sections.about.then(|| overview::overview(tables)),
        sanity: sections.sanity.then(|| sanity::check(tables, &kernels.by_kernel, &sweep)),
        kernels: kernels.asked,
        categories: kernels.categories,
        gpus: sections.gpus.then_some(sweep.gpus),
        gaps: sections.gaps.then_some(sweep.gaps),
        longest_gaps: sections.gaps.then_some(sweep.longest),
        copies: sections.copies.then(|| copies::by_direction(tables)),
        api: sections.api.then(|| api::by_function(tables)),
        unfinished_calls: sections.api.then(|| api::unfinished(tables)),
        launches: latency.filter(|_| sections.launches),
        queues: queues.filter(|_| sections.queues),
        ranges,
    }
}

/// Which of the two expensive halves are needed.
struct Wants {
    kernels: bool,
    places: bool,
}

#[derive(Default)]
struct Kernels {
    asked: Option<Vec<Group>>,
    categories: Option<Vec<Group>>,
    by_kernel: Vec<Group>,
}

/// Everything that groups dispatches.
fn kernel_sections(tables: &Tables, options: &Options, names: &KernelNames) -> Kernels {
    let sections = options.sections;
    let mut kernels = Kernels::default();
    let by_category = sections.categories || sections.kernels && options.key == GroupBy::Category;
    if by_category || sections.sanity || sections.kernels && options.key == GroupBy::Kernel {
        let (by_kernel, by_category) = kernels::with_categories(tables, names);
        kernels.by_kernel = by_kernel;
        kernels.categories = Some(by_category);
    }
    if sections.kernels {
        let mut asked = match (options.key, &kernels.categories) {
            (GroupBy::Kernel, _) => kernels.by_kernel.clone(),
            (GroupBy::Category, Some(categories)) => categories.clone(),
            (key, _) => kernels::grouped(tables, key, names),
        };
        kernels::sort(&mut asked, options.sort);
        kernels.asked = Some(asked);
    }
    kernels.categories = kernels.categories.filter(|_| sections.categories);
    kernels
}

#[derive(Default)]
struct Places {
    sweep: Sweep,
    ranges: Option<RangeReport>,
    latency: Option<Latency>,
    queues: Option<launches::Queues>,
}

/// Everything that looks at ops in order of start.
fn place_sections(tables: &Tables, options: &Options, names: &KernelNames) -> Places {
    let sections = options.sections;
    let swept = sections.gpus || sections.gaps || sections.sanity;
    let ranges = sections.ranges && !tables.ranges.is_empty();
    let mut places = Places { ranges: sections.ranges.then(RangeReport::default), ..Places::default() };
    let launches = (sections.launches || sections.queues) && launches::has_launch_data(tables);
    if swept || ranges || launches {
        let order = Order::of(tables);
        if swept {
            places.sweep = sweep::sweep_named(tables, &order, names, options.longest);
        }
        if ranges {
            places.ranges = Some(ranges::by_name(tables, &order));
        }
        if launches {
            (places.latency, places.queues) = launches::launches_named(tables, &order, names).unzip();
        }
    }
    places
}
