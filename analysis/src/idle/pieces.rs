//! The work of one thread during the gaps that its ops ended, piece by piece.

use rtl_schema::NameId;

use super::cause::Cause;
use super::first_times::FirstTime;
use super::paths::{PathId, Paths, SpanKind};
use super::threads::{Call, Span, Thread, Threads};

/// A thread that needs less than this from one launch to the next, in ns, is launching.
const BACK_TO_BACK: u64 = 100_000;

/// Shorter things in ns are not asked whether they are done for the first time.
pub(super) const FIRST_TIME: u64 = 100_000;

/// An operator that takes this many times as long as a gap does not explain it by taking as long as usual.
const MUCH_LONGER: u64 = 4;

/// A part of a gap in ns, and where the thread was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) cause: Cause,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) within: NameId,
    /// The chain of spans to `within`, or that of the main thread where this one is in none, with what is innermost.
    pub(super) path: PathId,
    pub(super) innermost: Option<SpanKind>,
    /// The start of the innermost span in ns.
    pub(super) entered: i64,
    pub(super) call: NameId,
    /// The end of the call in ns, of a piece within one.
    pub(super) call_end: i64,
    /// How long the call takes, at the first piece of one that blocks the thread.
    pub(super) blocked: Option<u64>,
    /// False of the thread's own code between two calls.
    pub(super) is_call: bool,
    /// States if the operators around the thread, or its call, do something for the first time.
    pub(super) first_time: FirstTime,
}

impl Piece {
    pub(super) fn length(&self) -> u64 {
        self.end.wrapping_sub(self.start) as u64
    }
}

/// Follows a thread through time: moments that are asked for never go back.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The first call that has not ended.
    call: usize,
    /// How many calls have been reported if they block.
    reported: usize,
    /// The length in ns of the gap that is being split.
    gap: u64,
    spans: SpanCursor,
    /// The memory of a copy of `spans`.
    ahead: SpanCursor,
    /// Follows the main thread of the process, where this thread is in no span: it works for that one.
    main: SpanCursor,
    /// The first call of the main thread that has not ended, and how many have been reported.
    main_call: usize,
    main_reported: usize,
}

impl Cursor {
    /// Splits the time from `from` to `to`, in order; calls that blocked the thread between the last question and `from`
    /// come first, as pieces without length.
    pub(super) fn split(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        paths: &mut Paths,
        [from, to]: [i64; 2],
        mut each: impl FnMut(Piece),
    ) {
        let call = |at: usize| thread.calls.get(at).map(|&row| threads.call(row));
        self.gap = to.wrapping_sub(from) as u64;
        let mut before = self.call.checked_sub(1).and_then(call);
        let mut moment = from;
        while let Some(next) = call(self.call) {
            if next.start >= to {
                break;
            }
            // Calls of one thread that overlap are cut where the earlier one ends.
            let start = before.map_or(next.start, |before| next.start.max(before.end));
            if start > moment {
                self.between(
                    threads,
                    thread,
                    paths,
                    [moment, start.min(to)],
                    before.zip(Some(next)),
                    &mut each,
                );
                moment = start.min(to);
            }
            let end = next.end.min(to);
            let blocks = next.cause.is_blocking() && self.call >= self.reported;
            self.reported = self.reported.max(self.call + 1);
            if end > moment || blocks {
                let end = end.max(moment);
                let length = next.end.wrapping_sub(next.start) as u64;
                let mut blocked = blocks.then_some(length);
                let mut seen = if end > moment { moment } else { next.start.max(self.spans.moment) };
                loop {
                    let place = self.place(threads, thread, paths, seen);
                    // A thread runs on while it captures a graph.
                    let until = match next.is_capture && end > moment {
                        true => self.spans.until(threads, thread).min(end),
                        false => end,
                    };
                    let first_time = match place.first_time {
                        FirstTime::Unknown if end.wrapping_sub(moment) as u64 >= FIRST_TIME => {
                            threads.first_time_of_call(thread.process, &next)
                        }
                        known => known,
                    };
                    each(Piece {
                        first_time,
                        call_end: next.end,
                        blocked: blocked.take(),
                        is_call: true,
                        ..place.piece(next.cause, [moment, until], next.name)
                    });
                    (moment, seen) = (until, until);
                    if until >= end {
                        break;
                    }
                }
            }
            if next.end > to {
                return;
            }
            before = Some(next);
            self.call += 1;
        }
        if moment < to {
            let next = call(self.call);
            self.between(threads, thread, paths, [moment, to], before.zip(next), &mut each);
        }
    }

