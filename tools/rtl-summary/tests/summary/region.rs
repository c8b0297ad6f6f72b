//! Which rows a report is about.

use support::Layout;

use crate::Folder;

#[test]
fn a_kernel_filter_keeps_what_matches() {
    let folder = Folder::of(&["overlap-two-queues"]);
    assert_eq!(folder.names("overlap-two-queues.db --kernel ^(gemm|norm)$"), ["gemm", "norm"]);
    let region = &folder.json("overlap-two-queues.db --kernel gemm")["inputs"][0]["region"];
    assert_eq!((&region["ops_before"], &region["ops_after"]), (&6.into(), &1.into()));
    assert_eq!(region["filtered"], true);
}

#[test]
fn gpus_by_number() {
    let folder = Folder::of(&["eight-gpus"]);
    let gpus = |line: &str| -> Vec<i64> {
        let json = folder.json(&format!("eight-gpus.db {line}"));
        json["gpus"].as_array().unwrap().iter().map(|gpu| gpu["gpu"].as_i64().unwrap()).collect()
    };
    assert_eq!(gpus("--gpu 3"), [3]);
    assert_eq!(gpus("--gpu 7,1"), [1, 7]);
    assert_eq!(gpus("--gpu 7 --gpu 1"), [1, 7]);
    assert_eq!(gpus("--gpu 7,9"), [7]);
}

#[test]
fn queues_by_number() {
    let folder = Folder::of(&["overlap-two-queues"]);
    assert_eq!(folder.names("overlap-two-queues.db --queue 0"), ["gemm", "twin"]);
    assert_eq!(folder.names("overlap-two-queues.db --queue 1"), ["add", "norm", "twin"]);
}

#[test]
fn windows_that_meet_hold_every_row_once() {
    // The trace starts at 1,000 ns and lasts 1,300 ns.
    let folder = Folder::of(&["overlap-two-queues"]);
    let calls = |line: &str| -> u64 {
        let json = folder.json(&format!("overlap-two-queues.db {line}"));
        json["kernels"].as_array().unwrap().iter().map(|kernel| kernel["calls"].as_u64().unwrap()).sum()
    };
    assert_eq!([calls("--time ..700ns"), calls("--time 700ns..")], [2, 4], "a row belongs where it starts");
    assert_eq!([calls("--time ..50%"), calls("--time 50%..")], [2, 4]);
    assert_eq!([calls("--time ..0.7us"), calls("--time 0.7us..")], [2, 4]);
    assert_eq!([calls("--time ..-100ns"), calls("--time -100ns..")], [4, 2]);
    assert_eq!(calls("--time 200ns..900ns"), 2, "norm at 200 is in, add at 900 is out");
}

#[test]
fn the_window_is_told_in_every_format() {
    let folder = Folder::of(&["overlap-two-queues"]);
    let text = folder.answer("overlap-two-queues.db --time 700ns..");
    assert!(text.contains("Region:    4 of 6 ops"), "{text}");
    let region = &folder.json("overlap-two-queues.db --time 700ns..")["inputs"][0]["region"];
    assert_eq!(region["start_ns"], 1_700);
}

#[test]
fn only_what_ran_in_a_range() {
    let folder = Folder::of(&["ranges-nested"]);
    assert_eq!(folder.names("ranges-nested.db --range forward"), ["softmax", "gemm"]);
    assert_eq!(
        folder.names("ranges-nested.db --range step"),
        ["gemm_backward", "softmax", "gemm", "zero_grad"]
    );
}

#[test]
fn a_range_that_nobody_named_is_an_error_with_a_hint() {
    let run = Folder::of(&["ranges-nested"]).run("ranges-nested.db --range nothing");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert_eq!(run.messages.lines().count(), 2, "{}", run.messages);
    assert!(run.messages.contains("no range is named nothing"), "{}", run.messages);
}

#[test]
fn trimmed_idle_ends_leave_only_the_time_of_ops() {
    let folder = Folder::of(&["ranges-nested"]);
    let whole = folder.json("ranges-nested.db");
    let trimmed = folder.json("ranges-nested.db --time active");
    assert_eq!(whole["inputs"][0]["start_ns"], 950);
    assert_eq!(whole["gpus"], trimmed["gpus"], "ops are all inside");
    assert_eq!(trimmed["inputs"][0]["start_ns"], 1_100);
    assert_eq!(trimmed["inputs"][0]["rows"]["ranges"], 1, "only backward starts after the first op");
}

#[test]
fn the_steady_part_leaves_out_the_first_and_the_last_call() {
    // gemm at 1,000, 2,000, 3,000, 4,000 ns for 100 ns, a small kernel after each.
    let story = "INSERT INTO kernels(gpu, queue, start, end, name) VALUES
        (0, 0, 1000, 1100, 'gemm'), (0, 0, 1500, 1510, 'add'), (0, 0, 2000, 2100, 'gemm'), (0, 0, 2500, 2510, 'add'),
        (0, 0, 3000, 3100, 'gemm'), (0, 0, 3500, 3510, 'add'), (0, 0, 4000, 4100, 'gemm'), (0, 0, 4500, 4510, 'add');";
    let folder = Folder::new();
    std::fs::copy(support::database(story, Layout::Native).unwrap(), folder.path("loop.db")).unwrap();
    let json = folder.json("loop.db --time steady");
    assert_eq!(json["kernels"][0]["calls"], 2, "the second and the third of four");
    assert_eq!(json["kernels"][1]["calls"], 1);
    assert_eq!((&json["gpus"][0]["start_ns"], &json["gpus"][0]["end_ns"]), (&2_000.into(), &3_100.into()));
}

