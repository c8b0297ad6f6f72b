//! Shortens the names of a column so that different names stay different.
//!
//! Kernel names of one library share long prefixes and suffixes, so names that are cut one by one become equal.
//! [`shorten_distinct`] shortens the names of a column together: names that would become equal also show the first
//! character that differs, and, where that does not help, a number.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::escape_control;

const GAP: &str = "…";

/// Characters that are kept before the first difference.
const LEAD: usize = 2;

/// The number of differences that are tried before names are numbered.
const MAX_DIFFERENCES: usize = 12;

/// Each name in at most `width` terminal columns, shortened in the middle, in the order given.
///
/// Equal names give equal texts and different names give different ones: where `width` is too small for
/// that, a text is wider than asked rather than equal to another. Names that fit are left as they are.
/// Control characters are replaced as by [`escape_control`].
///
/// ```
/// let names = ["gemm_128x128_fp16_nt", "gemm_256x128_fp16_nt", "copy"];
/// assert_eq!(cli::shorten_distinct(&names, 12), ["gemm_1…16_nt", "gemm_2…16_nt", "copy"]);
/// ```
pub fn shorten_distinct(names: &[&str], width: usize) -> Vec<String> {
    let names: Vec<(&str, Option<&str>)> = names.iter().map(|name| (*name, None)).collect();
    shorten_with_forms(&names, width)
}

/// Does as [`shorten_distinct`], but a name that does not fit gives way to its short form, where it has one, before it is cut.
pub(crate) fn shorten_with_forms(names: &[(&str, Option<&str>)], width: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let distinct: Vec<Name<'_>> = (names.iter().filter(|(name, _)| seen.insert(*name)))
        .map(|(name, form)| Name::new(name, *form, width))
        .collect();

    let mut assigned = Assigned { texts: HashMap::new(), used: HashSet::new(), number: 1 };
    let (short, long): (Vec<&Name<'_>>, Vec<&Name<'_>>) = distinct.iter().partition(|name| name.fits(width));
    // A whole name keeps its text although another name's short form is equal.
    let (whole, forms): (Vec<&Name<'_>>, Vec<&Name<'_>>) = short.into_iter().partition(|name| !name.is_form);
    for name in whole.into_iter().chain(forms) {
        assigned.assign(name, name.text.clone().into_owned(), width);
    }
    for (name, text) in distinguish(&long, None, width, MAX_DIFFERENCES) {
        assigned.assign(name, text, width);
    }
    names.iter().map(|(name, _)| assigned.texts[name].clone()).collect()
}

/// The names that have a text so far.
struct Assigned<'a> {
    texts: HashMap<&'a str, String>,
    used: HashSet<String>,
    /// The last number that was appended.
    number: u64,
}

impl<'a> Assigned<'a> {
    /// Assigns `text` to `name`, with a number if another name has that text.
    fn assign(&mut self, name: &Name<'a>, mut text: String, width: usize) {
        while self.used.contains(&text) {
            self.number += 1;
            let suffix = format!("~{}", self.number);
            text = format!("{}{suffix}", name.cut(None, width.saturating_sub(suffix.len())));
        }
        self.used.insert(text.clone());
        self.texts.insert(name.original, text);
    }
}

/// Cuts each name around `at`, and names that become equal around their first difference.
fn distinguish<'n, 'a>(
    names: &[&'n Name<'a>],
    at: Option<usize>,
    width: usize,
    places: usize,
) -> Vec<(&'n Name<'a>, String)> {
    let mut groups: IndexMap<String, Vec<&Name<'a>>> = IndexMap::new();
    for name in names {
        groups.entry(name.cut(at, width)).or_default().push(name);
    }
    let mut result = Vec::with_capacity(names.len());
    for (text, members) in groups {
        let difference = common_prefix(&members);
        if members.len() > 1 && places > 0 && at.is_none_or(|at| difference > at) {
            result.extend(distinguish(&members, Some(difference), width, places - 1));
        } else {
            result.extend(members.into_iter().map(|name| (name, text.clone())));
        }
    }
    result
}

/// The number of leading characters that all names share.
fn common_prefix(names: &[&Name<'_>]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    others
        .iter()
        .map(|other| first.characters.iter().zip(&other.characters).take_while(|(a, b)| a == b).count())
        .min()
        .unwrap_or(first.characters.len())
}

/// A name as characters that can be cut.
struct Name<'a> {
    original: &'a str,
    text: Cow<'a, str>,
    /// True if the text is a short form.
    is_form: bool,
    /// The width in columns of a terminal.
    width: usize,
    characters: Vec<char>,
}

impl<'a> Name<'a> {
    fn new(original: &'a str, form: Option<&'a str>, width: usize) -> Self {
        let whole = escape_control(original);
        let (text, is_form) = match form {
            Some(form) if whole.width() > width => (escape_control(form), true),
            _ => (whole, false),
        };
        let characters = text.chars().collect();
        Self { original, width: text.width(), text, is_form, characters }
    }

    fn fits(&self, width: usize) -> bool {
        self.width <= width
    }

    /// The name in at most `width` columns: `head…tail`, or `head…middle…tail` with the characters from
    /// `at` on.
    fn cut(&self, at: Option<usize>, width: usize) -> String {
        if self.fits(width) {
            return self.text.clone().into_owned();
        }
        if width < 2 {
            return if width == 1 { GAP.to_owned() } else { String::new() };
        }
        match at {
            Some(at) if width >= 5 => self.cut_around(at, width),
            Some(at) if at > 0 => format!("{GAP}{}", self.starting_at(at, width - 1)),
            _ => self.cut_once(width),
        }
    }

