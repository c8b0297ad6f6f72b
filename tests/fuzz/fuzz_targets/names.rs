//! Any names of kernels, one a line: different ones get different display names.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use rtl_analysis::Categories;
use rtl_analysis::display_names::{DisplayNames, distinct_short_names};

fuzz_target!(|text: &str| {
    let names: HashSet<&str> = text.split('\n').collect();
    let display = DisplayNames::of(names.iter().copied());
    let texts: HashSet<&str> = names.iter().map(|name| display.get(name)).collect();
    assert_eq!(texts.len(), names.len(), "{display:?}");
    let all: Vec<&str> = names.iter().copied().collect();
    let identities: HashSet<&str> = all.iter().map(|name| rtl_schema::identity(name)).collect();
    let short: HashSet<String> = distinct_short_names(&all).into_iter().collect();
    assert_eq!(short.len(), identities.len(), "{short:?}");
    let categories = Categories::default();
    all.iter().for_each(|name| _ = categories.of(name));
    fuzz::count(all.iter().any(|name| rtl_schema::demangle(name).is_some()));
});
