//! Parses rocm-trace-lite's `completionSignal`. Every op has one, so results are cached by the bytes of the text.

use super::recent_shapes::{RecentShapes, ShapeKey};
use crate::hash::spread;
use crate::table::{Shape, axes};
use crate::{Sentinel, ShapeId};

/// Reads rocm-trace-lite's `completionSignal`: `hwq=0x7f1200 wg=256,1,1 grid=1024,1,1`, any part of which
/// may be missing. The grid counts work-items; the result is the shape and the hardware queue.
pub(super) fn parse(text: &str) -> (Option<Shape>, Option<u64>) {
    let mut queue = None;
    let mut workgroup = None;
    let mut items = None;
    for word in text.split_ascii_whitespace() {
        match word.split_once('=') {
            Some(("hwq", value)) => {
                let digits = value.strip_prefix("0x").unwrap_or(value);
                queue = u64::from_str_radix(digits, 16).ok();
            }
            Some(("wg", value)) => workgroup = axes(value),
            Some(("grid", value)) => items = axes(value),
            _ => {}
        }
    }
    let known = workgroup.is_some() || items.is_some();
    (known.then(|| Shape::of_items(workgroup, items)), queue)
}

/// Cached shapes by the text behind the queue, and cached queues.
#[derive(Debug, Default)]
pub(super) struct RecentSignals {
    shapes: RecentShapes<Sizes>,
    queues: RecentQueues,
}

impl RecentSignals {
    /// The result of [`parse`], with the shape as columns store it, if that is cached.
    #[inline]
    pub(super) fn find(&mut self, text: &[u8]) -> Option<(ShapeId, Option<u64>)> {
        let (queue, sizes) = self.queues.split(text)?;
        let shape = self.shapes.find(&Sizes::of(sizes)?)?;
        Some((shape, queue))
    }

    /// The result of [`parse`]; `intern` takes shapes that are not cached.
    pub(super) fn get(
        &mut self,
        text: &[u8],
        intern: impl FnOnce(Shape) -> ShapeId,
    ) -> (Option<ShapeId>, Option<u64>) {
        if let Some((shape, queue)) = self.find(text) {
            return (shape.known(), queue);
        }
        let (shape, queue) = parse(&String::from_utf8_lossy(text));
        let shape = shape.map(intern);
        // The last queue counts.
        if let Some((_, sizes)) = split(text)
            && !sizes.windows(4).any(|word| word == b"hwq=")
            && let Some(sizes) = Sizes::of(sizes)
        {
            self.shapes.add(sizes, shape.unwrap_or(ShapeId::SENTINEL));
        }
        (shape, queue)
    }
}

const WORD: usize = size_of::<u64>();
/// A text of launch sizes has 40 bytes at most, unless axes exceed 32 bits.
const WORDS: usize = 6;

/// A short text as words, of which the last ones overlap.
#[derive(Debug, Clone, Copy, Eq)]
struct Sizes {
    length: usize,
    words: [u64; WORDS],
}

impl PartialEq for Sizes {
    /// Without the call that comparing arrays of this length makes.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let words = self.words.iter().zip(&other.words);
        self.length == other.length && words.fold(0, |differing, (one, other)| differing | one ^ other) == 0
    }
}

impl Sizes {
    #[inline]
    fn of(text: &[u8]) -> Option<Self> {
        let length = text.len();
        let last = length.checked_sub(WORD)?;
        if length > WORDS * WORD {
            return None;
        }
        let word = |at: usize| text[(WORD * at).min(last)..].first_chunk().copied().unwrap_or_default();
        Some(Self { length, words: std::array::from_fn(|at| u64::from_ne_bytes(word(at))) })
    }
}

impl ShapeKey for Sizes {
    const FREE: Self = Self { length: 0, words: [0; WORDS] };

    #[inline]
    fn hash(&self) -> u64 {
        let mixed = self.words.iter().fold(0, |mixed: u64, word| mixed.rotate_left(19) ^ word);
        spread(mixed ^ mixed >> 32)
    }
}

/// The text before a queue.
const PREFIX: &[u8; 6] = b"hwq=0x";

/// The number of cached queues.
const QUEUES: usize = 64;

/// Queues of 8 digits and more by their digits, of which most rows have the same number.
#[derive(Debug)]
struct RecentQueues {
    digits: usize,
    slots: [Queue; QUEUES],
}

/// The digits of a queue, of which the two words have all, and its number.
#[derive(Debug, Clone, Copy, Default)]
struct Queue {
    digits: usize,
    words: [u64; 2],
    number: u64,
}

impl Default for RecentQueues {
    fn default() -> Self {
        Self { digits: WORD, slots: [Queue::default(); QUEUES] }
    }
}

impl RecentQueues {
    /// Gives the result of [`split`], from the cache where it can.
    #[inline]
    fn split<'t>(&mut self, text: &'t [u8]) -> Option<(Option<u64>, &'t [u8])> {
        if let Some((words, rest)) = words(text, self.digits) {
            let Queue { digits, words: known, number } = self.slots[slot(words)];
            if (digits, known) == (self.digits, words) {
                return Some((Some(number), rest));
            }
        }
        self.split_other(text)
    }

    #[inline(never)]
    fn split_other<'t>(&mut self, text: &'t [u8]) -> Option<(Option<u64>, &'t [u8])> {
        let (queue, rest) = split(text)?;
        let digits = text.len().saturating_sub(rest.len() + PREFIX.len());
        if let (Some(number), Some((words, _))) = (queue, words(text, digits)) {
            self.digits = digits;
            self.slots[slot(words)] = Queue { digits, words, number };
        }
        Some((queue, rest))
    }
}

