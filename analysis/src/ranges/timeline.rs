//! Which ranges are open at a moment, and which ranges lie inside others.

use std::cmp::Reverse;

use super::sets::{EMPTY, SetId, Sets};

/// A range as the timeline sees it; `end` is the first moment outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: Reverse<i64>,
    /// The number of its name.
    pub(super) name: u32,
    /// Its row among all ranges.
    pub(super) row: u32,
}

/// The sets of open ranges along time: each holds from its start to the next one's.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    starts: Vec<i64>,
    sets: Vec<SetId>,
}

impl Timeline {
    /// Follows `spans`, in any order. Of ranges open together the one opened last is the innermost, of equal
    /// starts the shortest.
    pub(super) fn of(mut spans: Vec<Span>, sets: &mut Sets) -> Self {
        spans.retain(|span| span.end.0 > span.start);
        spans.sort_unstable();
        let mut ends: Vec<i64> = spans.iter().map(|span| span.end.0).collect();
        ends.sort_unstable();
        let mut timeline = Self::default();
        let mut open: Vec<Span> = Vec::new();
        let (mut next, mut closed) = (0, 0);
        while let Some(&end) = ends.get(closed) {
            let moment = spans.get(next).map_or(end, |span| span.start.min(end));
            while ends.get(closed) == Some(&moment) {
                closed += 1;
                if let Some(position) = open.iter().rposition(|span| span.end.0 == moment) {
                    open.remove(position);
                }
            }
            while let Some(&span) = spans.get(next).filter(|span| span.start == moment) {
                open.push(span);
                next += 1;
            }
            let set = sets.intern(open.iter().map(|span| span.name));
            if timeline.sets.last() != Some(&set) {
                timeline.starts.push(moment);
                timeline.sets.push(set);
            }
        }
        timeline
    }

    /// The set at `moment`. `hint` is where the last answer was found: moments mostly come in order.
    #[inline]
    pub(super) fn at(&self, moment: i64, hint: &mut usize) -> SetId {
        let holds = |position: usize| {
            self.starts.get(position).is_some_and(|&start| start <= moment)
                && self.starts.get(position + 1).is_none_or(|&next| moment < next)
        };
        if holds(*hint) {
            return self.sets[*hint];
        }
        if holds(*hint + 1) {
            *hint += 1;
            return self.sets[*hint];
        }
        match self.starts.partition_point(|&start| start <= moment).checked_sub(1) {
            Some(position) => {
                *hint = position;
                self.sets[position]
            }
            None => EMPTY,
        }
    }
}

/// Calls `found` for each span with its row and the set of the spans that hold it from start to end, itself
/// included and innermost.
pub(super) fn enclosing(mut spans: Vec<Span>, sets: &mut Sets, mut found: impl FnMut(u32, SetId)) {
    spans.sort_unstable();
    let mut open: Vec<Span> = Vec::new();
    for (position, &span) in spans.iter().enumerate() {
        open.retain(|outer| outer.end.0 >= span.start);
        // Of equal spans each encloses the others.
        let equal = spans[position + 1..]
            .iter()
            .take_while(|other| (other.start, other.end) == (span.start, span.end));
        let outer = open.iter().filter(|outer| outer.end.0 >= span.end.0);
        let set = sets.intern(outer.chain(equal).map(|outer| outer.name).chain([span.name]));
        found(span.row, set);
        open.push(span);
    }
}
