//! Different texts for different names.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;

/// How many differing words a text gets before a number takes their place.
const MAX_WORDS: usize = 3;

/// Pairs of a name and its text, with distinct names. Names with one text get the words in which they differ behind it,
/// `f<4> [int]`, or, where these do not suffice, a number: `f<4>~2`.
pub(super) fn distinct(named: Vec<(&str, String)>) -> Vec<(String, String)> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, text) in &named {
        groups.entry(text).or_default().push(name);
    }
    groups.values_mut().for_each(|names| {
        names.sort_unstable();
        names.dedup();
    });
    let mut used: HashSet<String> =
        groups.iter().filter(|(_, names)| names.len() == 1).map(|(text, _)| (*text).to_owned()).collect();
    let mut result = Vec::with_capacity(named.len());
    for (text, names) in groups {
        if let [only] = names[..] {
            result.push((only.to_owned(), text.to_owned()));
            continue;
        }
        let texts = with_words(text, &names).filter(|texts| texts.iter().all(|text| !used.contains(text)));
        let texts = texts.unwrap_or_else(|| numbered(text, names.len(), &used));
        used.extend(texts.iter().cloned());
        result.extend(names.into_iter().map(str::to_owned).zip(texts));
    }
    result
}

/// The text with the words in which the names differ, each name's own; `None` where it takes too many words.
fn with_words(text: &str, names: &[&str]) -> Option<Vec<String>> {
    let names: Vec<Cow<'_, str>> = names
        .iter()
        .map(|name| rtl_schema::demangle(name).map_or(Cow::Borrowed(*name), Cow::Owned))
        .collect();
    // The names with each word, by first occurrence of the word.
    let mut users: IndexMap<&str, Vec<usize>> = IndexMap::new();
    for (number, name) in names.iter().enumerate() {
        for word in words(name) {
            let users = users.entry(word).or_default();
            if users.last() != Some(&number) {
                users.push(number);
            }
        }
    }
    // Each word divides classes of names that were alike so far.
    let mut class = vec![0; names.len()];
    let mut sizes = vec![names.len()];
    let mut shown: Vec<Vec<&str>> = vec![Vec::new(); names.len()];
    for (word, users) in &users {
        let mut with_word: HashMap<usize, usize> = HashMap::new();
        users.iter().for_each(|&user| *with_word.entry(class[user]).or_default() += 1);
        let mut divided: HashMap<usize, usize> = HashMap::new();
        for (class, count) in with_word {
            if sizes[class] > count {
                sizes[class] -= count;
                divided.insert(class, sizes.len());
                sizes.push(count);
            }
        }
        if divided.is_empty() {
            continue;
        }
        for &user in users {
            class[user] = divided.get(&class[user]).copied().unwrap_or(class[user]);
            shown[user].push(word);
        }
        if sizes.len() == names.len() {
            break;
        }
    }
    if sizes.len() < names.len() || shown.iter().any(|words| words.len() > MAX_WORDS) {
        return None;
    }
    // One name may have none of these words: it gets one of its own.
    if let Some(without) = shown.iter().position(Vec::is_empty) {
        let own = users.iter().filter(|(_, users)| users.len() < names.len() && users.contains(&without));
        let free = own.map(|(word, _)| *word).find(|word| shown.iter().all(|words| words != &[*word]));
        shown[without].extend(free);
    }
    let with = |words: &Vec<&str>| match words.as_slice() {
        [] => text.to_owned(),
        words => format!("{text} [{}]", words.join(" ")),
    };
    Some(shown.iter().map(with).collect())
}

/// Identifiers and numbers; parts between underscores of a name without brackets.
fn words(name: &str) -> Vec<&str> {
    let has_brackets = name.contains(['<', '(']);
    let separates = move |c: char| !(c.is_alphanumeric() || c == '_' && has_brackets);
    name.split(separates).filter(|word| !word.is_empty()).collect()
}

fn numbered(text: &str, count: usize, used: &HashSet<String>) -> Vec<String> {
    let numbered = (1_u64..).map(|number| match number {
        1 => text.to_owned(),
        number => format!("{text}~{number}"),
    });
    numbered.filter(|text| !used.contains(text)).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(named: &[(&str, &str)]) -> Vec<(String, String)> {
        distinct(named.iter().map(|(name, text)| (*name, (*text).to_owned())).collect())
    }

    #[test]
    fn names_with_one_text_show_the_words_in_which_they_differ() {
        let named = texts(&[("f<int>(long)", "f"), ("f<float>(long)", "f"), ("g", "g")]);
        let texts: Vec<&str> = named.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["f [float]", "f [int]", "g"]);
    }

    #[test]
    fn names_of_equal_words_get_numbers_that_no_other_name_has() {
        let named = texts(&[("f<a, b>", "f"), ("f<b, a>", "f"), ("x", "f~2")]);
        let texts: Vec<&str> = named.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["f", "f~3", "f~2"]);
    }
}
