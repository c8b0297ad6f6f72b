//! Idle time of one GPU, added up gap by gap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use super::cause::Cause;
use super::losses::Losses;
use super::paths::{PathId, Paths, SpanKind, innermost_of_most};
use super::types::{AfterBlocking, CauseIdle, GapPart, GpuIdle, IdleGap, Place, PlaceIdle};
use crate::base::ops::Op;
use crate::base::union_length::to_ns;

pub(super) const CAUSES: usize = Cause::ALL.len();

/// How many of the longest gaps of a GPU are kept, and of each cause.
const LONGEST: usize = 10;
pub(crate) const LONGEST_OF_CAUSE: usize = 3;

/// How many places of each cause are kept.
const PLACES: usize = 5;

/// Where a thread was: the name of the span, and of the call.
pub(super) type Names = (NameId, NameId);

/// The cause of a piece, its length in ns and where the thread was.
type NotedPiece = (Cause, u64, Names, PathId);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parts {
    /// Indexed by cause: the time in ns, and the longest piece of it with its place; once [`Self::name_places`] was called with the place
    /// of most time.
    of: [(u64, u64, Names); CAUSES],
}

impl Default for Parts {
    fn default() -> Self {
        Self { of: [(0, 0, (NameId::NONE, NameId::NONE)); CAUSES] }
    }
}

impl Parts {
    #[inline]
    pub(super) fn add(&mut self, cause: Cause, length: u64, names: Names) {
        let (time, longest, place) = &mut self.of[cause as usize];
        *time += length;
        if length > *longest {
            (*longest, *place) = (length, names);
        }
    }

    /// Names the place of most time of each cause, of equal ones the first, or what is around places with half of the time. `pieces` are
    /// those of the gap in order.
    fn name_places(&mut self, pieces: &[NotedPiece], paths: &Paths, says_where: &impl Fn(NameId) -> bool) {
        let mut sums: FxHashMap<(Cause, Names), (u64, Reverse<usize>)> = FxHashMap::default();
        for (position, &(cause, length, names, _)) in pieces.iter().enumerate() {
            sums.entry((cause, names)).or_insert((0, Reverse(position))).0 += length;
        }
        for (cause, (time, _, place)) in Cause::ALL.into_iter().zip(&mut self.of) {
            let of_cause = sums.iter().filter(|((other, _), _)| *other == cause && *time > 0);
            let Some(((_, names), (most, _))) = of_cause.max_by_key(|(_, sum)| **sum) else { continue };
            *place = *names;
            if most * 2 < *time {
                let of_cause = pieces.iter().filter(|(other, ..)| *other == cause);
                let chains = of_cause.map(|&(_, length, _, path)| (paths.spans(path), length));
                let is_named = |(name, kind)| kind != SpanKind::Step && says_where(name);
                if let Some((name, _)) = innermost_of_most(chains, *time, is_named) {
                    *place = (name, NameId::NONE);
                }
            }
        }
    }

    fn parts(&self, tables: &Tables) -> Vec<GapPart> {
        let known = Cause::ALL.into_iter().zip(&self.of).filter(|(_, part)| part.0 > 0);
        let mut parts: Vec<GapPart> =
            known.map(|(cause, &(time, _, names))| part(tables, cause, time, names)).collect();
        parts.sort_by_key(|part| Reverse(part.idle_ns));
        parts
    }
}

fn part(tables: &Tables, cause: Cause, time: u64, names: Names) -> GapPart {
    GapPart { cause, idle_ns: to_ns(time), place: place(tables, names) }
}

fn place(tables: &Tables, (within, call): Names) -> Place {
    let text = |name: NameId| name.is_some().then(|| tables.strings.get(name).to_owned());
    Place { within: text(within), call: text(call) }
}

/// A gap that may be among the longest. The order is that of reports reversed, so that a heap drops the least one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) start: i64,
    pub(super) length: u64,
    pub(super) after: Op,
    pub(super) parts: Parts,
    /// Time that blocking calls bear.
    pub(super) blocked: Parts,
    /// Indexed by cause: [`CauseIdle::own_ns`] of it.
    pub(super) own: [u64; CAUSES],
    /// The part of [`GpuIdle::waiting_ns`].
    pub(super) waiting: u64,
}

