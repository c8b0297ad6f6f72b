//! Any TOML: settings of rtl-diff, and rules of categories.
#![no_main]

use cli::Exit;
use fuzz::Program;
use libfuzzer_sys::fuzz_target;
use rtl_analysis::Categories;

thread_local! {
    static DIFF: Program = const { Program::new() };
}

fuzz_target!(|text: &str| {
    let categories = Categories::from_toml(text);
    if let Ok(categories) = &categories {
        let _ = categories.of("gemm<float>(int)");
    }
    let settings = fuzz::input("settings.toml", text.as_bytes());
    let settings = settings.to_str().expect("a plain name");
    // The traces are missing, which is the error behind those of the settings.
    let words = ["rtl-diff", "--config", settings, "missing-1.db", "missing-2.db"];
    let compared = DIFF.with(|diff| diff.call(words, rtl_diff::run)).expect("valid flags");
    fuzz::count(categories.is_ok() || compared.is_err_and(|failure| failure.exit() == Exit::Input));
});
