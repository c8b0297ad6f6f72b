//! Any flags, one a line: options, a usage error or an input error of every tool, never a panic. One in 64 command lines
//! reads a trace.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use cli::Exit;
use fuzz::Program;
use libfuzzer_sys::{Corpus, fuzz_target};

/// A small trace, in the folder where the tools run.
static TRACE: LazyLock<()> = LazyLock::new(|| {
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/open/lite.db");
    let path = fuzz::input("a.db", &std::fs::read(seed).expect("a seed"));
    std::env::set_current_dir(path.parent().expect("a folder")).expect("a folder");
});

thread_local! {
    static PROGRAMS: [Program; 4] = const { [const { Program::new() }; 4] };
}

fuzz_target!(|text: &str| -> Corpus {
    // Words that would read or write other files.
    if text.contains(['/', '~'])
        || text.split('\n').any(|word| word.starts_with("-o") || word.contains("output"))
    {
        return Corpus::Reject;
    }
    LazyLock::force(&TRACE);
    let words = |program: &'static str, traces: &[&'static str]| -> Vec<String> {
        let given = text.split('\n').filter(|word| !word.is_empty());
        [program].into_iter().chain(given).chain(traces.iter().copied()).map(str::to_owned).collect()
    };
    let reads = fuzz::choice(text.as_bytes(), 64) == 0;
    PROGRAMS.with(|[summary, diff, convert, merge]| {
        let tool = |arguments: rtl_summary::args::Arguments, out: &mut cli::Output| {
            if reads {
                rtl_summary::run(arguments, out)
            } else {
                arguments.options.filter.filter().map(|_| Exit::Success)
            }
        };
        let summarised = summary.call(words("rtl-summary", &["a.db"]), tool);
        let traces: &[_] = if reads { &["a.db", "a.db"] } else { &["missing-1.db", "missing-2.db"] };
        let compared = diff.call(words("rtl-diff", traces), rtl_diff::run);
        let tool = |arguments: rtl_convert::args::Arguments, _: &mut cli::Output| {
            arguments.options().map(|_| Exit::Success)
        };
        let converted = convert.call(words("rtl-convert", &["a.db"]), tool);
        let merged = merge.call(words("rtl-merge", &["missing-1.db", "missing-2.db"]), rtl_merge::run);
        fuzz::count([summarised, compared, converted, merged].iter().any(Option::is_some));
    });
    Corpus::Keep
});
