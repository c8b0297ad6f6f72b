//! A filter of a trace that is read in pieces. What depends on the whole trace (its span, ranges, the main kernel of a GPU) is found
//! by passes over the pieces before, which keep no ops.

use rtl_schema::table::Dispatch;
use rtl_schema::{Id, NameId, ProcessId, Select, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use super::filter::Filter;
use super::kernel_pattern::{KernelPattern, MatchingKernels};
use super::row_mask::{RowMask, Within};
use super::steady::{MainCalls, SteadyParts};
use super::window;
use crate::names::kernel_keys::KernelKeys;
use crate::trace::overview;

/// The rows that a filter keeps of each piece.
#[derive(Debug)]
pub struct PieceFilter<'a> {
    filter: &'a Filter,
    /// Start and end in ns.
    window: Option<(i64, i64)>,
    within: Option<Within>,
    steady: Option<SteadyParts>,
    kernels: Option<MatchingKernels<'a>>,
    /// The span in ns of the ops that are kept.
    active: Option<(i64, i64)>,
    /// How many ranges earlier pieces had.
    ranges: usize,
    has_ops: bool,
}

impl<'a> PieceFilter<'a> {
    /// Looks at the trace: `pass` reads it once, in pieces, and returns the rest that [`rtl_schema::Trace::stream`] returns. `None` where
    /// the filter does not fit the trace, for which [`super::apply`] has the reason.
    ///
    /// # Errors
    /// Those of `pass`.
    pub fn new<E>(
        filter: &'a Filter,
        mut pass: impl FnMut(&Select, &mut dyn FnMut(&mut Tables)) -> Result<Tables, E>,
    ) -> Result<Option<Self>, E> {
        let select = Select { ranges: true, api: true, links: filter.range.is_some(), ..Select::ops() };
        let needs_keys = matches!(filter.kernel, Some(KernelPattern::Key(_)));
        let mut resolved = Self {
            filter,
            window: None,
            within: None,
            steady: None,
            kernels: None,
            active: None,
            ranges: 0,
            has_ops: false,
        };
        let mut keys = KernelKeys::default();
        if filter.from.is_some() || filter.to.is_some() || filter.range.is_some() || needs_keys {
            let mut whole = Whole::default();
            let mut last = pass(&select, &mut |piece| whole.add(piece, filter.range.is_some(), needs_keys))?;
            let Ok(window) = window(whole.span, filter) else { return Ok(None) };
            resolved.window = window;
            if needs_keys {
                keys = whole.keys(&last);
            }
            if let Some(name) = &filter.range {
                last.ranges = whole.host.ranges;
                last.api_calls = whole.host.api_calls;
                let mut tied = TiedOps::new(&last);
                pass(&select, &mut |piece| tied.add(piece))?;
                tied.ops.into_iter().for_each(|op| last.dispatches.push(op));
                resolved.within = match Within::new(&last, name) {
                    Some(within) => Some(within),
                    None => return Ok(None),
                };
            }
        }
        resolved.kernels = filter.kernel.as_ref().map(|pattern| MatchingKernels::new(pattern, keys));
        if filter.steady {
            let mut calls = MainCalls::default();
            let last = pass(&select, &mut |piece| calls.add(piece, resolved.mask(piece, true).dispatches()))?;
            let Ok(parts) = calls.parts(&last) else { return Ok(None) };
            resolved.steady = parts;
            resolved.begin();
        }
        if filter.trim_idle {
            let mut span: Option<(i64, i64)> = None;
            pass(&select, &mut |piece| {
                resolved.keep(piece);
                span = span.into_iter().chain(overview::ops_span(piece)).reduce(overview::wider);
            })?;
            resolved.active = span;
            resolved.begin();
        }
        Ok(Some(resolved))
    }

    /// Begins with the first piece again.
    pub fn begin(&mut self) {
        (self.ranges, self.has_ops) = (0, false);
    }

    /// Drops the other rows of the next piece.
    pub fn keep(&mut self, piece: &mut Tables) {
        let mask = self.mask(piece, false);
        self.has_ops |= mask.any_op();
        mask.apply(piece);
    }

