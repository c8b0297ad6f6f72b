//! The strings that a recording has, of which it need not remember all.

use std::mem;

use rustc_hash::FxHashMap;

use crate::write::StringId;

/// What strings that may be forgotten occupy at most, in bytes, of those met of late and again of those before them.
const MOST: usize = 8 << 20;

/// What a text needs beside its own bytes: its place in a table that is half empty, and the allocator's.
const BESIDE: usize = 64;

/// Which strings a file has.
#[derive(Debug)]
pub(super) struct Strings {
    permanent: FxHashMap<Box<str>, StringId>,
    /// Those met of late, and those before them.
    transient: [FxHashMap<Box<str>, StringId>; 2],
    /// What those met of late occupy.
    occupied: usize,
    most: usize,
}

impl Default for Strings {
    fn default() -> Self {
        Self::within(MOST)
    }
}

impl Strings {
    fn within(most: usize) -> Self {
        Self { permanent: FxHashMap::default(), transient: Default::default(), occupied: 0, most }
    }

    /// The id of a text that is never forgotten from now on, if it is known.
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

    /// The id of a text that may be forgotten, if it is known.
    pub(super) fn transient(&mut self, text: &str) -> Option<StringId> {
        let [late, before] = &mut self.transient;
        if let Some(&id) = late.get(text).or_else(|| self.permanent.get(text)) {
            return Some(id);
        }
        let (text, id) = before.remove_entry(text)?;
        self.insert_transient(text, id);
        Some(id)
    }

    pub(super) fn insert_permanent(&mut self, text: &str, id: StringId) {
        self.permanent.insert(text.into(), id);
    }

    pub(super) fn insert_transient(&mut self, text: Box<str>, id: StringId) {
        let occupied = text.len() + BESIDE;
        if self.occupied + occupied > self.most {
            let [late, before] = &mut self.transient;
            mem::swap(late, before);
            late.clear();
            self.occupied = 0;
        }
        self.occupied += occupied;
        self.transient[0].insert(text, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many strings of one byte are met of late at most.
    const FEW: usize = 4;

    fn few() -> Strings {
        Strings::within(FEW * (1 + BESIDE))
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
