//! Any two saved reports, with an empty line between them: a comparison or an error of rtl-diff.
#![no_main]

use fuzz::Program;
use libfuzzer_sys::fuzz_target;

thread_local! {
    static DIFF: Program = const { Program::new() };
}

fuzz_target!(|text: &str| {
    let (one, other) = text.split_once("\n\n").unwrap_or((text, text));
    let [one, other] =
        [("one", one), ("other", other)].map(|(name, text)| fuzz::input(name, text.as_bytes()));
    let words = ["rtl-diff", one.to_str().expect("plain"), other.to_str().expect("plain")];
    fuzz::count(DIFF.with(|diff| diff.call(words, rtl_diff::run)).is_some_and(|compared| compared.is_ok()));
});
