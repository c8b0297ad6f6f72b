//! Collectives of matched ranks: gated on transfer, with what they waited beside it.

use serde_json::Value;
use support::{Job, Layout};

use crate::{Folder, status};

const COLLECTIVE: &str = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

const STEPS: i64 = 60;

impl Folder {
    /// A file for each rank of a run: in each step a kernel that takes `work` on the rank, then a collective that ends
    /// `transfer` ns after the last rank has come. Times wobble by 0.5 %, with a pattern that `seed` moves.
    fn ranks(&self, run: &str, seed: i64, work: &[i64], transfer: i64) -> String {
        let wobble = |number: i64| 1_000 + (number * 7 + seed * 3) % 11 - 5;
        let mut stories = vec![String::new(); work.len()];
        let mut at = 0;
        for step in 0..STEPS {
            let arrivals: Vec<i64> =
                work.iter().zip(0..).map(|(work, rank)| at + work * wobble(step + rank) / 1_000).collect();
            let end = arrivals.iter().max().unwrap() + transfer * wobble(step + 5) / 1_000;
            for (story, arrival) in stories.iter_mut().zip(arrivals) {
                *story += &format!(
                    "INSERT INTO kernels(gpu, queue, start, end, name)
                     VALUES (0, 0, {at}, {arrival}, 'gemm'), (0, 0, {arrival}, {end}, '{COLLECTIVE}');\n"
                );
            }
            at = end + 2_000;
        }
        let mut files = Vec::new();
        for (rank, story) in stories.iter().enumerate() {
            let file = format!("{run}{rank}.db");
            std::fs::copy(support::database(story, Layout::Native).unwrap(), self.path(&file)).unwrap();
            self.tag(&file, "run_id", run);
            self.tag(&file, "rank", &rank.to_string());
            files.push(file);
        }
        files.join(" ")
    }
}

fn collective(document: &Value) -> &Value {
    let kernels = document["kernels"].as_array().unwrap();
    kernels.iter().find(|kernel| kernel["name"] == COLLECTIVE).unwrap()
}

/// The terms add up to the change of wall, for each GPU and in total.
fn books_balance(document: &Value) {
    let books = &document["decomposition"];
    for account in books["gpus"].as_array().unwrap().iter().chain([books]) {
        let sum: i64 =
            account["terms"].as_object().unwrap().values().map(|term| term.as_i64().unwrap()).sum();
        assert_eq!(sum, account["wall_delta_ns"].as_i64().unwrap(), "{account:#}");
    }
}

#[test]
fn one_slower_rank_does_not_fail_the_collectives_of_all() {
    let folder = Folder::new();
    let even = folder.ranks("a", 1, &[100_000; 8], 40_000);
    let uneven = folder.ranks(
        "b",
        2,
        &[100_000, 100_000, 130_000, 100_000, 100_000, 100_000, 100_000, 100_000],
        40_000,
    );
    let line = format!("--baseline {even} --candidate {uneven}");
    let document = folder.json(0, &format!("--max-kernel 5% {line}"));
    let row = collective(&document);
    assert_eq!((document["verdict"].as_str(), row["status"].as_str()), (Some("pass"), Some("unchanged")));
    // Seven of eight ranks wait 30 us more in each of 60 collectives, as far as times do not wobble.
    let waits = |side: &str| row["waits"][side]["wait_ns"].as_f64().unwrap();
    let more = (waits("candidate") - waits("baseline")) / (7.0 * 60.0);
    assert!((28_000.0..32_000.0).contains(&more), "{more}");
    assert_eq!(
        (&row["waits"]["baseline"]["collectives"], &row["waits"]["baseline"]["calls"]),
        (&60.into(), &480.into())
    );
    assert_eq!(row["baseline"]["calls"], 60);
    let notes = document["notes"].to_string();
    assert!(notes.contains("in the candidate the others waited for rank 2"), "{notes}");
    assert!(notes.contains("collectives of matched ranks are compared by transfer"), "{notes}");
    books_balance(&document);
    let text = folder.answer(0, &format!("--all {line}"));
    assert!(text.contains("Wait before") && text.contains("Wait after"), "{text}");
    // One rank alone does not say why its collectives take longer.
    let alone = folder.json(0, "--max-kernel 5% a0.db b0.db");
    assert_eq!((status(&alone, COLLECTIVE), &collective(&alone)["waits"]), ("slower", &Value::Null));
}