/// Gaps with most of something.
#[derive(Debug, Default)]
struct Longest {
    /// Time and start, and the position in `gaps`.
    order: BinaryHeap<(Reverse<u64>, i64, usize)>,
    gaps: Vec<Gap>,
}

impl Longest {
    /// Returns whether a gap with so much time is among the `keep` with most so far.
    #[inline]
    fn takes(&self, keep: usize, time: u64) -> bool {
        self.gaps.len() < keep || self.order.peek().is_some_and(|&(Reverse(least), ..)| time > least)
    }

    /// Keeps the gap if it is among the `keep` with most `time`, of equal ones the earlier.
    #[inline]
    fn offer(&mut self, keep: usize, time: u64, gap: &Gap) {
        if self.gaps.len() < keep {
            self.order.push((Reverse(time), gap.start, self.gaps.len()));
            self.gaps.push(*gap);
        } else if self.order.peek().is_some_and(|&(Reverse(least), ..)| time > least)
            && let Some((_, _, free)) = self.order.pop()
        {
            self.gaps[free] = *gap;
            self.order.push((Reverse(time), gap.start, free));
        }
    }

    fn finish(self, tables: &Tables) -> Vec<IdleGap> {
        let order = self.order.into_sorted_vec();
        order.into_iter().map(|(_, _, position)| described(tables, &self.gaps[position])).collect()
    }
}

fn described(tables: &Tables, gap: &Gap) -> IdleGap {
    IdleGap {
        start_ns: gap.start,
        duration_ns: to_ns(gap.length),
        after: gap.after.name(tables).to_owned(),
        correlation: gap.after.correlation(tables),
        parts: gap.parts.parts(tables),
        own: gap.own.map(to_ns),
        after_blocking: gap.blocked.parts(tables).into_iter().next(),
    }
}

/// One cause, or the calls of one cause that blocked.
#[derive(Debug, Default)]
struct Sums {
    time: u64,
    gaps: u64,
    most: u64,
    places: FxHashMap<Names, u64>,
    longest: Longest,
}

impl Sums {
    fn places(&mut self, tables: &Tables) -> Vec<PlaceIdle> {
        let mut all: Vec<(Names, u64)> = self.places.drain().collect();
        let text = |(within, call): Names| {
            let text = |name: NameId| name.is_some().then(|| tables.strings.get(name));
            (text(within), text(call))
        };
        all.sort_by(|one, other| (Reverse(one.1), text(one.0)).cmp(&(Reverse(other.1), text(other.0))));
        all.truncate(PLACES);
        let row = |(names, time)| PlaceIdle { place: place(tables, names), idle_ns: to_ns(time) };
        all.into_iter().map(row).collect()
    }
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    idle: u64,
    gaps: u64,
    causes: [Sums; CAUSES],
    /// Gaps of ops that had been enqueued long before.
    waiting: u64,
    /// Indexed by cause: time that no blocking call bears.
    own: [u64; CAUSES],
    blocking: [Sums; CAUSES],
    /// Indexed by cause: time and number of gaps that began in a call of it.
    drained: [(u64, u64); CAUSES],
    longest: Longest,
    /// The pieces of the gap that is being split.
    pieces: Vec<NotedPiece>,
}

impl Tally {
    /// Notes a piece of the gap that is being split, in order.
    #[inline]
    pub(super) fn note_piece(&mut self, cause: Cause, length: u64, names: Names, path: PathId) {
        self.pieces.push((cause, length, names, path));
    }

    /// Names the places of a gap of which all pieces are noted, where it may be among the longest.
    pub(super) fn name_places(&mut self, gap: &mut Gap, paths: &Paths, says_where: impl Fn(NameId) -> bool) {
        let mut parts = self.causes.iter().zip(&gap.parts.of);
        let is_kept = |(sums, part): (&Sums, &(u64, u64, Names))| {
            part.0 > 0 && sums.longest.takes(LONGEST_OF_CAUSE, part.0)
        };
        if self.pieces.len() > 2 && (self.longest.takes(LONGEST, gap.length) || parts.any(is_kept)) {
            gap.parts.name_places(&self.pieces, paths, &says_where);
        }
        self.pieces.clear();
    }

    /// Adds a piece of a gap to the places of its cause.
    #[inline]
    pub(super) fn add_place(&mut self, cause: Cause, names: Names, length: u64) {
        *self.causes[cause as usize].places.entry(names).or_default() += length;
    }