    /// The place of the thread; in no span, the chain of the main thread.
    fn place(&mut self, threads: &Threads<'_>, thread: &Thread, paths: &mut Paths, moment: i64) -> Place {
        let mut spans = self.spans.at(threads, thread, moment);
        let mut within = spans.name();
        if spans.open.is_empty() {
            let (moment, main) = (moment.max(self.main.moment), threads.get(thread.main));
            spans = self.main.at(threads, main, moment);
            if main.only_waits {
                within = spans.name();
            }
        }
        let (path, innermost) = spans.path(paths);
        let (innermost, entered) = innermost.unzip();
        let first_time = spans.first_time(threads, thread, self.gap);
        Place { within, path, innermost, entered: entered.unwrap_or(i64::MIN), first_time }
    }

    fn between(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        paths: &mut Paths,
        [from, to]: [i64; 2],
        around: Option<(Call, Call)>,
        each: &mut impl FnMut(Piece),
    ) {
        let launches = around.filter(|(before, next)| {
            let is_launch = |call: &Call| call.cause == Cause::Launch;
            let distance = next.start.wrapping_sub(before.end) as u64;
            is_launch(before) && is_launch(next) && next.start >= before.end && distance <= BACK_TO_BACK
        });
        if let Some((_, next)) = launches {
            return self.own_code(threads, thread, paths, [from, to], Some(next.name), each);
        }
        let main = threads.get(thread.main);
        if thread.spans.is_empty() && main.only_waits {
            return self.between_waits(threads, thread, paths, [from, to], each);
        }
        self.own_code(threads, thread, paths, [from, to], None, each);
    }

    /// A thread without spans works for one that launches nothing and waits for the GPU: it does nothing while that one waits.
    fn between_waits(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        paths: &mut Paths,
        [from, to]: [i64; 2],
        each: &mut impl FnMut(Piece),
    ) {
        let main = threads.get(thread.main);
        let mut moment = from;
        while let Some(wait) = main.calls.get(self.main_call).map(|&row| threads.call(row)) {
            if wait.start >= to {
                break;
            }
            let (start, end) = (wait.start.max(moment), wait.end.min(to));
            if end > start {
                self.own_code(threads, thread, paths, [moment, start], None, each);
                let blocks = self.main_call >= self.main_reported;
                self.main_reported = self.main_call + 1;
                let length = wait.end.wrapping_sub(wait.start) as u64;
                let place = self.place(threads, thread, paths, start);
                each(Piece {
                    call_end: wait.end,
                    blocked: blocks.then_some(length),
                    is_call: true,
                    ..place.piece(wait.cause, [start, end], wait.name)
                });
                moment = end;
            }
            if wait.end > to {
                break;
            }
            self.main_call += 1;
        }
        self.own_code(threads, thread, paths, [moment, to], None, each);
    }

    /// Adds the code of a thread outside of calls, on its way to the call `launch` if it is launching.
    fn own_code(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        paths: &mut Paths,
        [from, to]: [i64; 2],
        launch: Option<NameId>,
        each: &mut impl FnMut(Piece),
    ) {
        let main = threads.get(thread.main);
        let works_for_main = thread.spans.is_empty() && main.only_waits;
        let mut start = from;
        while start < to {
            let spans = self.spans.at(threads, thread, start);
            let mut end = spans.until(threads, thread).min(to);
            let (cause, call) = match launch {
                Some(launch) => (Cause::Launch, launch),
                None if start < spans.compiles_until => {
                    end = end.min(spans.compiles_until);
                    (Cause::Loading, NameId::NONE)
                }
                None => (Cause::Host, NameId::NONE),
            };
            let place = self.place(threads, thread, paths, start);
            if works_for_main {
                end = end.min(self.main.until(threads, main));
            }
            each(place.piece(cause, [start, end], call));
            start = end;
        }
    }

