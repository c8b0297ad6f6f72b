use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::NameId;

/// All distinct strings of a trace, each stored once. Equal text has one id, even where the source
/// stored it several times (RPD re-inserts its strings per session). A clone shares them until either gets more.
#[derive(Debug, Clone, Default)]
pub struct Strings(Arc<Texts>);

#[derive(Debug, Clone, Default)]
struct Texts {
    text: String,
    ends: Vec<usize>,
    by_hash: FxHashMap<u64, NameId>,
    /// Further strings of a hash that another one has already.
    collisions: FxHashMap<u64, Vec<NameId>>,
}

impl Strings {
    /// The id of `text`, which is added when it is new.
    pub fn intern(&mut self, text: &str) -> NameId {
        let hash = hash(text);
        if let Some(id) = self.find(hash, text) {
            return id;
        }
        let id = NameId(u32::try_from(self.len()).unwrap_or(NameId::DANGLING.0));
        if !id.is_some() {
            return NameId::DANGLING;
        }
        let texts = Arc::make_mut(&mut self.0);
        texts.text.push_str(text);
        texts.ends.push(texts.text.len());
        match texts.by_hash.entry(hash) {
            Entry::Vacant(free) => _ = free.insert(id),
            Entry::Occupied(_) => texts.collisions.entry(hash).or_default().push(id),
        }
        id
    }

    /// The id of `text`, if it is there.
    pub fn lookup(&self, text: &str) -> Option<NameId> {
        self.find(hash(text), text)
    }

    /// The text behind `id`; `(no name)` and `(dangling name)` for the two absent ones.
    pub fn get(&self, id: NameId) -> &str {
        match id {
            NameId::NONE => "(no name)",
            NameId::DANGLING => "(dangling name)",
            _ => {
                let index = id.index();
                let start = index.checked_sub(1).map_or(0, |before| self.0.ends[before]);
                &self.0.text[start..self.0.ends[index]]
            }
        }
    }

    /// `id`, but [`NameId::NONE`] in place of the empty text.
    pub(crate) fn not_empty(&self, id: NameId) -> NameId {
        if id.is_some() && self.get(id).is_empty() { NameId::NONE } else { id }
    }

    /// The number of distinct strings.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// True without strings.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// Every id with its text, in the order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = (NameId, &str)> {
        (0..self.len() as u32).map(|index| (NameId(index), self.get(NameId(index))))
    }

    fn find(&self, hash: u64, text: &str) -> Option<NameId> {
        let first = *self.0.by_hash.get(&hash)?;
        if self.get(first) == text {
            return Some(first);
        }
        self.0.collisions.get(&hash)?.iter().copied().find(|&id| self.get(id) == text)
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_one_id() {
        let mut strings = Strings::default();
        let gemm = strings.intern("gemm");
        let empty = strings.intern("");
        assert_eq!(strings.intern("gemm"), gemm);
        assert_eq!(strings.get(empty), "");
        assert_eq!(strings.get(gemm), "gemm");
        assert_eq!(strings.lookup("absent"), None);
        assert_eq!(strings.len(), 2);
    }

    #[test]
    fn strings_of_one_hash_are_told_apart() {
        let mut strings = Strings::default();
        let [one, two, three] = ["one", "two", "three"].map(|text| strings.intern(text));
        // As if all had the hash of the first.
        let of = |text| hash(text);
        let texts = Arc::make_mut(&mut strings.0);
        texts.by_hash.remove(&of("two"));
        texts.by_hash.remove(&of("three"));
        texts.collisions.insert(of("one"), vec![two, three]);
        let find = |text| strings.find(of("one"), text);
        assert_eq!(
            [find("one"), find("two"), find("three"), find("four")],
            [Some(one), Some(two), Some(three), None]
        );
    }

    #[test]
    fn absent_names_have_words_of_their_own() {
        let strings = Strings::default();
        assert_eq!(strings.get(NameId::NONE), "(no name)");
        assert_eq!(strings.get(NameId::DANGLING), "(dangling name)");
    }
}
