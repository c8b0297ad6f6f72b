//! The losses that the idle time of a GPU consists of: each nanosecond belongs to one.
//!
//! The causes of gaps say what a thread did meanwhile. A loss says what would have to change: time after a blocking call belongs to that
//! call, as far as it made the thread late, and code that takes much longer than usual is apart from the pace of launching.

use std::collections::BTreeMap;

use indexmap::map::Entry;
use rtl_schema::NameId;

use super::cause::Cause;
use super::paths::{PathId, Paths};
use crate::base::first_use::FirstUseMap;
use crate::base::ops::Op;
use crate::gpu_time::operators::nesting::ThreadKey;

/// Losses of this length in one gap, in ns, are listed with their moments: fewer than ten thousand fit into a second.
const LISTED: u64 = 100_000;

/// A gap with less of a loss in ns does not count: it is no longer than clocks are exact.
const COUNTED: u64 = 1_000;

/// Shorter parts of the pace are listed together, up to this time in ns after the first of them.
const TOGETHER: i64 = 1_000_000;

/// Why time was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum LossKind {
    /// The thread went from launch to launch, and the GPU was faster.
    Pace,
    /// The thread ran code of its own for much longer than it usually does between its calls.
    Stall,
    /// An operator or a launch took so long before the first op of a kernel: it was tuned, or its code was loaded.
    First,
    /// A call kept the thread from launching, or it compiled.
    Blocking(Cause),
    /// The op had been enqueued before the one before it ended: the GPU takes so long from op to op.
    Turnaround,
    /// The op had been enqueued long before it started.
    Waiting,
    /// As `Waiting`, but only work that was not recorded can have kept the op waiting: it follows an op of the same launch, or is
    /// the first one of its queue.
    Unrecorded,
    /// Nothing ties the op to the host.
    Unknown,
}

impl LossKind {
    const COUNT: usize = 7 + Cause::ALL.len();

    fn number(self) -> usize {
        match self {
            Self::Pace => 0,
            Self::Stall => 1,
            Self::First => 2,
            Self::Turnaround => 3,
            Self::Waiting => 4,
            Self::Unknown => 5,
            Self::Unrecorded => 6,
            Self::Blocking(cause) => 7 + cause as usize,
        }
    }
}

/// Where a thread was: the spans around it, and the call that it was in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) path: PathId,
    pub(crate) call: NameId,
}

impl Site {
    pub(crate) const NONE: Self = Self { path: PathId::NONE, call: NameId::NONE };
}

/// A part of a gap, in ns, with the ops around the gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostPart {
    pub(crate) start: i64,
    pub(crate) ns: u64,
    pub(crate) gap_start: i64,
    pub(crate) gap_ns: u64,
    /// How many calls bear idle time here for the first time.
    pub(crate) calls: u64,
    pub(crate) before: Option<Op>,
    pub(crate) after: Op,
    /// The thread that launched `after`.
    pub(crate) thread: Option<ThreadKey>,
}

/// Time in ns from a moment on, within a gap between two ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) gap_start: i64,
    pub(crate) start: i64,
    pub(crate) ns: u64,
    pub(crate) ops: (Option<Op>, Op),
}

/// Idle time of one kind at one site.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loss {
    pub(crate) kind: LossKind,
    pub(crate) site: Site,
    pub(crate) ns: u64,
    /// The number of gaps of [`COUNTED`] or longer of which no other loss of this kind has more.
    pub(crate) gaps: u64,
    /// The number of calls that it is charged to.
    pub(crate) calls: u64,
    pub(crate) longest: LostPart,
    /// The part of each gap that this loss has, from [`LISTED`] on, in order of time.
    pub(crate) moments: Vec<Moment>,
    /// The part of the last gap.
    last: Moment,
}

/// The losses of one GPU, in the order of their first parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses {
    /// The chains that sites name.
    pub(crate) paths: Paths,
    pub(super) all: FirstUseMap<(LossKind, Site), Loss>,
    /// Starts and times in ns of the pace, gaps near each other together.
    pub(super) pace: Vec<(i64, u64)>,
    /// The sum of the squares of each gap's time of the pace, in ns.
    pub(super) pace_squares: f64,
    /// Starts and times in ns of what waiting for the GPU led to, gaps near each other together.
    pub(super) waits: Vec<(i64, u64)>,
}

/// Equal where each kind has the same time: rows and names have other numbers in a trace whose rows are in another order.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        self.by_kind() == other.by_kind()
    }
}

impl Losses {
    pub(super) fn by_kind(&self) -> BTreeMap<LossKind, u64> {
        let mut times = BTreeMap::new();
        for loss in self.iter() {
            *times.entry(loss.kind).or_default() += loss.ns;
        }
        times
    }

