//! The region of interest: which rows a report is about.

mod bound;
mod keep;
mod steady;

use regex::Regex;
use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

pub use self::bound::Bound;
use self::keep::Keep;
use crate::{Error, Result, overview};

/// What to keep; the default keeps everything and costs nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Dispatches of kernels whose stored or demangled name matches, and no other op; calls and ranges stay.
    pub kernel: Option<Regex>,
    /// Ops of GPUs with one of these numbers; empty keeps all.
    pub gpus: Vec<i64>,
    /// Ops of queues with one of these numbers; empty keeps all.
    pub queues: Vec<i64>,
    /// Rows of processes with one of these ranks; empty keeps all.
    pub ranks: Vec<u32>,
    /// Rows that start at this moment or later.
    pub from: Option<Bound>,
    /// Rows that start before this moment.
    pub to: Option<Bound>,
    /// Rows inside ranges of this name.
    pub range: Option<String>,
    /// From the first start to the last end of an op: calls and ranges outside go.
    pub trim_idle: bool,
    /// On each GPU, from the start of the second to the end of the last-but-one call of its main kernel.
    pub steady: bool,
}

/// What was kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Region {
    /// Whether any filter was set.
    pub filtered: bool,
    /// Start of the window in ns, if there is one.
    pub start_ns: Option<i64>,
    /// End of the window in ns (the first moment outside), if there is one.
    pub end_ns: Option<i64>,
    /// Dispatches, copies and barriers before and after.
    pub ops_before: u64,
    /// See `ops_before`.
    pub ops_after: u64,
    /// The filters in words: `kernel gemm`, `GPU 0, 1`, `steady`.
    pub description: Vec<String>,
}

/// Keeps what `filter` says. A row belongs to a window if its start lies in `[from, to)`, so that adjacent
/// windows hold every row exactly once; a range or a launching call before the window no longer encloses what
/// is inside. The steady part is that of the rows that all filters but `kernel` keep.
///
/// # Errors
/// Where the window is empty, no range has the name, or a GPU has no steady part.
pub fn apply(tables: &mut Tables, filter: &Filter) -> Result<Region> {
    let ops =
        |tables: &Tables| (tables.dispatches.len() + tables.copies.len() + tables.barriers.len()) as u64;
    let description = describe(filter);
    let ops_before = ops(tables);
    if description.is_empty() {
        return Ok(Region { ops_before, ops_after: ops_before, ..Region::default() });
    }
    let mut keep = Keep::everything(tables);
    let mut region = Region { filtered: true, ops_before, description, ..Region::default() };
    keep.places(tables, filter);
    if let Some((from, to)) = window(tables, filter)? {
        keep.window(tables, from, to);
        region.start_ns = Some(from).filter(|&from| from > i64::MIN);
        region.end_ns = Some(to).filter(|&to| to < i64::MAX);
    }
    if let Some(name) = &filter.range {
        keep.range(tables, name)?;
    }
    if filter.steady {
        let hull = keep.steady(tables)?;
        region.start_ns = hull.map(|(from, _)| from);
        region.end_ns = hull.map(|(_, to)| to);
    }
    if let Some(pattern) = &filter.kernel {
        keep.kernels(tables, pattern);
    }
    keep.apply(tables);
    if filter.trim_idle {
        trim(tables);
    }
    region.ops_after = ops(tables);
    Ok(region)
}

/// The filters that are set, in words.
fn describe(filter: &Filter) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(pattern) = &filter.kernel {
        words.push(format!("kernel {pattern}"));
    }
    let mut list = |word: &str, values: Vec<String>| {
        if !values.is_empty() {
            words.push(format!("{word} {}", values.join(", ")));
        }
    };
    list("GPU", filter.gpus.iter().map(i64::to_string).collect());
    list("queue", filter.queues.iter().map(i64::to_string).collect());
    list("rank", filter.ranks.iter().map(u32::to_string).collect());
    for (word, bound) in [("from", filter.from), ("to", filter.to)] {
        match bound {
            Some(Bound::FromStart(offset)) => words.push(format!("{word} {offset} ns")),
            Some(Bound::FromEnd(offset)) => words.push(format!("{word} {offset} ns before the end")),
            Some(Bound::Share(share)) => words.push(format!("{word} {} %", share * 100.0)),
            None => {}
        }
    }
    if let Some(name) = &filter.range {
        words.push(format!("range {name}"));
    }
    for (is_set, word) in [(filter.steady, "steady"), (filter.trim_idle, "idle time trimmed")] {
        if is_set {
            words.push(word.to_owned());
        }
    }
    words
}

/// The window that `from` and `to` say, if either is set.
fn window(tables: &Tables, filter: &Filter) -> Result<Option<(i64, i64)>> {
    let Some(span) = overview::span(tables).filter(|_| filter.from.is_some() || filter.to.is_some()) else {
        return Ok(None);
    };
    let from = filter.from.map_or(i64::MIN, |bound| bound.resolve(span));
    let to = filter.to.map_or(i64::MAX, |bound| bound.resolve(span));
    if from >= to {
        let relative = |moment: i64| moment.min(span.1).saturating_sub(span.0);
        return Err(Error::EmptyRegion { from: relative(from), to: relative(to) });
    }
    Ok(Some((from, to)))
}

/// Drops the calls and ranges that start before the first op or after the last one's end.
fn trim(tables: &mut Tables) {
    if let Some((first, last)) = overview::ops_span(tables) {
        let mut keep = Keep::everything(tables);
        keep.others(tables, first, last.saturating_add(1));
        keep.apply(tables);
    }
}
