//! Rows of a trace that deserve a second look.

use std::ops::Range;

use rtl_schema::{Dialect, Durations, NameId, ProblemKind, ShapeId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::overlaps;
use crate::Analysis;
use crate::base::parallel;
use crate::gpu_time::kernels::Group;
use crate::gpu_time::sweep::SuspiciousRows;
use crate::names::categories::COLLECTIVE;
use crate::names::kernel_names::KernelNames;
use crate::names::labels;
use crate::trace::stray;

/// Counts of unusual durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DurationAnomalies {
    /// Ends where it starts.
    pub zero: u64,
    /// Ends before it starts.
    pub negative: u64,
    /// Durations without an end.
    pub missing: u64,
}

/// Ids of the trace that lead nowhere, or values that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BadRows {
    /// `dangling name`, `dangling link`, `dangling reference`, `missing start`, `bad value`.
    pub kind: String,
    /// The table and column.
    pub place: String,
    /// The number of rows.
    pub count: u64,
    /// The id of the first.
    pub first: i64,
}

/// Records that the recorder lost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loss {
    /// The recorder's name for the reason.
    pub reason: String,
    /// The number of records.
    pub count: u64,
}

/// A kernel of which one call took more than half the time of all its calls (four or more).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Dominant {
    /// Name of the kernel.
    pub kernel: String,
    /// How often it was called.
    pub calls: u64,
    /// The long call, in ns.
    pub max_ns: i64,
    /// All calls, in ns.
    pub total_ns: i64,
    /// The median call, in ns.
    pub p50_ns: i64,
    /// The start of the long call, in ns.
    pub start_ns: i64,
    /// Where it ran: `GPU 0`.
    pub place: String,
    /// Why it may have taken so long; none where it takes less than 1 % of the wall time or is no longer than other calls with its
    /// launch shape, which decides how much a kernel computes.
    #[serde(default)]
    pub suspicion: Option<Suspicion>,
}

/// Why one call of a kernel may take much longer than the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspicion {
    /// A collective waits for ranks that come late.
    LateRanks,
    /// It is the first call with its shape.
    FirstCall,
    /// Nothing is known.
    Unknown,
}

/// Findings on all rows of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sanity {
    /// Dispatches with odd durations.
    pub dispatches: DurationAnomalies,
    /// Copies with odd durations.
    pub copies: DurationAnomalies,
    /// True where the file has whole microseconds, so that a length of zero is a short one.
    #[serde(default)]
    pub whole_microseconds: bool,
    /// API calls with odd durations; zero is normal for them.
    pub api_calls: DurationAnomalies,
    /// Ranges with odd durations; zero is a marker.
    pub ranges: DurationAnomalies,
    /// Dispatches that overlap on one queue.
    pub overlaps: SuspiciousRows,
    /// How long they ran beside others of their queue in all, in ns.
    #[serde(default)]
    pub overlap_ns: i64,
    /// True where kernels of a stream overlap for longer than they do that start while the last blocks of the one before them run.
    #[serde(default)]
    pub overlaps_much: bool,
    /// Dispatches that are there twice.
    pub duplicates: SuspiciousRows,
    /// Rows with ids that lead nowhere and the like.
    pub bad_rows: Vec<BadRows>,
    /// Dispatches whose kernel the recorder could not name (`kernel_0x..`).
    pub unresolved_names: u64,
    /// Dispatches without a name.
    pub unnamed: u64,
    /// Lost records by reason, without zeros.
    pub losses: Vec<Loss>,
    /// Ops far from all others, which are left out of all figures: `1 op starts 5000 s before all others`.
    #[serde(default)]
    pub stray: Option<String>,
    /// Kernels with one call that holds most of their time, largest first.
    pub dominant: Vec<Dominant>,
}

impl Sanity {
    /// Each reason for `--strict` to fail, in words: missing and negative durations, dangling ids, lost records.
    pub fn strict_failures(&self) -> Vec<String> {
        let mut failures = Vec::new();
        let tables = [
            (&self.dispatches, "dispatches"),
            (&self.copies, "copies"),
            (&self.api_calls, "API calls"),
            (&self.ranges, "ranges"),
        ];
        for (odd, rows) in tables {
            for (count, what) in
                [(odd.missing, "without an end"), (odd.negative, "that end before they start")]
            {
                if count > 0 {
                    failures.push(format!("{count} {rows} {what}"));
                }
            }
        }
        for bad in &self.bad_rows {
            failures.push(format!("{} rows with a {} in {}", bad.count, bad.kind, bad.place));
        }
        failures.extend(self.stray.clone());
        for loss in &self.losses {
            failures.push(format!("{} lost records ({})", loss.count, loss.reason));
        }
        failures
    }
}

