//! The texts of ranges, each kept once for all threads.
//!
//! The table only grows: a thread finds a text that any thread has used before without a lock and without allocating. Because
//! nothing is removed, the number and the bytes of different texts are bounded; texts beyond the bounds are recorded as
//! [`UNKEPT`].

use std::borrow::Cow;
use std::hash::Hasher;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rustc_hash::FxHasher;

use crate::base::published::Published;

/// Limit in bytes on a text.
pub const LONGEST: usize = 16 << 10;

/// Limit on the number of texts. Miri, which looks at each place whenever the table is borrowed, has fewer.
pub const MOST: usize = if cfg!(miri) { 1 << 8 } else { 1 << 17 };

/// Limit in bytes on all texts together.
pub const MOST_BYTES: usize = 32 << 20;

/// Stands in the file for a text beyond the bounds.
pub const UNKEPT: &str = "(text not kept)";

#[derive(Debug)]
pub struct Text {
    /// Counts from 1; 0 is [`UNKEPT`].
    pub number: u32,
    hash: u64,
    bytes: Cow<'static, [u8]>,
}

impl Text {
    /// The text for the file, in which bytes that are no UTF-8 are replaced.
    pub fn spoken(&self) -> Cow<'_, str> {
        if self.bytes.len() < LONGEST {
            return String::from_utf8_lossy(&self.bytes);
        }
        // The text was cut, perhaps within a character.
        let end =
            (LONGEST - 3..LONGEST).rev().find(|&at| self.bytes[at] & 0xc0 != 0x80).unwrap_or(LONGEST - 1);
        String::from_utf8_lossy(&self.bytes[..end]) + "…"
    }
}

/// The text of a range beyond the bounds.
pub static NOT_KEPT: Text = Text { number: 0, hash: 0, bytes: Cow::Borrowed(UNKEPT.as_bytes()) };

/// A table of `N` places, a power of two, at most half of which are used.
pub struct Texts<const N: usize> {
    places: [Published<Text>; N],
    count: AtomicU32,
    bytes: AtomicUsize,
}

pub static TEXTS: Texts<{ 2 * MOST }> = Texts::new();

impl<const N: usize> Texts<N> {
    const fn new() -> Self {
        Self { places: [const { Published::new() }; N], count: AtomicU32::new(0), bytes: AtomicUsize::new(0) }
    }

    /// Finds or adds the text with these bytes, of which the first [`LONGEST`] count. [`NOT_KEPT`] beyond the bounds.
    #[inline]
    pub fn find(&self, bytes: &[u8]) -> &'static Text {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        let mut hasher = FxHasher::default();
        hasher.write(bytes);
        let hash = hasher.finish();
        // At most half of the places are taken, so the search ends.
        for probe in 0..N {
            let place = &self.places[(hash as usize).wrapping_add(probe) % N];
            match place.get() {
                Some(text) if text.hash == hash && *text.bytes == *bytes => return text,
                Some(_) => {}
                None => match self.add(place, hash, bytes) {
                    Some(text) if text.hash == hash && *text.bytes == *bytes => return text,
                    Some(_) => {}
                    None => return &NOT_KEPT,
                },
            }
        }
        &NOT_KEPT
    }

    /// Adds a text at a free place; returns the text that is there then, which may be another thread's. `None` at the bounds.
    #[cold]
    fn add(&self, place: &Published<Text>, hash: u64, bytes: &[u8]) -> Option<&'static Text> {
        let count = self.count.load(Ordering::Relaxed) as usize;
        if count >= N / 2 || self.bytes.load(Ordering::Relaxed) + bytes.len() > MOST_BYTES {
            return None;
        }
        // Threads that come here together may each take a number, one of which is never used, and pass the bounds by one.
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        let text = Text { number, hash, bytes: Cow::Owned(bytes.to_vec()) };
        Some(place.set_first(text).unwrap_or_else(|there| there))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_whoever_gives_it_and_wherever_it_lies() {
        static TABLE: Texts<1024> = Texts::new();
        let find = || (0..100).map(|n| TABLE.find(format!("step {n}").as_bytes()).number).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(find)).collect();
        let here = find();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), here);
        }
        let mut numbers = here;
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100);
        assert_eq!(TABLE.find(b"step 7").spoken(), "step 7");
    }

    #[test]
    fn beyond_the_bounds_known_texts_are_still_found() {
        static TABLE: Texts<8> = Texts::new();
        let kept: Vec<u32> = (0..9_u8).map(|letter| TABLE.find(&[b'a' + letter]).number).collect();
        assert_eq!(kept, [1, 2, 3, 4, 0, 0, 0, 0, 0]);
        assert_eq!((TABLE.find(b"a").number, TABLE.find(b"z").spoken()), (1, UNKEPT.into()));
    }

    #[test]
    fn so_many_bytes_of_texts_are_kept_and_no_more() {
        static BYTES: Texts<8192> = Texts::new();
        let long = |first: u32| [&first.to_le_bytes()[..], &[b'.'; LONGEST]].concat();
        let kept = (0..4096).filter(|&first| BYTES.find(&long(first)).number > 0).count();
        assert_eq!(kept, MOST_BYTES / LONGEST);
    }

    #[test]
    fn what_is_no_utf8_or_very_long_can_be_read() {
        assert_eq!(TEXTS.find(b"caf\xe9").spoken(), "caf\u{fffd}");
        assert_eq!(TEXTS.find(b"").spoken(), "");
        let million = "ä".repeat(1 << 20);
        for start in ["", "x"] {
            let text = TEXTS.find(format!("{start}{million}").as_bytes()).spoken();
            assert!(text.len() <= LONGEST + 3 && text.ends_with("ä…"), "{}", &text[text.len() - 12..]);
        }
        let just = "x".repeat(LONGEST - 1);
        assert_eq!(TEXTS.find(just.as_bytes()).spoken(), just);
    }
}
