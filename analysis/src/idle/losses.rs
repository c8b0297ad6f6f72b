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

/// Parts of gaps from this length on in ns are listed with their moments: fewer than ten thousand fit into a second.
pub(crate) const LISTED: u64 = 100_000;

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
    /// The op had been enqueued long before it started.
    Waiting,
    /// Nothing ties the op to the host.
    Unknown,
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

/// Idle time of one kind at one site.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loss {
    pub(crate) kind: LossKind,
    pub(crate) site: Site,
    pub(crate) ns: u64,
    /// The number of gaps of which no other loss has more.
    pub(crate) gaps: u64,
    pub(crate) longest: LostPart,
    /// The parts of [`LISTED`] or longer in order of time: start and length in ns.
    pub(crate) moments: Vec<(i64, u64)>,
}

/// The losses of one GPU, in the order of their first parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Losses {
    /// The chains that sites name.
    pub(crate) paths: Paths,
    pub(super) all: FirstUseMap<(LossKind, Site), Loss>,
}

/// Equal where each kind has the same time: rows and names have other numbers in a trace whose rows are in another order.
impl PartialEq for Losses {
    fn eq(&self, other: &Self) -> bool {
        self.by_kind() == other.by_kind()
    }
}

impl Losses {
    fn by_kind(&self) -> BTreeMap<LossKind, u64> {
        let mut times = BTreeMap::new();
        for loss in self.iter() {
            *times.entry(loss.kind).or_default() += loss.ns;
        }
        times
    }

    /// The time of all of them in ns.
    pub(crate) fn total_ns(&self) -> u64 {
        self.iter().map(|loss| loss.ns).sum()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Loss> {
        self.all.values()
    }

    /// Adds the parts of one gap.
    pub(super) fn add_gap(&mut self, parts: &[(LossKind, Site, LostPart)]) {
        let longest =
            parts.iter().enumerate().max_by_key(|(at, (.., part))| (part.ns, std::cmp::Reverse(*at)));
        for (at, &(kind, site, part)) in parts.iter().enumerate() {
            self.add(kind, site, part, longest.is_some_and(|(longest, _)| longest == at));
        }
    }

    /// Adds part of a gap, which counts as a gap where it is the longest part.
    #[inline]
    pub(super) fn add(&mut self, kind: LossKind, site: Site, part: LostPart, is_longest: bool) {
        if part.ns == 0 {
            return;
        }
        let loss = match self.all.entry((kind, site)) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(Loss {
                kind,
                site,
                ns: 0,
                gaps: 0,
                longest: LostPart { ns: 0, ..part },
                moments: Vec::new(),
            }),
        };
        loss.ns += part.ns;
        loss.gaps += u64::from(is_longest);
        if part.ns > loss.longest.ns {
            loss.longest = part;
        }
        if part.ns >= LISTED {
            loss.moments.push((part.start, part.ns));
        }
    }
}
