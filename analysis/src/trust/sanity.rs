//! Rows of a trace that deserve a second look.

use std::ops::Range;

use rtl_schema::{Durations, NameId, ProblemKind, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Analysis;
use crate::base::parallel;
use crate::gpu_time::kernels::Group;
use crate::gpu_time::sweep::SuspiciousRows;
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
}

/// Findings on all rows of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sanity {
    /// Dispatches with odd durations.
    pub dispatches: DurationAnomalies,
    /// Copies with odd durations.
    pub copies: DurationAnomalies,
    /// API calls with odd durations; zero is normal for them.
    pub api_calls: DurationAnomalies,
    /// Ranges with odd durations; zero is a marker.
    pub ranges: DurationAnomalies,
    /// Dispatches that overlap on one queue.
    pub overlaps: SuspiciousRows,
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
    Sanity {
        dispatches: odd(&tables.dispatches.duration),
        copies: odd_rows(tables.copies.iter().map(|copy| copy.duration)),
        api_calls: odd(&tables.api_calls.duration),
        ranges: odd_rows(tables.ranges.iter().map(|range| range.duration)),
        overlaps: sweep.overlaps.clone(),
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

/// Most traces have no kernel that one call dominates: only else the rows are searched for these calls, once for all of them.
fn dominant(analysis: &Analysis<'_>) -> Vec<Dominant> {
    let (tables, names) = (analysis.tables, &analysis.names);
    let suspects: FxHashMap<&str, &Group> = (analysis.kernels().iter())
        .filter(|group| {
            group.stats.calls >= 4 && i128::from(group.stats.max_ns) * 2 > i128::from(group.stats.total_ns)
        })
        .map(|group| (&*group.label, group))
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    let suspect_of_kernel: Vec<Option<&Group>> =
        names.kernels.iter().map(|kernel| suspects.get(&*kernel.label).copied()).collect();
    let dispatches = &tables.dispatches;
    let mut longest: FxHashMap<&str, (i64, String)> = FxHashMap::default();
    for (row, &name) in dispatches.name.iter().enumerate() {
        let Some(group) = suspect_of_kernel[names.kernel(name)] else { continue };
        if dispatches.duration.get(row) == Some(group.stats.max_ns) {
            let place = labels::agent(tables, tables.tracks.get(dispatches.track[row]).agent);
            let call = (dispatches.start[row], place);
            let first = longest.entry(&group.label).or_insert_with(|| call.clone());
            *first = call.min(std::mem::take(first));
        }
    }
    let mut found: Vec<Dominant> = longest
        .into_iter()
        .filter_map(|(kernel, (start_ns, place))| {
            let group = suspects.get(kernel)?;
            Some(Dominant {
                kernel: group.label.to_string(),
                calls: group.stats.calls,
                max_ns: group.stats.max_ns,
                total_ns: group.stats.total_ns,
                p50_ns: group.stats.p50_ns,
                start_ns,
                place,
            })
        })
        .collect();
    found.sort_by(|one, other| other.max_ns.cmp(&one.max_ns).then_with(|| one.kernel.cmp(&other.kernel)));
    found
}
