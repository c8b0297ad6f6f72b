//! Findings about ranks that wait for each other, on small made jobs and on jobs of real GPUs with planted causes: the figures were
//! computed from the files by hand, or by running the same program without the cause.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use rtl_analysis::combine::Combined;
use rtl_analysis::findings::{Finding, LEAST, findings};
use rtl_analysis::trust::Health;
use rtl_analysis::{Analysis, Categories};
use rtl_schema::{Select, Trace};

/// The findings on the files of a job, ordered by rank; none where they are not there.
fn found(folder: &str, name: impl Fn(u32) -> String, ranks: u32) -> Option<Vec<Finding>> {
    let folder: PathBuf = support::shared()?.join(folder);
    if !folder.is_dir() {
        return support::skipped(support::Need::Shared, "no jobs beside the checkout");
    }
    let mut combined = Combined::default();
    for rank in 0..ranks {
        let trace = Trace::open(folder.join(name(rank))).unwrap();
        let select = Select { collectives: true, ..Select::summary() };
        combined.append(trace.read(&select).unwrap());
    }
    let tables = combined.into_tables();
    let analysis = Analysis::new(&tables, &Categories::default());
    Some(findings(&analysis, &Health::default()).findings)
}

fn case(name: &str, ranks: u32) -> Option<Vec<Finding>> {
    found(&format!("cases/{name}"), |rank| format!("rank{rank}.json.gz"), ranks)
}

fn of_h100(name: &str) -> Option<Vec<Finding>> {
    found("kineto/h100", |rank| format!("{name}-rank{rank}.json.gz"), 2)
}

fn get<'a>(found: &'a [Finding], id: &str) -> &'a Finding {
    found.iter().find(|finding| finding.id == id).unwrap_or_else(|| panic!("no {id}: {found:#?}"))
}

fn has(found: &[Finding], id: &str) -> bool {
    found.iter().any(|finding| finding.id == id)
}

fn assert_share(finding: &Finding, from: f64, to: f64) {
    let share = finding.share * 100.0;
    assert!((from..=to).contains(&share), "{share:.1} %: {}", finding.sentence);
}

#[test]
fn a_job_that_all_hosts_bind_is_launch_bound_and_its_slowest_host_costs_little() {
    let Some(found) = case("host-bound-job", 4) else { return };
    // 31.82 ms of the slowest host for 59 collectives, 30.09 ms of the next one, of 32.26 ms.
    assert_share(get(&found, "straggler"), 5.0, 6.0);
    assert_eq!(get(&found, "straggler").ranks, [3]);
    assert_eq!((found[0].id.as_str(), found[0].gpus.len()), ("launch-bound", 0));
    assert!(found[0].sentence.starts_with("the hosts of all ranks"), "{}", found[0].sentence);
    let sum: f64 = found.iter().map(|finding| finding.share).sum();
    assert!(sum <= 1.0 - 0.11, "kernels alone run for 11 %: {sum}");
}

#[test]
fn lateness_in_turn_is_one_finding() {
    let Some(found) = case("jitter-random-rank", 8) else { return };
    // The medians of the waits are 31.6 ms of 66.7 ms.
    assert_eq!(found[0].id, "waiting");
    assert_share(&found[0], 43.0, 48.5);
    assert!(found[0].sentence.contains("rank 0 comes last in"), "{}", found[0].sentence);
    assert!(found[0].sentence.contains("their hosts are late"), "{}", found[0].sentence);
}

#[test]
fn the_kernel_of_one_rank_is_the_reason() {
    let Some(found) = case("kernel-on-one-rank", 4) else { return };
    let straggler = &found[0];
    assert_eq!((straggler.id.as_str(), &straggler.ranks[..]), ("straggler", &[1][..]));
    for part in ["computes 18.3 ms longer", "big_product", "only it runs (+18.0 ms)"] {
        assert!(straggler.sentence.contains(part), "{part}: {}", straggler.sentence);
    }
}

