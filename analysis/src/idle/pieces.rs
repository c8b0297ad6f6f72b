//! The work of one thread during the gaps that its ops ended, piece by piece.

use rtl_schema::NameId;

use super::cause::Cause;
use super::threads::{Call, Span, Thread, Threads};

/// A thread that needs less than this from one launch to the next, in ns, is launching.
const BACK_TO_BACK: u64 = 100_000;

/// A part of a gap in ns, and where the thread was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) cause: Cause,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) within: NameId,
    pub(super) call: NameId,
    /// The end of the call in ns, of a piece within one.
    pub(super) call_end: i64,
    /// How long the call takes, at the first piece of one that blocks the thread.
    pub(super) blocked: Option<u64>,
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
    spans: SpanCursor,
}

impl Cursor {
    /// Splits the time from `from` to `to`, in order; calls that blocked the thread between the last question and `from`
    /// come first, as pieces without length.
    pub(super) fn split(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
        [from, to]: [i64; 2],
        mut each: impl FnMut(Piece),
    ) {
        let call = |at: usize| thread.calls.get(at).map(|&row| threads.call(row));
        let mut before = self.call.checked_sub(1).and_then(call);
        let mut moment = from;
        while let Some(next) = call(self.call) {
            if next.start >= to {
                break;
            }
            // Calls of one thread that overlap are cut where the earlier one ends.
            let start = before.map_or(next.start, |before| next.start.max(before.end));
            if start > moment {
                self.between(threads, thread, [moment, start.min(to)], before.zip(Some(next)), &mut each);
                moment = start.min(to);
            }
            let end = next.end.min(to);
            let blocks = next.cause.is_blocking() && self.call >= self.reported;
            self.reported = self.reported.max(self.call + 1);
            if end > moment || blocks {
                let end = end.max(moment);
                let seen = if end > moment { moment } else { next.start.max(self.spans.moment) };
                let within = self.spans.at(threads, thread, seen).name();
                let length = next.end.wrapping_sub(next.start) as u64;
                let blocked = blocks.then_some(length);
                let (cause, call, call_end) = (next.cause, next.name, next.end);
                each(Piece { cause, start: moment, end, within, call, call_end, blocked });
                moment = end;
            }
            if next.end > to {
                return;
            }
            before = Some(next);
            self.call += 1;
        }
        if moment < to {
            let next = call(self.call);
            self.between(threads, thread, [moment, to], before.zip(next), &mut each);
        }
    }

    fn between(
        &mut self,
        threads: &Threads<'_>,
        thread: &Thread,
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
            let within = self.spans.at(threads, thread, from).name();
            let cause = Cause::Launch;
            let call = next.name;
            each(Piece { cause, start: from, end: to, within, call, call_end: to, blocked: None });
            return;
        }
        let mut start = from;
        while start < to {
            let spans = self.spans.at(threads, thread, start);
            let is_compiling = start < spans.compiles_until;
            let cause = if is_compiling { Cause::Loading } else { Cause::Host };
            let mut end = spans.until(threads, thread).min(to);
            if is_compiling {
                end = end.min(spans.compiles_until);
            }
            let within = spans.name();
            each(Piece { cause, start, end, within, call: NameId::NONE, call_end: end, blocked: None });
            start = end;
        }
    }
}

/// The spans that are open at a moment.
#[derive(Debug)]
struct SpanCursor {
    moment: i64,
    next: usize,
    open: Vec<Span>,
    /// The end of the spans so far that compile.
    compiles_until: i64,
}

impl Default for SpanCursor {
    fn default() -> Self {
        Self { moment: i64::MIN, next: 0, open: Vec::new(), compiles_until: i64::MIN }
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
            while self.open.pop_if(|open| open.end <= span.start).is_some() {}
            self.open.push(span);
            if span.compiles {
                self.compiles_until = self.compiles_until.max(span.end);
            }
            self.next += 1;
        }
        // A span that has ended below one that is open goes when it is the last.
        while self.open.pop_if(|open| open.end <= moment).is_some() {}
        self
    }

    fn name(&self) -> NameId {
        self.open.last().map_or(NameId::NONE, |span| span.name)
    }

    /// The end of the time in which the innermost one stays the same.
    fn until(&self, threads: &Threads<'_>, thread: &Thread) -> i64 {
        let next = thread.spans.get(self.next).map_or(i64::MAX, |&number| threads.span(number).start);
        self.open.last().map_or(next, |open| open.end.min(next))
    }
}