    /// A kernel's first op says nothing of time that comes back at the same place: that is no first time.
    pub(super) fn merge_recurring(mut self) -> Self {
        let recurs = |loss: &&Loss| {
            let again = self.all.get(&(LossKind::Stall, loss.site));
            let LostPart { start, ns, .. } = loss.longest;
            let comes_back =
                |again: &Loss| again.moments.iter().any(|moment| moment.start > start && moment.ns >= ns / 2);
            loss.kind == LossKind::First && again.is_some_and(comes_back)
        };
        let recurring: Vec<Site> = self.all.values().filter(recurs).map(|loss| loss.site).collect();
        for site in recurring {
            let Some(first) = self.all.shift_remove(&(LossKind::First, site)) else { continue };
            let Some(again) = self.all.get_mut(&(LossKind::Stall, site)) else { continue };
            again.ns += first.ns;
            again.gaps += first.gaps;
            again.calls += first.calls;
            again.moments.extend(first.moments);
            again.moments.sort_unstable_by_key(|moment| moment.start);
            if first.longest.ns > again.longest.ns {
                again.longest = first.longest;
            }
        }
        self
    }

    /// The time of all of them in ns.
    pub(crate) fn total_ns(&self) -> u64 {
        self.iter().map(|loss| loss.ns).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.all.values()
    }

    /// Starts and times in ns that add up to that of the pace before launches with a place.
    pub(crate) fn pace(&self) -> &[(i64, u64)] {
        &self.pace
    }

    /// The sum of the squares of each gap's time of the pace, in ns.
    pub(crate) fn pace_squares(&self) -> f64 {
        self.pace_squares
    }

    /// Starts and times in ns that add up to what waiting for the GPU led to.
    pub(crate) fn waits(&self) -> &[(i64, u64)] {
        &self.waits
    }

    /// Adds the parts of a gap.
    pub(super) fn add_gap(&mut self, parts: &[(LossKind, Site, LostPart)]) {
        // By kind: the time, and the length and position of the longest part.
        let mut sums = [(0, 0, 0); LossKind::COUNT];
        for (at, &(kind, _, part)) in parts.iter().enumerate() {
            let (sum, longest, position) = &mut sums[kind.number()];
            *sum += part.ns;
            if part.ns > *longest {
                (*longest, *position) = (part.ns, at);
            }
        }
        for (at, &(kind, site, part)) in parts.iter().enumerate() {
            let (sum, _, longest) = sums[kind.number()];
            // A gap with a stall in the pace is one of them.
            let other = match kind {
                LossKind::Pace => sums[LossKind::Stall.number()].0,
                LossKind::Stall => sums[LossKind::Pace.number()].0.saturating_sub(1),
                _ => 0,
            };
            self.add(kind, site, part, sum >= COUNTED && longest == at && sum > other);
        }
        let first = |kind: LossKind| {
            let start = parts.iter().find(|(other, ..)| *other == kind).map(|(.., part)| part.start)?;
            let (ns, ..) = sums[kind.number()];
            (ns > 0).then_some((start, ns))
        };
        if let Some((_, ns)) = first(LossKind::Blocking(Cause::Synchronise)) {
            let gap = parts.first().map_or(0, |(.., part)| part.gap_start);
            add_near(&mut self.waits, gap, ns);
        }
        let Some((start, ns)) = first(LossKind::Pace) else { return };
        self.pace_squares += (ns as f64).powi(2);
        add_near(&mut self.pace, start, ns);
    }

    /// Adds a gap of one kind.
    #[inline]
    pub(super) fn add_whole(&mut self, kind: LossKind, site: Site, part: LostPart) {
        if kind == LossKind::Pace {
            self.pace_squares += (part.ns as f64).powi(2);
        }
        self.add(kind, site, part, part.ns >= COUNTED || kind == LossKind::Turnaround);
    }

    /// Adds part of a gap, and counts the gap where `counts`.
    #[inline]
    fn add(&mut self, kind: LossKind, site: Site, part: LostPart, counts: bool) {
        if part.ns == 0 {
            return;
        }
        let ops = (part.before, part.after);
        let moment = Moment { gap_start: part.gap_start, start: part.start, ns: 0, ops };
        let loss = match self.all.entry((kind, site)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Loss {
                kind,
                site,
                ns: 0,
                gaps: 0,
                calls: 0,
                longest: LostPart { ns: 0, ..part },
                moments: Vec::new(),
                last: moment,
            }),
        };
        loss.ns += part.ns;
        loss.calls += part.calls;
        loss.gaps += u64::from(counts);
        if part.ns > loss.longest.ns {
            loss.longest = part;
        }
        if loss.last.gap_start != part.gap_start {
            loss.list(moment);
        }
        loss.last.ns += part.ns;
    }

    /// All gaps were added.
    pub(super) fn finish(&mut self) {
        for loss in self.all.values_mut() {
            let last = loss.last;
            loss.list(last);
        }
    }
}

/// Adds a time to the last one where that is short and near.
fn add_near(times: &mut Vec<(i64, u64)>, start: i64, ns: u64) {
    match times.last_mut() {
        Some((first, sum)) if *sum < LISTED && start.saturating_sub(*first) < TOGETHER => *sum += ns,
        _ => times.push((start, ns)),
    }
}

impl Loss {
    /// Lists what it has of the last gap; `next` is of the next one.
    fn list(&mut self, next: Moment) {
        let last = std::mem::replace(&mut self.last, next);
        if last.ns >= LISTED {
            self.moments.push(last);
        }
    }
}
