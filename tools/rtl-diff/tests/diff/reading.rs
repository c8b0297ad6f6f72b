//! The beginning of a report: the verdict with its kernel, what changed, and what would decide the rest.

use crate::{Folder, Kernel};

/// Runs of one build, whose kernels differ from run to run by a few thousandths.
fn runs(folder: &Folder, name: &str, kernels: &[Kernel<'_>], thousandths: &[i64]) -> String {
    let mut files = Vec::new();
    for (run, part) in thousandths.iter().enumerate() {
        let file = format!("{name}{run}.db");
        let kernels: Vec<Kernel<'_>> =
            kernels.iter().map(|&(kernel, calls, ns)| (kernel, calls, ns + ns * part / 1_000)).collect();
        folder.trace(&file, run as i64, &kernels);
        files.push(file);
    }
    files.join(" ")
}

/// `gemm` is slower by 4 %.
fn four_percent(folder: &Folder) -> String {
    let spread = [-2, -1, 0, 1, 2];
    let before = runs(folder, "a", &[("gemm", 40, 100_000), ("softmax", 40, 20_000)], &spread);
    let after = runs(folder, "b", &[("gemm", 40, 104_000), ("softmax", 40, 20_000)], &spread);
    format!("--as runs --baseline {before} --candidate {after}")
}

#[test]
fn the_first_line_has_the_kernel_its_change_and_interval_and_the_change_of_wall() {
    let folder = Folder::new();
    let line = four_percent(&folder);
    let text = folder.answer(1, &format!("--max-kernel 2% {line}"));
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("fail: gemm +4.00% (95% interval +3."), "{first}");
    assert!(first.contains(", allowed +2.00%); wall +3.3"), "{first}");
    assert_eq!(folder.json(1, &format!("--max-kernel 2% {line}"))["headline"], first);
    let github = folder.answer(1, &format!("--max-kernel 2% {line} --to github"));
    assert!(github.ends_with(&format!("{}\n", first.replace('%', "%25"))), "{github}");
}

#[test]
fn a_kernel_that_is_slower_by_less_than_is_allowed_is_called_so() {
    let folder = Folder::new();
    let line = four_percent(&folder);
    let text = folder.answer(0, &line);
    assert!(text.starts_with("slower within the allowance: gemm +4.00% (95% interval +3."), "{text}");
    assert!(folder.answer(0, &format!("--gate {line}")).starts_with("pass: gemm +4.00% (95% interval +3."));
    assert_eq!(crate::status(&folder.json(0, &line), "gemm"), "slower within the allowance");
}

#[test]
fn unchanged_kernels_are_a_number_and_all_prints_every_table() {
    let folder = Folder::new();
    let line = four_percent(&folder);
    let text = folder.answer(0, &line);
    assert!(
        text.contains("\n1 kernel unchanged; --all prints all tables\n") && !text.contains("softmax"),
        "{text}"
    );
    let all = folder.answer(0, &format!("--all {line}"));
    for heading in ["Changed", "Kernels", "Runs", "Where the change of wall comes from"] {
        assert!(all.contains(&format!("\n{heading}\n")), "{heading}: {all}");
    }
    assert!(all.starts_with(text.lines().next().unwrap()) && all.contains("softmax"), "{all}");
}

#[test]
fn what_is_undecided_states_how_many_runs_decide_it() {
    let folder = Folder::new();
    let spread = [-30, 30, -10, 10];
    let before = runs(&folder, "a", &[("gemm", 40, 100_000)], &spread);
    let after = runs(&folder, "b", &[("gemm", 40, 109_000)], &spread);
    let line = format!("--as runs --baseline {before} --candidate {after}");
    let document = folder.json(0, &line);
    let runs = document["kernels"][0]["runs_to_decide"].as_u64().unwrap();
    let text = folder.answer(0, &line);
    assert!(text.starts_with("undecided: gemm +9."), "{text}");
    assert!(text.contains(&format!("\n{runs} runs a side would decide it\n")), "{text}");
}

#[test]
fn one_saved_report_a_side_says_in_the_first_line_that_it_cannot_decide() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 100_000), ("softmax", 40, 20_000)]);
    folder.trace("b.db", 2, &[("gemm", 40, 120_000), ("softmax", 40, 20_000)]);
    for side in ["a", "b"] {
        crate::sides::report(&folder, &format!("{side}.db"), &format!("{side}.json"));
    }
    let text = folder.answer(0, "a.json b.json");
    let first = "undecided: one saved report a side does not show how kernels vary; wall +16.64%\n";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("\none saved report a side cannot decide: give the traces themselves, "), "{text}");
    let run = folder.run("--gate a.json b.json");
    assert!(
        run.messages.contains("one saved report a side does not show how much kernels vary"),
        "{}",
        run.messages
    );
}

#[test]
fn a_comment_has_short_names_and_folds_the_full_ones() {
    let folder = Folder::new();
    let name = format!("Cijk_Alik_Bljk_BBS_BH_Bias_UserArgs_MT256x224x128_{}", "SN_LDSB0_AFC0_".repeat(20));
    folder.trace("a.db", 1, &[(&name, 40, 100_000)]);
    folder.trace("b.db", 2, &[(&name, 40, 120_000)]);
    let comment = folder.answer(1, "--gate a.db b.db --to markdown");
    let (read, folded) = comment.split_once("<details>").unwrap();
    assert!(
        read.contains("`Cijk_Alik_Bljk_BBS_BH_MT256x224x128` +20.00%") && !read.contains(&name),
        "{read}"
    );
    assert!(folded.contains(&name), "{folded}");
}

#[test]
fn a_kernel_that_is_too_small_to_count_is_no_headline() {
    let folder = Folder::new();
    let spread = [-2, -1, 0, 1, 2];
    let before = runs(&folder, "a", &[("gemm", 40, 1_000_000), ("tiny", 40, 2_000)], &spread);
    let after = runs(&folder, "b", &[("gemm", 40, 1_000_000), ("tiny", 40, 4_000)], &spread);
    let text = folder.answer(0, &format!("--as runs --baseline {before} --candidate {after}"));
    assert!(text.starts_with("changed: 1 slower within the allowance, 1 unchanged; wall +0."), "{text}");
}

#[test]
fn a_longer_wall_by_idle_time_is_the_headline_where_no_kernel_is_slower() {
    let folder = Folder::new();
    let story = |pause: i64| -> String {
        let kernel = |call: i64| {
            let start = call * (100_000 + pause);
            let end = start + 100_000 + call % 7;
            format!(
                "INSERT INTO kernels(gpu, queue, start, end, name) VALUES (0, 0, {start}, {end}, 'gemm');\n"
            )
        };
        (0..40).map(kernel).collect()
    };
    for (file, pause) in [("a.db", 1_000), ("b.db", 30_000)] {
        let database = support::database(&story(pause), support::Layout::Native).unwrap();
        std::fs::copy(database, folder.path(file)).unwrap();
    }
    let text = folder.answer(0, "a.db b.db");
    assert!(text.starts_with("slower: wall +28."), "{text}");
    assert!(text.contains(", most by idle +1.131 ms; no kernel is slower\n"), "{text}");
}