/// Counts the rows that deserve a second look.
pub fn check(analysis: &Analysis<'_>) -> Sanity {
    let (tables, sweep) = (analysis.tables, analysis.sweep());
    let (unresolved_names, unnamed) = nameless(tables, &analysis.names);
    let dispatches = odd(&tables.dispatches.duration);
    Sanity {
        whole_microseconds: dispatches.zero > 0 && has_whole_microseconds(tables),
        dispatches,
        copies: odd_rows(tables.copies.iter().map(|copy| copy.duration)),
        api_calls: odd(&tables.api_calls.duration),
        ranges: odd_rows(tables.ranges.iter().map(|range| range.duration)),
        overlaps: sweep.overlaps.clone(),
        overlap_ns: sweep.overlap_ns,
        overlaps_much: overlaps::is_much(analysis),
        duplicates: sweep.duplicates.clone(),
        bad_rows: bad_rows(tables),
        unresolved_names,
        unnamed,
        losses: losses(tables),
        stray: tables.info.stray.as_ref().map(stray::sentence),
        dominant: dominant(analysis),
    }
}

fn odd(durations: &Durations) -> DurationAnomalies {
    let zero = |rows: Range<usize>| durations.short()[rows].iter().filter(|&&short| short == 0).count();
    let zero = threads::map(parallel::stretches(durations.len()), zero).into_iter().sum::<usize>() as u64;
    DurationAnomalies { zero, ..odd_rows(durations.unusual().map(|(_, duration)| duration)) }
}

/// torch.profiler once wrote microseconds.
fn has_whole_microseconds(tables: &Tables) -> bool {
    let durations = &tables.dispatches.duration;
    let is_whole = |row: usize| durations.valid(row).is_none_or(|ns| ns % 1_000 == 0);
    tables.info.dialect == Dialect::Kineto && (0..durations.len()).all(is_whole)
}

fn odd_rows(durations: impl Iterator<Item = Option<i64>>) -> DurationAnomalies {
    let mut odd = DurationAnomalies::default();
    for duration in durations {
        match duration {
            None => odd.missing += 1,
            Some(0) => odd.zero += 1,
            Some(duration) if duration < 0 => odd.negative += 1,
            Some(_) => {}
        }
    }
    odd
}

/// Dispatches called `kernel_0x..` and dispatches without a name.
fn nameless(tables: &Tables, names: &KernelNames) -> (u64, u64) {
    let unresolved = tables.strings.iter().filter(|(_, text)| text.starts_with("kernel_0x"));
    let empty = tables.strings.lookup("").map_or(0, |name| names.rows(name));
    let absent = names.rows(NameId::NONE) + names.rows(NameId::DANGLING);
    (unresolved.map(|(name, _)| names.rows(name)).sum(), empty + absent)
}

fn bad_rows(tables: &Tables) -> Vec<BadRows> {
    let mut rows: Vec<BadRows> = tables
        .problems
        .iter()
        .map(|problem| BadRows {
            kind: match problem.kind {
                ProblemKind::DanglingName => "dangling name",
                ProblemKind::DanglingLink => "dangling link",
                ProblemKind::DanglingReference => "dangling reference",
                ProblemKind::MissingStart => "missing start",
                ProblemKind::BadValue => "bad value",
            }
            .to_owned(),
            place: problem.place.clone(),
            count: problem.count,
            first: problem.first,
        })
        .collect();
    rows.sort_by(|one, other| (&one.kind, &one.place).cmp(&(&other.kind, &other.place)));
    rows
}

fn losses(tables: &Tables) -> Vec<Loss> {
    let lost = tables.info.losses.iter().filter(|(_, count)| *count > 0);
    lost.map(|(reason, count)| Loss { reason: reason.clone(), count: *count }).collect()
}

/// A call that takes less of the wall time of a GPU is no news.
const NEWS: f64 = 0.01;

