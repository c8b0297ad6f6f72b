//! The ids of the strings in a file. Strings that seldom come again are forgotten, so that memory stays bounded.

use std::mem;

use rustc_hash::FxHashMap;

use super::rows::StringId;

/// Bytes of the transient strings of each of two generations at most.
const CAPACITY: usize = 8 << 20;

/// Bytes of a string beside its own: its entry in a hash table that is half empty, and the allocator's.
const OVERHEAD: usize = 64;

#[derive(Debug)]
pub(super) struct StringIds {
    permanent: FxHashMap<Box<str>, StringId>,
    /// The newer and the older generation.
    transient: [FxHashMap<Box<str>, StringId>; 2],
    /// Bytes of the newer generation.
    used: usize,
    capacity: usize,
}

impl Default for StringIds {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl StringIds {
    fn with_capacity(capacity: usize) -> Self {
        Self { permanent: FxHashMap::default(), transient: Default::default(), used: 0, capacity }
    }

    /// The id of a string that is remembered for good from now on, if it is known.
    #[inline]
    pub(super) fn permanent(&mut self, text: &str) -> Option<StringId> {
        self.permanent.get(text).copied().or_else(|| self.promote(text))
    }

    #[cold]
    fn promote(&mut self, text: &str) -> Option<StringId> {
        let (text, id) = self.transient.iter_mut().find_map(|strings| strings.remove_entry(text))?;
        self.permanent.insert(text, id);
        Some(id)
    }

    /// The id of a transient string, if it is known.
    pub(super) fn transient(&mut self, text: &str) -> Option<StringId> {
        let [newer, older] = &mut self.transient;
        if let Some(&id) = newer.get(text).or_else(|| self.permanent.get(text)) {
            return Some(id);
        }
        let (text, id) = older.remove_entry(text)?;
        self.insert_transient(text, id);
        Some(id)
    }

    /// The permanent strings with their ids, in any order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, StringId)> {
        self.permanent.iter().map(|(text, &id)| (&**text, id))
    }

    pub(super) fn len(&self) -> usize {
        self.permanent.len()
    }

    pub(super) fn insert_permanent(&mut self, text: &str, id: StringId) {
        self.permanent.insert(text.into(), id);
    }

    pub(super) fn insert_transient(&mut self, text: Box<str>, id: StringId) {
        let used = text.len() + OVERHEAD;
        if self.used + used > self.capacity {
            let [newer, older] = &mut self.transient;
            mem::swap(newer, older);
            newer.clear();
            self.used = 0;
        }
        self.used += used;
        self.transient[0].insert(text, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of newer strings of one byte in a bucket at capacity.
    const FEW: usize = 4;

    fn few() -> StringIds {
        StringIds::with_capacity(FEW * (1 + OVERHEAD))
    }

    #[test]
    fn passing_texts_are_remembered_while_they_come_again() {
        let mut strings = few();
        for number in 0..100 {
            let (again, new) = ("a", number.to_string());
            if strings.transient(again).is_none() {
                assert_eq!(number, 0, "it was forgotten");
                strings.insert_transient(again.into(), StringId(1));
            }
            strings.insert_transient(new.into(), StringId(number + 2));
        }
        assert_eq!(strings.transient("a"), Some(StringId(1)));
        assert_eq!((strings.transient("99"), strings.transient("0")), (Some(StringId(101)), None));
    }

    #[test]
    fn passing_texts_are_no_more_than_there_is_room_for() {
        let mut strings = few();
        for number in 0..1000_i64 {
            strings.insert_transient(
                char::from(b'a' + (number % 26) as u8).to_string().into(),
                StringId(number),
            );
            let remembered: usize = strings.transient.iter().map(FxHashMap::len).sum();
            assert!(remembered <= 2 * FEW, "{remembered}");
        }
    }

    #[test]
    fn a_text_that_lasts_is_never_forgotten_wherever_it_was_met_first() {
        let mut strings = few();
        strings.insert_permanent("kernel", StringId(1));
        strings.insert_transient("stream=0x0".into(), StringId(2));
        assert_eq!(
            (strings.permanent("stream=0x0"), strings.transient("kernel")),
            (Some(StringId(2)), Some(StringId(1)))
        );
        for number in 0..100 {
            strings.insert_transient(number.to_string().into(), StringId(number + 3));
        }
        assert_eq!(
            (strings.permanent("kernel"), strings.permanent("stream=0x0")),
            (Some(StringId(1)), Some(StringId(2)))
        );
        assert_eq!((strings.transient("stream=0x0"), strings.permanent("3")), (Some(StringId(2)), None));
    }
}
