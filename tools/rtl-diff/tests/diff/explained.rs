//! The terms of wall as a user reads them, and kernels that have another name.

use rtl_write::{NativeWriter, Op};

use crate::{Folder, status};

fn terms(document: &serde_json::Value) -> Vec<(String, i64)> {
    let terms = document["decomposition"]["terms"].as_object().unwrap();
    let mut terms: Vec<_> = terms.iter().map(|(name, term)| (name.clone(), term.as_i64().unwrap())).collect();
    terms.retain(|(_, term)| *term != 0);
    terms
}

#[test]
fn the_terms_sum_to_the_change_of_wall() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 10, 1_000), ("old", 4, 500)]);
    folder.trace("b.db", 1, &[("gemm", 12, 2_000), ("zzz", 3, 100)]);
    let document = folder.json(0, "--allow incomparable a.db b.db");
    let sum: i64 = terms(&document).iter().map(|(_, term)| term).sum();
    assert_eq!(document["decomposition"]["wall_delta_ns"].as_i64(), Some(sum));
    // 4 calls of 500 are gone (with their wobble of 0.5 % each), 3 of 100 are new, one pause more of 100.
    let term = |name: &str| terms(&document).iter().find(|(term, _)| term == name).map(|(_, term)| *term);
    assert_eq!((term("new_ns"), term("idle_ns")), (Some(300), Some(100)));
    assert!(term("removed_ns").is_some_and(|removed| (-2_010..=-1_990).contains(&removed)));
}

#[test]
fn a_kernel_that_may_be_renamed_is_shown_as_a_guess_and_counted_apart() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 1_000), ("void norm<4>(float*)", 40, 700)]);
    folder.trace("b.db", 1, &[("gemm", 40, 1_000), ("void norm<8>(float*)", 40, 900)]);
    let document = folder.json(0, "--max-kernel 5% a.db b.db");
    assert_eq!(status(&document, "void norm<8>(float*)"), "renamed?");
    let row = &document["kernels"][0];
    assert_eq!(
        (row["former"].as_str(), row["pairing"]["method"].as_str()),
        (Some("void norm<4>(float*)"), Some("template"))
    );
    assert!(terms(&document).iter().any(|(name, term)| name == "renamed_ns" && *term > 7_000));
    let fails = folder.json(1, "--fail-on-new a.db b.db");
    assert_eq!(
        fails["gates"][0]["kernels"].as_array().unwrap().len(),
        1,
        "new until the user says otherwise"
    );
}

#[test]
fn the_settings_decide_which_kernel_has_another_name() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &[("gemm", 40, 1_000), ("norm", 40, 70_000)]);
    folder.trace("b.db", 1, &[("gemm", 40, 1_000), ("layer", 40, 90_000)]);
    std::fs::write(folder.path("rtl-diff.toml"), "[rename]\nnorm = \"layer\"\n").unwrap();
    let document = folder.json(1, "--gate a.db b.db");
    assert_eq!(status(&document, "layer"), "slower");
    assert_eq!(document["kernels"][0]["pairing"]["method"], "config");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let folder = Folder::new();
    folder.trace("a.db", 1, &crate::STEADY);
    folder.trace("b.db", 2, &crate::STEADY);
    for format in ["text", "json", "csv", "markdown", "junit", "github", "bencher", "github-action-benchmark"]
    {
        let line = format!("--gate a.db b.db --to {format}");
        assert_eq!(folder.answer(0, &line), folder.answer(0, &line));
    }
}

/// A trace of one kernel that takes 100 us with 256 work-items and 200 us with 512, with so many calls each.
fn in_two_shapes(folder: &Folder, file: &str, calls: [i64; 2]) {
    let mut writer = NativeWriter::create(folder.path(file)).unwrap();
    let name = writer.intern("gemm").unwrap();
    let mut now = 1_000;
    for (items, count) in [256, 512].into_iter().zip(calls) {
        for call in 0..count {
            let duration = 100_000 * (items as i64 / 256) + call % 7;
            let op = Op {
                gpu: Some(0),
                queue: Some(0),
                start: now,
                end: Some(now + duration),
                description: Some(name),
                items: Some([items, 1, 1]),
                workgroup: Some([64, 1, 1]),
                ..Op::default()
            };
            writer.push_op(&op).unwrap();
            now += duration + 100;
        }
    }
    writer.finish().unwrap();
}

#[test]
fn calls_that_shift_between_launch_shapes_are_mix_and_no_slowdown() {
    let folder = Folder::new();
    in_two_shapes(&folder, "a.db", [28, 14]);
    in_two_shapes(&folder, "b.db", [14, 28]);
    let document = folder.json(0, "--max-kernel 5% a.db b.db");
    assert_eq!(status(&document, "gemm"), "unchanged");
    assert!((document["kernels"][0]["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-3);
    let terms = &document["decomposition"]["terms"];
    assert_eq!((terms["mix_ns"].as_i64(), terms["duration_ns"].as_i64()), (Some(1_400_000), Some(0)));

    let document = folder.json(0, "--by name-only a.db b.db");
    assert!(document["kernels"][0]["ratio"].as_f64().unwrap() > 1.2);
    assert_eq!(document["decomposition"]["terms"]["mix_ns"], 0);
}