/// The longest call of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Longest {
    start_ns: i64,
    shape: Option<ShapeId>,
    place: String,
}

/// The calls of a kernel that have the shape of the longest one.
#[derive(Debug, Default)]
struct SameShape {
    calls: u64,
    total_ns: i64,
    first_start_ns: Option<i64>,
}

/// Most traces have no kernel that one call dominates: only else the rows are searched for these calls, once for all of them.
fn dominant(analysis: &Analysis<'_>) -> Vec<Dominant> {
    let (tables, names) = (analysis.tables, &analysis.names);
    let is_dominated =
        |calls: u64, max_ns: i64, total_ns: i64| calls >= 4 && i128::from(max_ns) * 2 > i128::from(total_ns);
    let suspects: FxHashMap<&str, &Group> = (analysis.kernels().iter())
        .filter(|group| is_dominated(group.stats.calls, group.stats.max_ns, group.stats.total_ns))
        .map(|group| (&*group.label, group))
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let suspect_of_kernel: Vec<Option<&Group>> =
        names.kernels.iter().map(|kernel| suspects.get(&*kernel.label).copied()).collect();
    let dispatches = &tables.dispatches;
    let mut longest: FxHashMap<&str, Longest> = FxHashMap::default();
    for (row, &name) in dispatches.name.iter().enumerate() {
        let Some(group) = suspect_of_kernel[names.kernel(name)] else { continue };
        if dispatches.duration.get(row) == Some(group.stats.max_ns) {
            let place = labels::agent(tables, tables.tracks.get(dispatches.track[row]).agent);
            let (start_ns, shape) = (dispatches.start[row], dispatches.shape.get(row));
            let call = Longest { start_ns, shape, place };
            match longest.get_mut(&*group.label) {
                Some(first) if *first <= call => {}
                Some(first) => *first = call,
                None => _ = longest.insert(&group.label, call),
            }
        }
    }
    let gpus = &analysis.sweep().gpus;
    let wall = gpus.iter().map(|gpu| gpu.wall_ns as f64).sum::<f64>() / gpus.len().max(1) as f64;
    let is_news = |group: &Group| group.stats.max_ns as f64 >= NEWS * wall;
    let mut same_shape: FxHashMap<&str, SameShape> = FxHashMap::default();
    if suspects.values().any(|group| is_news(group)) {
        for (row, &name) in dispatches.name.iter().enumerate() {
            let Some(group) = suspect_of_kernel[names.kernel(name)] else { continue };
            let is_alike = |longest: &Longest| longest.shape == dispatches.shape.get(row);
            if longest.get(&*group.label).is_some_and(is_alike)
                && let Some(duration) = dispatches.duration.valid(row)
            {
                let same_shape = same_shape.entry(&group.label).or_default();
                same_shape.calls += 1;
                same_shape.total_ns = same_shape.total_ns.saturating_add(duration);
                let start = dispatches.start[row];
                same_shape.first_start_ns =
                    Some(same_shape.first_start_ns.map_or(start, |first| first.min(start)));
            }
        }
    }
    let mut found: Vec<Dominant> = longest
        .into_iter()
        .filter_map(|(kernel, Longest { start_ns, shape, place })| {
            let group = suspects.get(kernel)?;
            let is_collective = group.category.as_deref() == Some(COLLECTIVE);
            let stats = &group.stats;
            // Where no shape is known, only calls of collectives are compared.
            let known = same_shape.get(kernel).filter(|_| shape.is_some() || is_collective);
            let unusual =
                known.filter(|same_shape| is_dominated(same_shape.calls, stats.max_ns, same_shape.total_ns));
            let suspicion = unusual.filter(|_| is_news(group)).map(|same_shape| match is_collective {
                true => Suspicion::LateRanks,
                false if same_shape.first_start_ns == Some(start_ns) => Suspicion::FirstCall,
                false => Suspicion::Unknown,
            });
            Some(Dominant {
                kernel: group.label.to_string(),
                calls: stats.calls,
                max_ns: stats.max_ns,
                total_ns: stats.total_ns,
                p50_ns: stats.p50_ns,
                start_ns,
                place,
                suspicion,
            })
        })
        .collect();
    found.sort_by(|one, other| other.max_ns.cmp(&one.max_ns).then_with(|| one.kernel.cmp(&other.kernel)));
    found
}
