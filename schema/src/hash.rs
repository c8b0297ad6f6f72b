//! Hashes of a few words, for places in caches.

/// Odd and without a pattern.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number whose upper bits differ for most words.
#[inline(always)]
pub(crate) const fn spread(word: u64) -> u64 {
    word.wrapping_mul(FACTOR)
}
