//! Which ranges are open at a moment, and which ranges lie inside others.

use std::cmp::Reverse;

use super::positions::{NOWHERE, Positions};

/// A range as the timeline sees it; `end` is the first moment outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: Reverse<i64>,
    pub(super) name: u32,
    /// The row among all ranges.
    pub(super) row: u32,
}

/// The moments at which ranges open or close: the same ranges are open from each to the next.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    moments: Vec<i64>,
    /// The position of the first moment; those of the others follow.
    first: u32,
}

impl Timeline {
    /// Follows `spans`, in any order. Of ranges open together the one opened last is the innermost, of equal
    /// starts the shortest.
    pub(super) fn new(mut spans: Vec<Span>, positions: &mut Positions) -> Self {
        spans.retain(|span| span.end.0 > span.start);
        spans.sort_unstable();
        let mut moments: Vec<i64> = spans.iter().flat_map(|span| [span.start, span.end.0]).collect();
        moments.sort_unstable();
        moments.dedup();
        let first = positions.count();
        let mut open: Vec<Span> = Vec::new();
        let mut coming = spans.iter().peekable();
        for &moment in &moments {
            while let Some(&span) = coming.next_if(|span| span.start == moment) {
                let end = moments.partition_point(|&moment| moment < span.end.0) as u32;
                positions.enclose(span.name, positions.count()..first + end);
                open.push(span);
            }
            // A range that closed below one that is open goes when it is the last.
            while open.pop_if(|span| span.end.0 <= moment).is_some() {}
            positions.push(open.last().map(|span| span.name));
        }
        Self { moments, first }
    }

    /// The position of `moment`. `hint` is where the last answer was found: moments mostly come in order.
    #[inline]
    pub(super) fn at(&self, moment: i64, hint: &mut usize) -> u32 {
        let holds = |place: usize| {
            self.moments.get(place).is_some_and(|&start| start <= moment)
                && self.moments.get(place + 1).is_none_or(|&next| moment < next)
        };
        if !holds(*hint) {
            *hint += 1;
            if !holds(*hint) {
                match self.moments.partition_point(|&start| start <= moment).checked_sub(1) {
                    Some(place) => *hint = place,
                    None => return NOWHERE,
                }
            }
        }
        self.first + *hint as u32
    }
}

/// Gives each span a position of its own, in the names of all spans that hold it from start to end, and calls `found`
/// with its row and position. The span is the innermost of them; of equal spans each holds the others.
pub(super) fn enclosing(mut spans: Vec<Span>, positions: &mut Positions, mut found: impl FnMut(u32, u32)) {
    spans.sort_unstable();
    let first = positions.count();
    let longer = next_longer(&spans);
    let mut equals = 0;
    for (place, &span) in spans.iter().enumerate() {
        let Span { start, end: Reverse(end), name, row } = span;
        if (spans[equals].start, spans[equals].end) != (start, span.end) {
            equals = place;
        }
        let mut enclose =
            |from: usize, to: usize| positions.enclose(name, first + from as u32..first + to as u32);
        enclose(equals, longer[place]);
        // Behind one that ends later others may lie inside again: ranges of several threads overlap as they like.
        let crossing = longer[place]..spans.len();
        for other in crossing.take_while(|&other| spans[other].start < end) {
            if spans[other].end.0 <= end {
                enclose(other, other + 1);
            }
        }
        let empty = spans.partition_point(|other| (other.start, other.end) < (end, Reverse(end)));
        enclose(empty, empty + spans[empty..].partition_point(|other| other.start == end));
        found(row, first + place as u32);
    }
    spans.iter().for_each(|span| positions.push(Some(span.name)));
}

/// Returns for each of the sorted spans the place of the next one that ends later.
fn next_longer(spans: &[Span]) -> Vec<usize> {
    let mut next = vec![spans.len(); spans.len()];
    let mut waiting: Vec<usize> = Vec::new();
    for (place, span) in spans.iter().enumerate() {
        while let Some(shorter) = waiting.pop_if(|&mut earlier| spans[earlier].end.0 < span.end.0) {
            next[shorter] = place;
        }
        waiting.push(place);
    }
    next
}