/// The first and the last eight of what may be the digits of a queue, if they are 8 to 16, and what follows them.
#[inline]
fn words(text: &[u8], digits: usize) -> Option<([u64; 2], &[u8])> {
    let (all, rest) = text.strip_prefix(PREFIX)?.split_at_checked(digits)?;
    let is_word = (WORD..=2 * WORD).contains(&digits) && matches!(rest.first(), None | Some(b' '));
    let words = [all.first_chunk()?, all.last_chunk()?].map(|word| u64::from_ne_bytes(*word));
    is_word.then_some((words, rest))
}

/// Where a queue is cached.
#[inline]
fn slot([first, last]: [u64; 2]) -> usize {
    (spread(first.rotate_left(29) ^ last) >> (u64::BITS - QUEUES.ilog2())) as usize
}

/// The value of each hexadecimal digit of a queue; other bytes have more than 15.
const DIGITS: [u8; 256] = {
    let mut digits = [u8::MAX; 256];
    let mut digit = 0;
    while digit < 16 {
        digits[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digits[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    digits
};

/// The queue of a text that begins with one, and what follows it. `None` where the queue is not as rocm-trace-lite writes it.
#[inline]
fn split(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let Some(rest) = text.strip_prefix(PREFIX) else { return Some((None, text)) };
    let (mut queue, mut length) = (0, 0);
    for &byte in rest {
        let digit = DIGITS[usize::from(byte)];
        if digit == u8::MAX {
            break;
        }
        queue = queue << 4 | u64::from(digit);
        length += 1;
    }
    let is_word = matches!(rest.get(length), None | Some(b' '));
    ((1..=16).contains(&length) && is_word).then(|| (Some(queue), &rest[length..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::Interned;

    #[test]
    fn the_grid_counts_work_items() {
        let (shape, queue) = parse("hwq=0x7f12ab wg=256,2,1 grid=1000,4,1");
        let shape = shape.unwrap_or_default();
        assert_eq!(queue, Some(0x7f_12ab));
        assert_eq!(shape.workgroup, Some([256, 2, 1]));
        assert_eq!(shape.items, Some([1000, 4, 1]));
        assert_eq!(shape.groups, Some([4, 2, 1]));
    }

    #[test]
    fn a_part_that_is_missing_or_malformed_is_unknown() {
        assert_eq!(parse(""), (None, None));
        assert_eq!(parse("0x7f00"), (None, None));
        assert_eq!(parse("wg=1,2 grid=1,2,3,4 hwq=zz"), (None, None));
        let (shape, queue) = parse("wg=64,1,1");
        assert_eq!(shape.and_then(|shape| shape.workgroup), Some([64, 1, 1]));
        assert_eq!((shape.and_then(|shape| shape.groups), queue), (None, None));
    }

    #[test]
    fn the_last_queue_counts() {
        let mut recent = RecentSignals::default();
        assert_eq!(recent.get(b"hwq=0xa hwq=x", |_| ShapeId(0)), (None, None));
        assert_eq!(recent.get(b"hwq=0xa hwq=0xb", |_| ShapeId(0)), (None, Some(11)));
    }

    #[test]
    fn cached_queues_of_equal_ends_are_told_apart() {
        let mut recent = RecentSignals::default();
        for text in
            ["hwq=0xaaaaaaaa", "hwq=0xaaaaaaaaa", "hwq=0xaaaaaaaaaaaaaaaa", "hwq=0xaaaaaaaaz", "hwq=0xa"]
        {
            let text = [text, " wg=1,1,1"].concat();
            for _ in 0..2 {
                let (_, queue) = recent.get(text.as_bytes(), |_| ShapeId(0));
                assert_eq!(queue, parse(&text).1, "{text}");
            }
        }
    }

    /// Texts of words that rocm-trace-lite writes, whole and malformed.
    fn texts() -> impl Strategy<Value = Vec<String>> {
        let word = prop_oneof![
            "hwq=0x[0-9a-f]{0,17}",
            "hwq=[0-9a-fx+]{0,4}",
            "wg=[1-9],1,1",
            "grid=[0-9]{1,3},2,1",
            "[a-z =,0-9\t\u{e9}]{0,6}",
        ];
        let text = prop::collection::vec(word, 0..4).prop_map(|words| words.join(" "));
        prop::collection::vec(text, 1..40)
    }

    proptest! {
        #[test]
        fn cached_shapes_are_those_of_the_text(texts in texts()) {
            let (mut shapes, mut recent) = (Interned::<Shape, ShapeId>::default(), RecentSignals::default());
            for text in texts.iter().chain(&texts) {
                let (shape, queue) = recent.get(text.as_bytes(), |shape| shapes.intern(shape));
                let shape = shape.map(|shape| shapes.rows()[shape.index()]);
                prop_assert_eq!((shape, queue), parse(text), "{}", text);
            }
        }
    }
}
