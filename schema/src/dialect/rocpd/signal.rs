use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::recent_shapes::RecentShapes;
use crate::ShapeId;
use crate::table::{Shape, axes};

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

/// Cached shapes by the text behind the queue.
#[derive(Debug, Default)]
pub(super) struct RecentSignals(RecentShapes<Box<[u8]>>);

impl RecentSignals {
    /// The result of [`parse`], if the shape is cached.
    #[inline]
    pub(super) fn find(&self, text: &[u8]) -> Option<(Option<ShapeId>, Option<u64>)> {
        let (queue, sizes) = split(text)?;
        let shape = self.0.find(hash(sizes), |known| **known == *sizes)?;
        Some((shape, queue))
    }

    /// The result of [`parse`]; `intern` takes shapes that are not cached.
    #[inline]
    pub(super) fn get(
        &mut self,
        text: &[u8],
        intern: impl FnOnce(Shape) -> ShapeId,
    ) -> (Option<ShapeId>, Option<u64>) {
        if let Some((queue, sizes)) = split(text) {
            let hash = hash(sizes);
            if let Some(shape) = self.0.find(hash, |known| **known == *sizes) {
                return (shape, queue);
            }
            // The last queue counts.
            if !sizes.windows(4).any(|word| word == b"hwq=") {
                let shape = parse(&String::from_utf8_lossy(sizes)).0.map(intern);
                self.0.add(hash, sizes.into(), shape);
                return (shape, queue);
            }
        }
        let (shape, queue) = parse(&String::from_utf8_lossy(text));
        (shape.map(intern), queue)
    }
}

/// A hash whose highest bits depend on all bytes.
#[inline]
fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The queue of a text that begins with one, and what follows it. `None` where the queue is not as rocm-trace-lite writes it.
#[inline]
fn split(text: &[u8]) -> Option<(Option<u64>, &[u8])> {
    let Some(digits) = text.strip_prefix(b"hwq=0x") else { return Some((None, text)) };
    let length = digits.iter().position(|&byte| byte == b' ').unwrap_or(digits.len());
    let (digits, sizes) = digits.split_at(length);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let add = |queue: u64, &digit: &u8| Some(queue << 4 | u64::from(char::from(digit).to_digit(16)?));
    Some((Some(digits.iter().try_fold(0, add)?), sizes))
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
