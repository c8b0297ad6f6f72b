//! The texts that a recording has, of which it need not remember all.

use std::mem;

use rustc_hash::FxHashMap;

use crate::write::TextId;

/// What texts that may be forgotten occupy at most, in bytes, of those met of late and again of those before them.
const MOST: usize = 8 << 20;

/// What a text needs beside its own bytes: its place in a table that is half empty, and the allocator's.
const BESIDE: usize = 64;

/// Which texts a file has.
#[derive(Debug)]
pub(super) struct Texts {
    lasting: FxHashMap<Box<str>, TextId>,
    /// Those met of late, and those before them.
    passing: [FxHashMap<Box<str>, TextId>; 2],
    /// What those met of late occupy.
    occupied: usize,
    most: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self::within(MOST)
    }
}

impl Texts {
    fn within(most: usize) -> Self {
        Self { lasting: FxHashMap::default(), passing: Default::default(), occupied: 0, most }
    }

    /// The id of a text that is never forgotten from now on, if it is known.
    #[inline]
    pub(super) fn lasting(&mut self, text: &str) -> Option<TextId> {
        self.lasting.get(text).copied().or_else(|| self.no_longer_passing(text))
    }

    #[cold]
    fn no_longer_passing(&mut self, text: &str) -> Option<TextId> {
        let (text, id) = self.passing.iter_mut().find_map(|texts| texts.remove_entry(text))?;
        self.lasting.insert(text, id);
        Some(id)
    }

    /// The id of a text that may be forgotten, if it is known.
    pub(super) fn passing(&mut self, text: &str) -> Option<TextId> {
        let [late, before] = &mut self.passing;
        if let Some(&id) = late.get(text).or_else(|| self.lasting.get(text)) {
            return Some(id);
        }
        let (text, id) = before.remove_entry(text)?;
        self.add_passing(text, id);
        Some(id)
    }

    pub(super) fn add_lasting(&mut self, text: &str, id: TextId) {
        self.lasting.insert(text.into(), id);
    }

    pub(super) fn add_passing(&mut self, text: Box<str>, id: TextId) {
        let occupied = text.len() + BESIDE;
        if self.occupied + occupied > self.most {
            let [late, before] = &mut self.passing;
            mem::swap(late, before);
            late.clear();
            self.occupied = 0;
        }
        self.occupied += occupied;
        self.passing[0].insert(text, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many texts of one byte are met of late at most.
    const FEW: usize = 4;

    fn few() -> Texts {
        Texts::within(FEW * (1 + BESIDE))
    }

    #[test]
    fn passing_texts_are_remembered_while_they_come_again() {
        let mut texts = few();
        for number in 0..100 {
            let (again, new) = ("a", number.to_string());
            if texts.passing(again).is_none() {
                assert_eq!(number, 0, "it was forgotten");
                texts.add_passing(again.into(), TextId(1));
            }
            texts.add_passing(new.into(), TextId(number + 2));
        }
        assert_eq!(texts.passing("a"), Some(TextId(1)));
        assert_eq!((texts.passing("99"), texts.passing("0")), (Some(TextId(101)), None));
    }

    #[test]
    fn passing_texts_are_no_more_than_there_is_room_for() {
        let mut texts = few();
        for number in 0..1000_i64 {
            texts.add_passing(char::from(b'a' + (number % 26) as u8).to_string().into(), TextId(number));
            let remembered: usize = texts.passing.iter().map(FxHashMap::len).sum();
            assert!(remembered <= 2 * FEW, "{remembered}");
        }
    }

    #[test]
    fn a_text_that_lasts_is_never_forgotten_wherever_it_was_met_first() {
        let mut texts = few();
        texts.add_lasting("kernel", TextId(1));
        texts.add_passing("stream=0x0".into(), TextId(2));
        assert_eq!(
            (texts.lasting("stream=0x0"), texts.passing("kernel")),
            (Some(TextId(2)), Some(TextId(1)))
        );
        for number in 0..100 {
            texts.add_passing(number.to_string().into(), TextId(number + 3));
        }
        assert_eq!(
            (texts.lasting("kernel"), texts.lasting("stream=0x0")),
            (Some(TextId(1)), Some(TextId(2)))
        );
        assert_eq!((texts.passing("stream=0x0"), texts.lasting("3")), (Some(TextId(2)), None));
    }
}