    /// True if no piece had an op to keep, which may be an error.
    pub fn is_without_ops(&self) -> bool {
        !self.has_ops
    }

    /// The steady part is that of the rows that all filters but `kernel` keep.
    fn mask(&mut self, piece: &Tables, is_for_steady: bool) -> RowMask {
        let mut mask = RowMask::everything(piece);
        mask.places(piece, self.filter);
        if let Some((from, to)) = self.window {
            mask.window(piece, from, to);
        }
        if let Some(within) = &self.within {
            mask.range(piece, within, self.ranges);
        }
        self.ranges += piece.ranges.len();
        if is_for_steady {
            return mask;
        }
        if let Some(steady) = &self.steady {
            mask.steady(piece, steady);
        }
        if let Some(kernels) = &mut self.kernels {
            mask.kernels(piece, kernels);
        }
        if let Some((first, last)) = self.active {
            mask.others(piece, first, last.saturating_add(1));
        }
        mask
    }
}

/// The facts about all rows that filters need.
#[derive(Default)]
struct Whole {
    span: Option<(i64, i64)>,
    /// The rows that enclose ops: ranges and calls.
    host: Tables,
    /// The valid durations of each name in ns.
    totals: FxHashMap<NameId, i64>,
}

impl Whole {
    fn add(&mut self, piece: &mut Tables, has_host: bool, has_totals: bool) {
        self.span = self.span.into_iter().chain(overview::span(piece)).reduce(overview::wider);
        if has_host {
            self.host.ranges.append(&mut piece.ranges);
            if self.host.api_calls.is_empty() {
                self.host.api_calls = std::mem::take(&mut piece.api_calls);
            }
        }
        if has_totals {
            for (row, &name) in piece.dispatches.name.iter().enumerate() {
                if let Some(duration) = piece.dispatches.duration.valid(row) {
                    let total = self.totals.entry(name).or_default();
                    *total = total.saturating_add(duration);
                }
            }
        }
    }

    /// The keys of a trace in which each kernel has one call, of the length of all.
    fn keys(&self, last: &Tables) -> KernelKeys {
        let mut tables = Tables { strings: last.strings.clone(), ..Tables::default() };
        for (&name, &total) in &self.totals {
            tables.dispatches.push(Dispatch { name, duration: Some(total), ..Dispatch::default() });
        }
        KernelKeys::of(&tables)
    }
}

/// The first op of each id space with a known range, and with a known call: how ops are tied to ranges depends on whether there
/// are any.
struct TiedOps {
    spaces: Vec<u32>,
    known: [FxHashSet<(u32, Id)>; 2],
    found: [FxHashSet<u32>; 2],
    ops: Vec<Dispatch>,
}

impl TiedOps {
    fn new(tables: &Tables) -> Self {
        let spaces: Vec<u32> = tables.processes.iter().map(|process| process.space).collect();
        let space = |process: ProcessId| spaces.get(process.index()).copied();
        let ranges = tables.ranges.iter().filter_map(|range| Some((space(range.process)?, range.id)));
        let calls = &tables.api_calls;
        let calls = (0..calls.len())
            .filter_map(|row| Some((space(calls.process.get(row))?, calls.correlation.get(row))));
        let known = [ranges.collect(), calls.filter(|&(_, id)| id != 0).collect()];
        Self { spaces, known, found: Default::default(), ops: Vec::new() }
    }

    fn add(&mut self, piece: &mut Tables) {
        let copies = piece.copies.iter().map(|copy| (copy.track, copy.range, copy.correlation));
        let rows = &piece.dispatches;
        let dispatches =
            (0..rows.len()).map(|row| (rows.track[row], rows.range.get(row), rows.correlation.get(row)));
        for (track, range, correlation) in dispatches.chain(copies) {
            let Some(&space) = self.spaces.get(piece.tracks.get(track).process.index()) else { continue };
            for (kind, id) in [range, correlation].into_iter().enumerate() {
                if self.known[kind].contains(&(space, id)) && self.found[kind].insert(space) {
                    self.ops.push(Dispatch { track, range, correlation, ..Dispatch::default() });
                }
            }
        }
    }
}