    /// The prefix names the kind of kernel and the suffix its variant, so both keep equal parts.
    fn cut_once(&self, width: usize) -> String {
        let tail = (width - 1) / 2;
        format!("{}{GAP}{}", self.starting_at(0, width - 1 - tail), self.last(tail))
    }

    fn cut_around(&self, at: usize, width: usize) -> String {
        let edge = (width - 2) / 4;
        let middle = width - 2 - 2 * edge;
        let start = at.saturating_sub(LEAD.min(middle.saturating_sub(1)));
        let head = self.starting_at(0, edge);
        if start <= head.chars().count() + 1 {
            let tail = self.last(edge);
            return format!("{}{GAP}{tail}", self.starting_at(0, width - 1 - tail.width()));
        }
        let shown = self.starting_at(start, middle);
        let end = start + shown.chars().count();
        let tail = self.last(edge);
        if end + tail.chars().count() + 1 >= self.characters.len() {
            return format!("{head}{GAP}{}", self.last(width - 1 - head.width()));
        }
        format!("{head}{GAP}{shown}{GAP}{tail}")
    }

    /// The characters from `start` on that fit.
    fn starting_at(&self, start: usize, width: usize) -> String {
        fitting(self.characters.iter().skip(start), width).into_iter().collect()
    }

    /// The last characters that fit.
    fn last(&self, width: usize) -> String {
        fitting(self.characters.iter().rev(), width).into_iter().rev().collect()
    }
}

fn fitting<'c>(characters: impl Iterator<Item = &'c char>, width: usize) -> Vec<char> {
    let mut room = width;
    characters
        .map_while(|&character| {
            room = room.checked_sub(character.width().unwrap_or(0))?;
            Some(character)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_fits_is_unchanged() {
        assert_eq!(shorten_distinct(&["vectorAdd", "matMul"], 9), ["vectorAdd", "matMul"]);
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        assert_eq!(shorten_distinct(&["abcdefghijklmnop"], 9), ["abcd…mnop"]);
    }

    #[test]
    fn names_that_differ_in_the_middle_show_where() {
        let names = ["Cijk_Ailk_Bljk_HB_MT128x64x32_SE_K1_tail", "Cijk_Ailk_Bljk_HB_MT256x64x32_SE_K1_tail"];
        let texts = shorten_distinct(&names, 20);
        assert!(texts[0].contains("128") && texts[1].contains("256"), "{texts:?}");
        assert!(texts.iter().all(|text| text.width() <= 20), "{texts:?}");
    }

    #[test]
    fn names_that_differ_at_two_places_stay_distinct() {
        let fill = "x".repeat(60);
        let names: Vec<String> = ["AA", "AB", "BA", "BB"]
            .iter()
            .map(|pair| format!("{fill}{}{fill}{}{fill}", &pair[..1], &pair[1..]))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let texts = shorten_distinct(&names, 24);
        assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 4, "{texts:?}");
    }

    #[test]
    fn without_room_for_the_difference_a_number_distinguishes_names() {
        let texts = shorten_distinct(&["aaaaaaaa", "aaaaaaab", "aaaaaaac"], 2);
        assert_eq!(texts.iter().collect::<HashSet<_>>().len(), 3, "{texts:?}");
    }

    #[test]
    fn the_short_form_of_one_name_is_not_the_full_form_of_another() {
        let texts = shorten_distinct(&["abcdefghijklmnop", "abcd…mnop"], 9);
        assert_eq!(texts[1], "abcd…mnop");
        assert_ne!(texts[0], texts[1]);
    }

    #[test]
    fn a_short_form_replaces_a_name_that_does_not_fit() {
        let names = [
            ("Cijk_Ailk_MT128x64", Some("MT128x64")),
            ("f(int)", Some("f")),
            ("Cijk_Ailk_MT64x64", Some("MT64x64")),
        ];
        assert_eq!(shorten_with_forms(&names, 10), ["MT128x64", "f(int)", "MT64x64"]);
        let equal = [("MT128x64 of one library", Some("MT128x64")), ("MT128x64", None)];
        assert_eq!(shorten_with_forms(&equal, 10), ["MT128x64~2", "MT128x64"]);
    }

    #[test]
    fn a_line_break_in_a_name_cannot_break_the_table() {
        assert_eq!(shorten_distinct(&["a\nb\x1b[31m"], 20), ["a␊b␛[31m"]);
    }

    proptest! {
        #[test]
        fn different_names_stay_different(
            names in proptest::collection::vec("[ab…~2]{0,12}|(ab){4,9}[abc](xy){3,9}[abc]z{0,9}|\\PC{0,9}", 0..20),
            width in 0_usize..30,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let texts = shorten_distinct(&names, width);
            for (a, name_a) in names.iter().enumerate() {
                for (b, name_b) in names.iter().enumerate() {
                    prop_assert_eq!(name_a == name_b, texts[a] == texts[b], "{:?} {:?}", name_a, name_b);
                }
            }
        }

        #[test]
        fn with_room_for_a_number_every_text_fits(
            names in proptest::collection::vec("[ab]{0,60}", 0..20),
            width in 6_usize..30,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for text in shorten_distinct(&names, width) {
                prop_assert!(text.width() <= width, "{:?}", text);
            }
        }
    }
}
