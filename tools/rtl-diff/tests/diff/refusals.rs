//! Inputs that cannot be compared: a sentence and an exit code for each.

use crate::{Folder, STEADY};

/// `line` ends with `code` and one sentence that says `why`, then a hint.
#[track_caller]
fn refused(folder: &Folder, code: i32, line: &str, why: &str) {
    let run = folder.run(line);
    assert_eq!(run.code, code, "{line}: {}{}", run.messages, run.answer);
    let lines: Vec<&str> = run.messages.lines().collect();
    let [error, hint] = lines[..] else { panic!("{line}: {}", run.messages) };
    assert!(error.starts_with("rtl-diff: error: ") && error.contains(why), "{error}");
    assert!(hint.starts_with("hint: ") && hint.len() > 10, "{hint}");
    assert!(!run.answer.contains("NaN") && !run.answer.contains("inf"), "{}", run.answer);
}

#[test]
fn a_trace_with_itself() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    std::fs::copy(folder.path("a.db"), folder.path("copy.db")).unwrap();
    refused(&folder, 3, "--gate a.db a.db", "the same trace");
    refused(&folder, 3, "--gate a.db copy.db", "the same trace");
    let document = folder.json(0, "a.db copy.db");
    assert_eq!(document["decomposition"]["wall_delta_ns"], 0);
}

#[test]
fn a_side_without_kernels() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("empty.db", 1, &[]);
    refused(&folder, 3, "a.db empty.db", "the candidate has no kernel");
    refused(&folder, 3, "--gate empty.db a.db", "the baseline has no kernel");
    refused(&folder, 3, "empty.db empty.db", "no side has a kernel");
}

#[test]
fn two_programs_without_a_common_kernel() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 20, 1_000)]);
    folder.trace("b.db", 1, &[("softmax", 20, 1_000)]);
    refused(&folder, 3, "--gate a.db b.db", "no kernel in common");
}

#[test]
fn different_amounts_of_work() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY.map(|(name, calls, duration)| (name, calls * 2, duration)));
    refused(&folder, 3, "a.db b.db", "2.00 times as often");
    let document = folder.json(0, "--max-kernel 5% --allow incomparable a.db b.db");
    assert!(document["notes"].to_string().contains("2.00 times as often"), "{}", document["notes"]);
    let message = "the gate on total GPU time cannot be measured";
    let document = folder.json_of_failure(3, "--gate --allow incomparable a.db b.db", message);
    assert_eq!(document["gates"][1]["outcome"], "not-measured", "a sum says nothing: {document:#}");
}

#[test]
fn work_that_a_trace_does_not_state() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    for (by, what) in [("operator", "operators"), ("module", "modules"), ("step", "steps")] {
        refused(&folder, 3, &format!("--by {by} a.db b.db"), &format!("the baseline has no {what}"));
    }
    let document = folder.json(0, "--by category a.db b.db");
    assert_eq!(document["work"]["is_per_step"], false);
    refused(&folder, 2, "calibrate --by operator a.db b.db a.db", "kernels are calibrated");
}

#[test]
fn work_of_a_saved_report() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    crate::sides::report(&folder, "a.db", "a.json");
    crate::sides::report(&folder, "b.db", "b.json");
    for by in ["operator", "module", "category", "step"] {
        for sides in ["a.json b.json", "a.json b.db", "a.db b.json"] {
            let line = format!("--by {by} {sides}");
            refused(
                &folder,
                3,
                &line,
                "a saved report cannot be divided by operator, module, category or step",
            );
            assert!(folder.run(&line).messages.ends_with("hint: compare the trace itself\n"), "{line}");
        }
    }
}

#[test]
fn no_baseline_yet() {
    let folder = Folder::new();
    folder.trace("b.db", 1, &STEADY);
    refused(&folder, 3, "--gate --candidate b.db", "there is no baseline");
    let document = folder.json(0, "--gate --allow no-baseline --baseline missing.db --candidate b.db");
    assert_eq!(document["verdict"], "inconclusive");
    assert_eq!(document["kernels"][0]["status"], "new");
}

#[test]
fn command_lines_that_make_no_sense() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    refused(&folder, 2, "", "the runs of the candidate");
    refused(&folder, 2, "a.db", "compared with itself");
    refused(&folder, 2, "--max-kernel 5 a.db a.db", "5");
    refused(&folder, 2, "a.db a.db -o a.db", "a.db names another format than text");
    std::fs::hard_link(folder.path("a.db"), folder.path("link")).unwrap();
    refused(&folder, 2, "a.db a.db -o link", "link is an input");
    std::fs::write(folder.path("old.md"), "kept").unwrap();
    refused(&folder, 2, "a.db a.db -o old.md", "old.md exists");
    refused(&folder, 2, "a.db a.db --to json -o new.md", "new.md names another format than json");
    refused(&folder, 2, "a.db a.db -o json=new.json", "-o is now `-o new.json`");
    refused(&folder, 3, "a.db nothing.db", "no such file");
    refused(&folder, 3, "a.db a.db -o no/folder/x.json", "cannot write no/folder/x.json");
    std::fs::write(folder.path("bad.toml"), "[gate]\nkernl = \"5%\"\n").unwrap();
    refused(&folder, 2, "--config bad.toml a.db a.db", "bad.toml: line 2");
    refused(&folder, 3, "calibrate a.db", "too little");
}

#[test]
fn a_report_that_was_cut_is_no_side() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    std::fs::write(folder.path("r.json"), r#"{"schema": "rtl-summary/1", "inputs": []}"#).unwrap();
    refused(&folder, 3, "r.json a.db", "not a whole report");
}

#[test]
fn reading_changes_no_byte_and_leaves_no_file() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &STEADY);
    folder.trace("b.db", 2, &STEADY);
    let before = crate::contents(folder.0.path());
    folder.answer(0, "--gate a.db b.db");
    assert!(before == crate::contents(folder.0.path()));
}
