//! Replays the corpus of a fuzz target in a test, with changes that are the same every time.

use std::fs;
use std::path::Path;

/// The seeds of a target of `tests/fuzz/`, by name.
///
/// # Panics
/// If there are none: the test would check nothing.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no corpus in {}", folder.display());
    let read = |path| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    paths.iter().map(read).collect()
}

/// Each seed of a target, followed by `count` mutations of it.
pub fn mutations(target: &str, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    seeds(target).into_iter().flat_map(move |seed| {
        let changed: Vec<_> = (0..count).map(|_| random.mutate(&seed)).collect();
        std::iter::once(seed).chain(changed)
    })
}

/// A small generator (xorshift): tests need no better one.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }

    /// Some changed bytes, mostly where the structure is, and sometimes the end cut off.
    fn mutate(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut bytes = seed.to_vec();
        for _ in 0..=self.below(8) {
            let at = match self.below(3) {
                0 => self.below(bytes.len()),
                1 => (self.below(bytes.len()) & !511) + self.below(16),
                _ => self.below(bytes.len().min(120)),
            };
            if let Some(byte) = bytes.get_mut(at) {
                *byte = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8][self.below(6)];
            }
        }
        if self.below(6) == 0 {
            bytes.truncate(self.below(bytes.len()));
        }
        bytes
    }
}
