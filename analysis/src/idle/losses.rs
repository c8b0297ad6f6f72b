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
    /// The number of gaps of which no other loss of this kind has more.
    pub(crate) gaps: u64,
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

    /// Adds the parts of a gap.
    pub(super) fn add_gap(&mut self, parts: &[(LossKind, Site, LostPart)]) {
        // By kind: the position of the longest part.
        let mut longest = [None; LossKind::COUNT];
        for (at, &(kind, _, part)) in parts.iter().enumerate() {
            let longest = &mut longest[kind.number()];
            if longest.is_none_or(|(ns, _)| part.ns > ns) {
                *longest = Some((part.ns, at));
            }
        }
        let mut pace: Option<(i64, u64)> = None;
        for (at, &(kind, site, part)) in parts.iter().enumerate() {
            self.add(kind, site, part, longest[kind.number()] == Some((part.ns, at)));
            if kind == LossKind::Pace {
                let (_, ns) = pace.get_or_insert((part.start, 0));
                *ns += part.ns;
            }
        }
        let Some((start, ns)) = pace.filter(|(_, ns)| *ns > 0) else { return };
        match self.pace.last_mut() {
            Some((first, sum)) if *sum < LISTED && start.saturating_sub(*first) < TOGETHER => *sum += ns,
            _ => self.pace.push((start, ns)),
        }
    }

    /// Adds part of a gap, which counts as a gap where it is the longest part of its kind.
    #[inline]
    pub(super) fn add(&mut self, kind: LossKind, site: Site, part: LostPart, is_longest: bool) {
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
                longest: LostPart { ns: 0, ..part },
                moments: Vec::new(),
                last: moment,
            }),
        };
        loss.ns += part.ns;
        loss.gaps += u64::from(is_longest);
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

impl Loss {
    /// Lists what it has of the last gap; `next` is of the next one.
    fn list(&mut self, next: Moment) {
        let last = std::mem::replace(&mut self.last, next);
        if last.ns >= LISTED {
            self.moments.push(last);
        }
    }
}
