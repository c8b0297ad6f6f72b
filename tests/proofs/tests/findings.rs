//! The short version of `proofs/src/findings`, and real traces with planted causes. Seeds are fixed, so the figures are the
//! same every time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/findings/judge.rs"]
#[allow(dead_code, reason = "shared with the long version, which tells more")]
mod judge;
#[path = "../src/findings/machine.rs"]
mod machine;
#[path = "../src/findings/program.rs"]
mod program;

use std::path::PathBuf;

use judge::{healthy, planted, reported};
use program::Cause;
use rtl_schema::{Select, Tables, Trace};

/// The number of drawn traces, of which 90 % must be right.
const TRACES: u64 = 40;
const RIGHT: usize = 36;

#[test]
fn the_planted_cause_is_the_first_finding_and_its_cost_is_right() {
    let judged: Vec<_> =
        (0..TRACES).map(|seed| planted(Cause::ALL[seed as usize % Cause::ALL.len()], seed)).collect();
    let first = judged.iter().filter(|judged| judged.is_first).count();
    let near = judged.iter().filter(|judged| judged.cost_is_near).count();
    let wrong: Vec<_> = judged.iter().filter(|judged| !judged.cost_is_near).collect();
    assert!(first >= RIGHT && near >= RIGHT, "{first} first, {near} with the right cost: {wrong:?}");
}

#[test]
fn healthy_runs_have_no_finding() {
    for seed in 0..TRACES {
        let found = healthy(seed);
        assert!(found.is_empty(), "{seed}: {found:?}");
    }
}

/// The ids of the findings of the short report on traces of real GPUs; none where the folder is not there.
fn found(names: &[String]) -> Option<Vec<String>> {
    let folder: PathBuf = support::shared()?.join("kineto/h200");
    if !folder.is_dir() {
        return support::skipped(support::Need::Shared, "no kineto/h200 beside the checkout");
    }
    let read = |name: &String| -> Tables {
        let trace = Trace::open(folder.join(format!("gpt-{name}.json.gz"))).unwrap();
        trace.read(&Select::summary()).unwrap()
    };
    Some(reported(names.iter().map(read).collect()).into_iter().map(|finding| finding.id).collect())
}

#[test]
fn the_cause_planted_on_a_real_gpu_is_the_first_finding() {
    let planted = [
        ("sync", "idle-sync"),
        ("host_stall", "idle-host"),
        ("tiny", "launch-bound"),
        ("pageable", "blocking-copy"),
        ("d2h", "blocking-copy"),
        ("malloc", "alloc-in-loop"),
        ("jit", "first-call"),
    ];
    for (name, id) in planted {
        let Some(found) = found(&[name.to_owned()]) else { return };
        assert_eq!(found.first().map(String::as_str), Some(id), "{name}: {found:?}");
    }
    for (job, id) in [("exposed", "exposed-comm"), ("slowgpu", "straggler"), ("slowhost", "straggler")] {
        let ranks: Vec<String> = (0..4).map(|rank| format!("dist_{job}-rank{rank}")).collect();
        let Some(found) = found(&ranks) else { return };
        assert_eq!(found.first().map(String::as_str), Some(id), "{job}: {found:?}");
    }
}

#[test]
fn healthy_runs_on_real_gpus_have_no_finding() {
    let overlap: Vec<String> = (0..4).map(|rank| format!("dist_overlap-rank{rank}")).collect();
    for names in [vec!["healthy".to_owned()], vec!["graph".to_owned()], overlap] {
        let Some(found) = found(&names) else { return };
        assert!(found.is_empty(), "{names:?}: {found:?}");
    }
}