#[test]
fn too_few_calls_are_not_steady() {
    let run = Folder::of(&["two-kernels"]).run("two-kernels.db --time steady");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert_eq!(run.messages.lines().count(), 2, "{}", run.messages);
    assert!(run.messages.contains("no steady part"), "{}", run.messages);
    assert!(run.messages.contains("\nhint: "), "{}", run.messages);
}

#[test]
fn an_empty_window_is_an_error_with_a_hint() {
    let run = Folder::of(&["two-kernels"]).run("two-kernels.db --time 800ns..200ns");
    assert_eq!((run.code, run.answer.as_str()), (3, ""));
    assert!(
        run.messages.contains("the region ends at 200 ns, before it starts at 800 ns"),
        "{}",
        run.messages
    );
    assert!(run.messages.contains("\nhint: "), "{}", run.messages);
}

#[test]
fn ranks_choose_processes() {
    let Some(shared) = support::shared() else { return };
    let folder = Folder::new();
    std::fs::copy(shared.join("traces/made/rocprofv3-rank1.db"), folder.path("rank1.db")).unwrap();
    let ops = |rank: &str| {
        folder.json(&format!("rank1.db --rank {rank}"))["inputs"][0]["region"]["ops_after"].clone()
    };
    assert_eq!((ops("1"), ops("0,1")), (26.into(), 26.into()));
}

#[test]
fn a_selection_of_nothing_names_what_exists() {
    let folder = Folder::of(&["eight-gpus", "overlap-two-queues", "ranges-nested"]);
    for (line, error) in [
        (
            "overlap-two-queues.db --kernel nosuch",
            "no kernel matches nosuch: the trace has 4 kernels: gemm, add, norm, twin",
        ),
        (
            "overlap-two-queues.db --kernel @k9",
            "no kernel matches @k9: the trace has 4 kernels: gemm, add, norm, twin",
        ),
        ("eight-gpus.db --gpu 9", "no GPU 9 in the trace, which has GPU 0 to 7"),
        ("overlap-two-queues.db --queue 7", "no queue 7 in the trace, which has queue 0, 1"),
        ("eight-gpus.db --rank 3", "no rank 3 in the trace, which has no ranks"),
        ("overlap-two-queues.db --time 100s..", "nothing starts at 100 s or later: the trace lasts 1.3 us"),
        ("overlap-two-queues.db --kernel gemm --queue 1", "no op passes all filters: kernel gemm, queue 1"),
        ("ranges-nested.db --range nothing", "no range is named nothing: the trace has"),
    ] {
        for format in ["text", "json", "csv", "markdown"] {
            let run = folder.run(&format!("{line} --to {format}"));
            assert_eq!((run.code, run.answer.as_str()), (3, ""), "{line}");
            assert!(run.messages.contains(error), "{line}: {}", run.messages);
            assert!(run.messages.contains("\nhint: "), "{line}: {}", run.messages);
        }
    }
}

#[test]
fn of_several_traces_those_without_the_selection_are_left_out() {
    let folder = Folder::of(&["two-kernels", "overlap-two-queues"]);
    let run = folder.run("two-kernels.db overlap-two-queues.db --kernel norm");
    assert_eq!(run.code, 0, "{}", run.messages);
    assert!(
        run.messages.starts_with("rtl-summary: warning: left out: two-kernels.db: no kernel matches norm")
    );
    let run = folder.run("two-kernels.db overlap-two-queues.db --kernel nosuch");
    assert_eq!((run.code, run.answer.as_str(), run.messages.lines().count()), (3, "", 4), "{}", run.messages);
}

#[test]
fn a_key_selects_the_kernel_that_the_report_shows() {
    let folder = Folder::of(&["overlap-two-queues", "two-kernels"]);
    let rows = |line: &str| {
        let json = folder.json(&format!("overlap-two-queues.db {line}"));
        let rows = json["kernels"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| format!("{} {}", row["key"].as_str().unwrap(), row["name"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    let all = ["k1 gemm", "k2 add", "k3 norm", "k4 twin"];
    assert_eq!(rows(""), all);
    assert_eq!(rows("--sort name"), ["k2 add", "k1 gemm", "k3 norm", "k4 twin"]);
    assert_eq!(rows("--queue 1"), ["k2 add", "k3 norm", "k4 twin"], "a key does not depend on filters");
    for (number, row) in all.iter().enumerate() {
        assert_eq!(rows(&format!("--kernel @k{}", number + 1)), [*row]);
    }
    let run = folder.run("overlap-two-queues.db two-kernels.db --kernel @k1");
    assert_eq!(run.code, 2, "{}", run.messages);
    assert!(
        run.messages.contains("a key is that of a kernel in one trace, and 2 are given"),
        "{}",
        run.messages
    );
}