#[test]
fn ranks_of_another_node_are_missing() {
    let Some(found) = case("one-node-of-two", 8) else { return };
    let exposed = get(&found, "exposed-comm");
    assert!(exposed.sentence.contains("waiting for late ranks: 8 of 16 have none"), "{}", exposed.sentence);
    assert!(!has(&found, "straggler") && !has(&found, "waiting"), "{found:#?}");
}

#[test]
fn a_late_recording_is_no_imbalance() {
    let Some(found) = case("window-imbalance", 4) else { return };
    assert!(["imbalance", "straggler", "waiting"].iter().all(|id| !has(&found, id)), "{found:#?}");
    assert!(found.iter().all(|finding| finding.share >= LEAST));
}

#[test]
fn an_exchange_that_gives_one_rank_more_work_has_a_straggler() {
    let Some(found) = of_h100("d_moe") else { return };
    // Profiled alike, the same program with equal shares takes 23 ms a step where this one takes 34.8.
    assert_eq!((found[0].id.as_str(), &found[0].ranks[..]), ("straggler", &[0][..]));
    assert_share(&found[0], 27.0, 37.0);
    assert!(found[0].sentence.contains("it computes 117 ms longer"), "{}", found[0].sentence);
    // Products of three times as many rows have another kernel.
    assert!(!found[0].sentence.contains("only it runs"), "{}", found[0].sentence);
    assert!(found.iter().all(|finding| !finding.sentence.contains("would tell")), "{found:#?}");
    let Some(even) = of_h100("d_moe-without") else { return };
    assert!(!has(&even, "straggler"), "{even:#?}");
}

#[test]
fn collectives_with_nothing_beside_them_are_exposed() {
    let Some(found) = of_h100("d_tp") else { return };
    assert_eq!(found[0].id, "exposed-comm");
    assert_share(&found[0], 11.0, 15.0);
    assert!(["imbalance", "straggler", "waiting"].iter().all(|id| !has(&found, id)), "{found:#?}");
}

#[test]
fn a_host_that_recording_makes_late_is_named_with_what_recording_costs() {
    let Some(found) = of_h100("d_fsdp") else { return };
    // Rank 1 is idle for 75.6 ms in 945 gaps, rank 0 waits 52 ms for it with nothing beside; without the profiler no rank is late.
    assert_eq!((found[0].id.as_str(), &found[0].ranks[..]), ("straggler", &[1][..]), "{found:#?}");
    assert_share(&found[0], 11.0, 17.0);
    assert!(
        found[0].sentence.contains("torch.profiler itself costs its host at least"),
        "{}",
        found[0].sentence
    );
    assert!(["imbalance", "waiting"].iter().all(|id| !has(&found, id)), "{found:#?}");
    let launch_bound = found.iter().find(|finding| finding.id == "launch-bound");
    assert!(launch_bound.is_none_or(|finding| finding.share < 0.03), "{found:#?}");
}

#[test]
fn stragglers_of_real_jobs_cost_what_the_job_without_them_takes_less() {
    let job = |name: &str| found("kineto/h200", |rank| format!("gpt-dist_{name}-rank{rank}.json.gz"), 4);
    // From one collective to the next 1.870 and 2.232 ms, without the cause 1.514 ms.
    for (name, truth) in [("slowgpu", 19.0), ("slowhost", 32.2)] {
        let Some(found) = job(name) else { return };
        assert_eq!((found[0].id.as_str(), &found[0].ranks[..]), ("straggler", &[1][..]), "{found:#?}");
        assert_share(&found[0], 0.85 * truth, 1.15 * truth);
    }
    for name in ["overlap", "exposed"] {
        let Some(found) = job(name) else { return };
        assert!(!has(&found, "straggler") && !has(&found, "imbalance"), "{found:#?}");
    }
}

#[test]
fn a_gpu_that_settles_after_it_was_idle_does_not_drift() {
    for name in ["d_tp-without", "d_moe-without"] {
        let Some(found) = of_h100(name) else { return };
        assert!(!has(&found, "drift"), "{found:#?}");
    }
}