#[test]
fn a_slower_transfer_fails() {
    let folder = Folder::new();
    let before = folder.ranks("a", 1, &[100_000, 100_000, 130_000, 100_000], 40_000);
    let after = folder.ranks("b", 2, &[100_000, 100_000, 100_000, 100_000], 48_000);
    let document = folder.json(1, &format!("--max-kernel 5% --baseline {before} --candidate {after}"));
    assert_eq!(document["gates"][0]["kernels"], serde_json::json!([COLLECTIVE]));
    let row = collective(&document);
    let ratio = row["ratio"].as_f64().unwrap();
    assert!((ratio - 1.2).abs() < 0.01, "{ratio}: it waits less and takes longer");
    assert!(row["change_ns"].as_f64().unwrap() < 0.0, "all of its time became less");
    books_balance(&document);
}

#[test]
fn saved_reports_of_all_ranks_know_the_transfers() {
    let folder = Folder::new();
    let mut sides = [Vec::new(), Vec::new()];
    for seed in 0..3 {
        for (side, late, transfer) in [(0, 100_000, 40_000), (1, 160_000, 40_000 + 400 * seed)] {
            let name = format!("{side}-{seed}-");
            let files = folder.ranks(&name, seed, &[100_000, late, 100_000, 100_000], transfer);
            crate::sides::report(&folder, &files, &format!("{name}.json"));
            sides[side].push(files);
        }
    }
    let [before, after] = sides.map(|files| files.join(" "));
    let traces = folder.json(0, &format!("--baseline {before} --candidate {after}"));
    let reports = ["0", "1"].map(|side| format!("{side}-0-.json {side}-1-.json {side}-2-.json"));
    let line = format!("--as runs --baseline {} --candidate {}", reports[0], reports[1]);
    let reports = folder.json(0, &line);
    let [one, other] = [&traces, &reports].map(collective);
    for field in ["waits", "share", "baseline", "candidate", "ratio", "status"] {
        assert_eq!(one[field], other[field], "{field}");
    }
    assert_eq!(one["status"], "unchanged");
}

#[test]
fn what_runs_of_one_build_differ_by_is_learned_of_transfers() {
    let folder = Folder::new();
    let runs: Vec<String> = (0..4)
        .map(|run| {
            let late = 100_000 + run * 20_000;
            folder.ranks(&format!("r{run}-"), run, &[100_000, late, 100_000], 40_000)
        })
        .collect();
    let noise = folder.answer(0, &format!("calibrate {}", runs.join(" ")));
    let entry = noise.split("[[kernel]]").find(|entry| entry.contains(COLLECTIVE)).unwrap();
    let variance = entry.lines().find_map(|line| line.strip_prefix("variance = ")).unwrap();
    assert!(
        variance.parse::<f64>().unwrap() < 1e-4,
        "waits differ by a factor, transfers by a percent: {entry}"
    );
}

#[test]
fn a_generated_job_with_a_slow_rank_passes_on_clocks_of_its_own() {
    let folder = Folder::new();
    let mut sides = Vec::new();
    for (name, seed, slow) in [("before", 1, None), ("after", 2, Some((2, 1.2)))] {
        let job = Job { seed, slow, ..Job::default() };
        std::fs::create_dir(folder.path(name)).unwrap();
        let files = job.generate(&folder.path(name)).unwrap();
        let words: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
        sides.push(words.join(" "));
    }
    let line = format!("--max-kernel 10% --baseline {} --candidate {}", sides[0], sides[1]);
    let document = folder.json(0, &line);
    assert_eq!((document["verdict"].as_str(), status(&document, COLLECTIVE)), (Some("pass"), "unchanged"));
    assert!(document["notes"].to_string().contains("in the candidate the others waited for rank 2"));
    books_balance(&document);
}
