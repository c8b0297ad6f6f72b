//! The region of interest: which rows a report is about.

mod available;
mod bound;
mod filter;
mod kernel_pattern;
mod pieces;
mod row_mask;
mod steady;

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

pub use self::bound::Bound;
pub use self::filter::Filter;
pub use self::kernel_pattern::KernelPattern;
use self::kernel_pattern::MatchingKernels;
pub use self::pieces::PieceFilter;
use self::row_mask::{RowMask, Within};
use self::steady::MainCalls;
use crate::error::time;
use crate::names::kernel_keys::KernelKeys;
use crate::trace::overview;
use crate::{Error, Result};

/// The region of a filter.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Region {
    /// True if any filter was set.
    pub filtered: bool,
    /// Start of the window in ns, if there is one.
    pub start_ns: Option<i64>,
    /// End of the window in ns (the first moment outside), if there is one.
    pub end_ns: Option<i64>,
    /// Dispatches, copies and barriers before and after.
    pub ops_before: u64,
    /// Ops that are left, of `ops_before`.
    pub ops_after: u64,
    /// The filters in words: `kernel gemm`, `GPU 0, 1`, `steady`.
    pub description: Vec<String>,
}

/// Applies `filter`. A row belongs to a window if its start lies in `[from, to)`, so that adjacent
/// windows hold every row exactly once; a range or a launching call before the window no longer encloses what
/// is inside. The steady part is that of the rows that all filters but `kernel` keep.
///
/// # Errors
/// Where a filter names what the trace does not have, where no row is left, or where a GPU has no steady part.
pub fn apply(tables: &mut Tables, filter: &Filter) -> Result<Region> {
    let ops =
        |tables: &Tables| (tables.dispatches.len() + tables.copies.len() + tables.barriers.len()) as u64;
    let description = filter.describe();
    let ops_before = ops(tables);
    if description.is_empty() {
        return Ok(Region { ops_before, ops_after: ops_before, ..Region::default() });
    }
    let mut keep = RowMask::everything(tables);
    let mut region = Region { filtered: true, ops_before, description, ..Region::default() };
    available::check_places(tables, filter)?;
    keep.places(tables, filter);
    let is_limited = filter.from.is_some() || filter.to.is_some();
    let span = if is_limited { overview::span(tables) } else { None };
    if let Some((from, to)) = window(span, filter)? {
        if !row_mask::any_row_starts(tables, from, to) {
            return Err(empty_window(tables, from, to));
        }
        keep.window(tables, from, to);
        region.start_ns = Some(from).filter(|&from| from > i64::MIN);
        region.end_ns = Some(to).filter(|&to| to < i64::MAX);
    }
    if let Some(name) = &filter.range {
        let within = Within::new(tables, name).ok_or_else(|| available::no_range(tables, name))?;
        keep.range(tables, &within, 0);
    }
    if filter.steady {
        let mut calls = MainCalls::default();
        calls.add(tables, keep.dispatches());
        let parts = calls.parts(tables)?;
        region.start_ns = parts.as_ref().map(|parts| parts.hull.0);
        region.end_ns = parts.as_ref().map(|parts| parts.hull.1);
        if let Some(parts) = parts {
            keep.steady(tables, &parts);
        }
    }
    if let Some(pattern) = &filter.kernel {
        let keys = match pattern {
            KernelPattern::Key(_) => KernelKeys::of(tables),
            KernelPattern::Name(_) => KernelKeys::default(),
        };
        let mut kernels = MatchingKernels::new(pattern, keys);
        keep.kernels(tables, &mut kernels);
        if kernels.are_all_others() {
            return Err(available::no_kernel(tables, pattern));
        }
    }
    let is_about_ops = filter.kernel.is_some() || !filter.gpus.is_empty() || !filter.queues.is_empty();
    if ops_before > 0 && !keep.any_op() && (is_about_ops || !keep.any_other()) {
        return Err(Error::NothingLeft { filters: region.description.join(", ") });
    }
    keep.apply(tables);
    if filter.trim_idle {
        trim(tables);
    }
    region.ops_after = ops(tables);
    Ok(region)
}

/// The window from `from` to `to` of a trace with this span, if either is set.
fn window(span: Option<(i64, i64)>, filter: &Filter) -> Result<Option<(i64, i64)>> {
    let Some(span) = span.filter(|_| filter.from.is_some() || filter.to.is_some()) else {
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

fn empty_window(tables: &Tables, from: i64, to: i64) -> Error {
    let (start, end) = overview::span(tables).unwrap_or_default();
    let at = |moment: i64| time(moment.saturating_sub(start));
    let window = match (from, to) {
        (i64::MIN, to) => format!("before {}", at(to)),
        (from, i64::MAX) => format!("at {} or later", at(from)),
        (from, to) => format!("from {} to {}", at(from), at(to)),
    };
    Error::EmptyWindow { window, span: end.saturating_sub(start) }
}

/// Drops the calls and ranges that start before the first op or after the last one's end.
fn trim(tables: &mut Tables) {
    if let Some((first, last)) = overview::ops_span(tables) {
        let mut keep = RowMask::everything(tables);
        keep.others(tables, first, last.saturating_add(1));
        keep.apply(tables);
    }
}
