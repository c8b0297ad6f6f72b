//! Doc comments are sentences, functions have standard verbs and types nouns of the field.

use std::sync::LazyLock;

use regex::Regex;

use crate::checkout::{File, files};
use crate::words::STRING;

/// Beginnings of fragments, which name no subject and give no reason.
const FRAGMENTS: [&str; 5] = ["The same", "Those", "Its", "What", "Whether"];

/// A function or a type whose name is no term of the field.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\b(?:fn (?:tell|say|ask|told|land|lend)|(?:struct|enum|trait|type|union) (?:Flying|Begun|Met|Sameness|What|Onward|Nowhere|Two|Asked))\b";
    Regex::new(name).expect("a constant")
});

/// Doc comments that begin with a fragment, by the line of their beginning.
fn fragments(file: &File) -> Vec<String> {
    let mut faults = Vec::new();
    let mut is_within = false;
    for (line, text) in file.text.lines().enumerate() {
        let text = text.trim_start();
        let comment = text.strip_prefix("///").or_else(|| text.strip_prefix("//!")).map(str::trim_start);
        let begins = |start: &&&str| {
            let rest = comment.filter(|_| !is_within).and_then(|text| text.strip_prefix(**start));
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        if let Some(start) = FRAGMENTS.iter().find(begins) {
            faults.push(format!("{}:{}: begins with `{start}`", file.path, line + 1));
        }
        is_within = comment.is_some();
    }
    faults
}

fn odd_names(file: &File) -> Vec<String> {
    let found = |(line, text): (usize, &str)| {
        let text = STRING.replace_all(text, "");
        NAME.find(text.split("//").next().unwrap_or_default())
            .map(|name| format!("{}:{line}: `{}`", file.path, name.as_str()))
    };
    file.code().filter_map(found).collect()
}

/// The rules hold for every Rust file.
fn ruled() -> impl Iterator<Item = File> {
    files().into_iter().filter(File::is_rust)
}

#[test]
fn a_doc_comment_is_a_sentence() {
    let faults: Vec<String> = ruled().flat_map(|file| fragments(&file)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn functions_have_standard_verbs_and_types_nouns() {
    let faults: Vec<String> = ruled().flat_map(|file| odd_names(&file)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_fragment_is_found_where_a_comment_begins() {
    let text = "/// Its rows.\nfn a() {}\n/// Reads rows.\n/// Its order is\n//! Whether it ends\n// Those\n/// Itself\n";
    assert_eq!(fragments(&File::new("a.rs", text)), ["a.rs:1: begins with `Its`"]);
    assert_eq!(fragments(&File::new("a.rs", "fn a() {}\n    //! The same")).len(), 1);
}

#[test]
fn an_odd_name_is_found_in_code_only() {
    let text = "pub fn tell(&self) {}\n// fn say\nfn tell_all() {}\nenum What {}\nlet told = ask();\n";
    assert_eq!(odd_names(&File::new("a.rs", text)), ["a.rs:1: `fn tell`", "a.rs:4: `enum What`"]);
}