    /// The chains that the thread is in from `from` to `to`, which is not before the moments of [`Self::split`] and does not move
    /// these on.
    pub(super) fn look_ahead(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        paths: &mut Paths,
        [from, to]: [i64; 2],
        mut each: impl FnMut(PathId, [i64; 2]),
    ) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clone_from(&self.spans);
        std::mem::swap(&mut self.spans, &mut ahead);
        let mut start = from;
        while start < to {
            let place = self.place(threads, thread, paths, start);
            let end = self.spans.until(threads, thread).min(to);
            each(place.path, [start, end]);
            start = end;
        }
        std::mem::swap(&mut self.spans, &mut ahead);
        self.ahead = ahead;
    }
}

/// The spans around a thread at a moment.
#[derive(Debug, Clone, Copy)]
struct Place {
    within: NameId,
    path: PathId,
    innermost: Option<SpanKind>,
    entered: i64,
    first_time: FirstTime,
}

impl Place {
    /// A piece between two calls, in ns.
    fn piece(self, cause: Cause, [start, end]: [i64; 2], call: NameId) -> Piece {
        let Self { within, path, innermost, entered, first_time } = self;
        Piece {
            cause,
            start,
            end,
            within,
            path,
            innermost,
            entered,
            call,
            call_end: end,
            blocked: None,
            is_call: false,
            first_time,
        }
    }
}

/// The spans that are open at a moment, each with its chain once that was asked for.
#[derive(Debug)]
struct SpanCursor {
    moment: i64,
    next: usize,
    open: Vec<(Span, Option<PathId>)>,
    /// The first end of a span below one that ends later.
    crossing: i64,
    /// The end of the spans so far that compile.
    compiles_until: i64,
}

impl Clone for SpanCursor {
    fn clone(&self) -> Self {
        Self { open: self.open.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        let mut open = std::mem::take(&mut self.open);
        open.clone_from(&other.open);
        *self = Self { open, ..*other };
    }
}

impl Default for SpanCursor {
    fn default() -> Self {
        Self { moment: i64::MIN, next: 0, open: Vec::new(), crossing: i64::MAX, compiles_until: i64::MIN }
    }
}

impl SpanCursor {
    fn at(&mut self, threads: &Threads<'_>, thread: &Thread, moment: i64) -> &mut Self {
        self.moment = moment;
        while let Some(&number) = thread.spans.get(self.next) {
            let span = threads.span(number);
            if span.start > moment {
                break;
            }
            while self.open.pop_if(|(open, _)| open.end <= span.start).is_some() {}
            if let Some((outer, _)) = self.open.last().filter(|(outer, _)| outer.end < span.end) {
                self.crossing = self.crossing.min(outer.end);
            }
            self.open.push((span, None));
            if span.compiles {
                self.compiles_until = self.compiles_until.max(span.end);
            }
            self.next += 1;
        }
        while self.open.pop_if(|(open, _)| open.end <= moment).is_some() {}
        if self.crossing <= moment {
            self.remove_crossed(moment);
        }
        self
    }

    /// Removes spans that have ended below ones that are open: a range begins in a function that ends before it.
    #[cold]
    fn remove_crossed(&mut self, moment: i64) {
        let first = self.open.iter().position(|(span, _)| span.end <= moment).unwrap_or(self.open.len());
        self.open.retain(|(span, _)| span.end > moment);
        self.open[first..].iter_mut().for_each(|(_, path)| *path = None);
        self.crossing = i64::MAX;
        let mut last = i64::MIN;
        for (span, _) in self.open.iter().rev() {
            if span.end < last {
                self.crossing = self.crossing.min(span.end);
            }
            last = last.max(span.end);
        }
    }

    fn name(&self) -> NameId {
        self.open.last().map_or(NameId::NONE, |(span, _)| span.name)
    }