    /// Notes that a blocking call bears part of a gap.
    pub(super) fn add_blocked(&mut self, cause: Cause, names: Names, length: u64) {
        *self.blocking[cause as usize].places.entry(names).or_default() += length;
    }

    /// Adds a gap that has one cause and no place: most gaps of a busy GPU. The second time is [`CauseIdle::own_ns`] of it.
    #[inline]
    pub(super) fn add_whole(&mut self, cause: Cause, [length, own]: [u64; 2], start: i64, after: Op) {
        let waiting = length - own;
        let sums = &mut self.causes[cause as usize];
        if self.longest.takes(LONGEST, length) || sums.longest.takes(LONGEST_OF_CAUSE, length) {
            let mut parts = Parts::default();
            parts.add(cause, length, (NameId::NONE, NameId::NONE));
            let mut gap =
                Gap { start, length, after, parts, blocked: Parts::default(), own: [0; CAUSES], waiting };
            gap.own[cause as usize] = own;
            return self.add(&gap, None);
        }
        self.idle += length;
        self.waiting += waiting;
        self.gaps += 1;
        self.own[cause as usize] += own;
        sums.time += length;
        sums.gaps += 1;
    }

    /// Adds a gap. `drained` is the cause of the blocking call that it began in.
    pub(super) fn add(&mut self, gap: &Gap, drained: Option<Cause>) {
        self.idle += gap.length;
        self.waiting += gap.waiting;
        self.gaps += 1;
        self.longest.offer(LONGEST, gap.length, gap);
        for (sums, part) in self.causes.iter_mut().zip(&gap.parts.of) {
            sums.add(part.0, gap);
        }
        for (sums, part) in self.blocking.iter_mut().zip(&gap.blocked.of) {
            sums.add(part.0, gap);
        }
        for (own, part) in self.own.iter_mut().zip(&gap.own) {
            *own += part;
        }
        if let Some(cause) = drained {
            let (time, gaps) = &mut self.drained[cause as usize];
            (*time, *gaps) = (*time + gap.length, *gaps + 1);
        }
    }

    /// The figures of a GPU that ran for `wall` ns.
    pub(super) fn finish(self, tables: &Tables, gpu: i64, label: String, wall: u64) -> GpuIdle {
        let share = |time: u64| if wall == 0 { 0.0 } else { time as f64 / wall as f64 };
        let named = |sums: [Sums; CAUSES]| Cause::ALL.into_iter().zip(sums);
        let known = named(self.causes).zip(self.own).filter(|((_, sums), _)| sums.time > 0);
        let mut causes: Vec<CauseIdle> = known
            .map(|((cause, mut sums), own)| CauseIdle {
                cause,
                idle_ns: to_ns(sums.time),
                own_ns: to_ns(own),
                share: share(sums.time),
                gaps: sums.gaps,
                longest_ns: to_ns(sums.most),
                places: sums.places(tables),
                longest: sums.longest.finish(tables),
            })
            .collect();
        causes.sort_by_key(|cause| (Reverse(cause.idle_ns), cause.cause));
        let known = named(self.blocking).zip(self.drained);
        let known = known.filter(|((_, sums), (_, drained))| sums.time > 0 || *drained > 0);
        let mut after_blocking: Vec<AfterBlocking> = known
            .map(|((cause, mut sums), (drained, drained_gaps))| AfterBlocking {
                cause,
                cost_ns: to_ns(sums.time),
                share: share(sums.time),
                gaps: sums.gaps,
                drained_ns: to_ns(drained),
                drained_gaps,
                places: sums.places(tables),
                longest: sums.longest.finish(tables),
            })
            .collect();
        after_blocking.sort_by_key(|after| (Reverse(after.cost_ns), after.cause));
        GpuIdle {
            gpu,
            label,
            wall_ns: to_ns(wall),
            idle_ns: to_ns(self.idle),
            waiting_ns: to_ns(self.waiting),
            gaps: self.gaps,
            blocking_copies_alone_ns: 0,
            losses: Losses::default(),
            before: Losses::default(),
            causes,
            after_blocking,
            longest: self.longest.finish(tables),
        }
    }
}

impl Sums {
    #[inline]
    fn add(&mut self, time: u64, gap: &Gap) {
        if time > 0 {
            self.time += time;
            self.gaps += 1;
            self.most = self.most.max(time);
            self.longest.offer(LONGEST_OF_CAUSE, time, gap);
        }
    }
}
