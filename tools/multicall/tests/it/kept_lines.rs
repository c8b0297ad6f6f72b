//! The lines that scripts for rocm-trace-lite's `rtl` look for are still printed. docs/guide/migrating.md lists those that are
//! not.

use std::path::Path;
use std::process::Command;

use support::{Layout, Need, fixture_in, skip};

/// A command line of `rtl`, its exit code, and lines that begin so (after spaces) on standard output or standard error.
type Kept = (&'static str, i32, &'static [&'static str], &'static [&'static str]);

const KEPT: [Kept; 15] = [
    ("--version", 0, &["rtl 0."], &[]),
    (
        "summary one.db",
        0,
        &["Trace: one.db", "GPU ops:   2", "API calls: 0", "softmax", "gemm", "GPU 0"],
        &[],
    ),
    ("summary -n 1 one.db", 0, &["GPU ops:   2", "softmax"], &[]),
    ("summary two.db", 0, &["GPU ops:   7", "GPU 0"], &[]),
    ("summary empty.db", 0, &["Trace: empty.db", "GPU ops:   0", "API calls: 0"], &[]),
    ("summary missing.db", 3, &[], &["rtl: error:"]),
    ("info one.db", 0, &["Trace: one.db", "Size: ", "Tables: rocpd_", "Unique kernels: 2"], &[]),
    (
        "info one.db",
        0,
        &["rocpd_op: 2 rows", "rocpd_string: ", "rocpd_metadata: 0 rows", "rocpd_api: 0 rows"],
        &[],
    ),
    ("convert one.db", 0, &["Written one.json.gz"], &[]),
    ("convert two.db --to perfetto -o out.json", 0, &["Written out.json"], &[]),
    ("convert two.db --to rocprofv3", 0, &["Written two_results.json"], &[]),
    ("convert missing.db", 3, &[], &["rtl: error:"]),
    ("trace", 2, &[], &["rtl: error:"]),
    ("trace true", 0, &[], &["rtl: warning: no GPU work was recorded"]),
    ("trace -o x.db -m default false", 1, &[], &["rtl: warning: no GPU work was recorded"]),
];

#[test]
fn lines_that_scripts_look_for_are_there() {
    let program = Path::new(env!("CARGO_BIN_EXE_rtl"));
    let verbs = ["rtl-trace", "rtl-summary", "rtl-convert"].map(|verb| program.with_file_name(verb));
    let libraries = ["librtl.so", "deps/librtl.so"].map(|library| program.with_file_name(library));
    let library = libraries.iter().find(|library| library.exists());
    let (true, Some(library)) = (verbs.iter().all(|verb| verb.exists()), library) else {
        return skip(Need::Build, "not everything is built (cargo build --workspace)");
    };
    let folder = tempfile::tempdir().unwrap();
    for (story, file) in [("two-kernels", "one.db"), ("copies-both-ways", "two.db"), ("empty", "empty.db")] {
        std::fs::copy(fixture_in(story, Layout::Lite), folder.path().join(file)).unwrap();
    }
    for (line, code, answers, messages) in KEPT {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(folder.path()).env("RTL_LIB", library);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "rtl {line}: {output:?}");
        for (text, wanted) in [(&output.stdout, answers), (&output.stderr, messages)] {
            let text = String::from_utf8_lossy(text);
            for begin in wanted {
                let found = text.lines().any(|line| line.trim_start().starts_with(begin));
                assert!(found, "rtl {line}: no line begins with {begin:?}:\n{text}");
            }
        }
    }
}

#[test]
fn the_help_of_trace_names_the_modes() {
    let output = Command::new(env!("CARGO_BIN_EXE_rtl")).args(["trace", "--help"]).output().unwrap();
    let help = String::from_utf8_lossy(&output.stdout);
    for word in ["Usage: rtl trace", "lite", "standard", "hip", "full", "default"] {
        assert!(help.contains(word), "{word}: {help}");
    }
}