    /// The chain of all of them, and what the innermost one is, with its start.
    fn path(&mut self, paths: &mut Paths) -> (PathId, Option<(SpanKind, i64)>) {
        let known = self.open.iter().rposition(|(_, path)| path.is_some()).map_or(0, |known| known + 1);
        let mut outer = known.checked_sub(1).and_then(|known| self.open[known].1).unwrap_or(PathId::NONE);
        for (span, path) in &mut self.open[known..] {
            outer = paths.enter(outer, span.name, span.kind);
            *path = Some(outer);
        }
        (outer, self.open.last().map(|(span, _)| (span.kind, span.start)))
    }

    /// Tells if one of them does something for the first time, in a gap of `gap` ns: the innermost one that can be compared decides.
    fn first_time(&self, threads: &Threads<'_>, thread: &Thread, gap: u64) -> FirstTime {
        if gap < FIRST_TIME {
            return FirstTime::Unknown;
        }
        let length = |span: &Span| span.end.wrapping_sub(span.start) as u64;
        let long = self.open.iter().rev().map(|(span, _)| span).filter(|span| length(span) >= FIRST_TIME);
        for span in long {
            match threads.first_time_of(thread.process, span) {
                FirstTime::Yes => return FirstTime::Yes,
                FirstTime::No if length(span) <= gap.saturating_mul(MUCH_LONGER) => return FirstTime::No,
                _ => {}
            }
        }
        FirstTime::Unknown
    }

    /// The end of the time in which the innermost one stays the same.
    fn until(&self, threads: &Threads<'_>, thread: &Thread) -> i64 {
        let next = thread.spans.get(self.next).map_or(i64::MAX, |&number| threads.span(number).start);
        self.open.last().map_or(next, |(open, _)| open.end.min(next).min(self.crossing))
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::Tables;
    use rtl_schema::table::{ApiCall, Range};

    use super::*;
    use crate::base::ops::Order;
    use crate::launches::EnqueueTimes;

    /// The chains of one thread in these ranges, innermost first, with the times in ns in which it is in them.
    fn chains(ranges: &[(&str, [i64; 2])]) -> Vec<(Vec<String>, [i64; 2])> {
        let mut tables = Tables::default();
        let name = tables.strings.intern("hipLaunchKernel");
        tables.api_calls.push(ApiCall {
            name,
            tid: Some(7),
            start: 1_000,
            duration: Some(1),
            ..ApiCall::default()
        });
        for &(name, [start, end]) in ranges {
            let name = tables.strings.intern(name);
            tables.ranges.push(Range {
                name,
                tid: Some(7),
                start,
                duration: Some(end - start),
                ..Range::default()
            });
        }
        let order = Order::of(&tables);
        let times = EnqueueTimes::new(&tables, &order);
        let threads = Threads::new(&tables, &times);
        let (mut paths, mut pieces) = (Paths::default(), Vec::new());
        let mut cursor = Cursor::default();
        cursor.split(&threads, threads.get(0), &mut paths, [0, 100], |piece| pieces.push(piece));
        let names = |path| paths.spans(path).map(|(name, _)| tables.strings.get(name).to_owned()).collect();
        pieces.iter().map(|piece| (names(piece.path), [piece.start, piece.end])).collect()
    }

    #[test]
    fn a_function_that_ends_before_a_range_that_began_in_it_is_around_it_no_longer() {
        let found =
            chains(&[("train", [0, 100]), ("enter", [10, 30]), ("update", [20, 90]), ("sort", [40, 50])]);
        let expected: [(&[&str], _); 7] = [
            (&["train"], [0, 10]),
            (&["enter", "train"], [10, 20]),
            (&["update", "enter", "train"], [20, 30]),
            (&["update", "train"], [30, 40]),
            (&["sort", "update", "train"], [40, 50]),
            (&["update", "train"], [50, 90]),
            (&["train"], [90, 100]),
        ];
        let expected =
            expected.map(|(names, times)| (names.iter().map(|&name| name.to_owned()).collect(), times));
        assert_eq!(found, expected);
    }
}
