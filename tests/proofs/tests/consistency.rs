//! Findings agree with themselves and with the GPUs' times, on real and made traces and on damaged copies of them: costs fit into the
//! idle time that they are made of, the count and the size of gaps make the cost, and all findings together cost at most the wall time.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/findings/machine.rs"]
#[allow(dead_code, reason = "shared with the long version")]
mod machine;
#[path = "../src/findings/program.rs"]
#[allow(dead_code, reason = "shared with the long version")]
mod program;

use std::path::{Path, PathBuf};

use program::{Cause, Plan};
use rtl_analysis::combine::Combined;
use rtl_analysis::compare::random::Random;
use rtl_analysis::findings::{Finding, findings};
use rtl_analysis::trust::Health;
use rtl_analysis::{Analysis, Categories};
use rtl_schema::{Select, Tables, Trace};

/// Findings whose cost is idle time and nothing else.
const IDLE: [&str; 9] = [
    "first-call",
    "idle-host",
    "idle-queued",
    "idle-sync",
    "idle-unknown",
    "idle-waiting",
    "launch-bound",
    "small-ops",
    "alloc-in-loop",
];

/// Sentences state three digits of each number.
const ROUNDED: f64 = 0.02;

/// The time in ns after `before` in a sentence, such as `17.6 ms`.
fn time_after(sentence: &str, before: &str) -> Option<f64> {
    let (_, rest) = sentence.split_once(before)?;
    let mut words = rest.split(|char: char| char.is_whitespace() || ";,)".contains(char));
    let number: f64 = words.next()?.parse().ok()?;
    let unit = match words.next()? {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(number * unit)
}

/// The cost that the number and the mean size of gaps make, where a sentence states both, and the idle time that it states.
fn gaps(sentence: &str) -> Option<(f64, f64)> {
    let (before, after) = sentence.split_once(" gaps of ")?;
    let count: f64 = before.rsplit(' ').next()?.parse().ok()?;
    let size = time_after(&format!(" gaps of {after}"), " gaps of ")?;
    Some((count * size, time_after(sentence, "idle for ")?))
}

fn assert_consistent(tables: &Tables, of: &str) {
    let analysis = Analysis::new(tables, &Categories::default());
    // A finding that does not fit into the wall time with those before it panics in a build with assertions.
    let found = findings(&analysis, &Health::default()).findings;
    let gpus = &analysis.sweep().gpus;
    let sum = |finding: &Finding| {
        let concerned = if finding.gpus.is_empty() { gpus.len() } else { finding.gpus.len() };
        // The wall time begins with the first op.
        (finding.cost_ns - finding.before_ns) as f64 * concerned as f64
    };
    let wall: i64 = gpus.iter().map(|gpu| gpu.wall_ns).sum();
    let idle: i64 = gpus.iter().map(|gpu| gpu.idle_ns).sum();
    // Means of several GPUs are rounded down.
    let most = |ns: i64| ns as f64 * 1.001 + gpus.len() as f64;
    let all: f64 = found.iter().map(sum).sum();
    assert!(all <= most(wall), "{of}: findings cost {all} of {wall} ns: {found:#?}");
    // Ranks that wait for each other's hosts in collectives are not idle.
    let is_idle =
        |finding: &&Finding| IDLE.contains(&&*finding.id) && !finding.sentence.contains(" in collectives ");
    let lost: f64 = found.iter().filter(is_idle).map(sum).sum();
    assert!(lost <= most(idle), "{of}: causes of idle time cost {lost} of {idle} ns: {found:#?}");
    for finding in &found {
        let Finding { id, sentence, share, cost_ns, .. } = finding;
        assert!(*cost_ns > 0 && (0.0..=1.0).contains(share), "{of}: {finding:#?}");
        if let Some((product, idle)) = gaps(sentence) {
            assert!((product - idle).abs() <= ROUNDED * idle, "{of}: {id}: {sentence}");
        }
    }
}

/// Without some of the rows, as a tracer that lost them leaves it.
fn thinned(tables: &mut Tables, seed: u64) {
    let mut random = Random::part(seed, 1);
    // Rows are lost one by one, or from some moment on.
    let odds = 2 + random.below(8);
    let mut keep = |rows: usize| -> Vec<bool> {
        let kept = if random.below(2) == 0 { rows } else { random.below(rows + 1) };
        (0..rows).map(|row| row < kept && random.below(odds) != 0).collect()
    };
    let dispatches = keep(tables.dispatches.len());
    tables.dispatches.retain(&dispatches);
    let calls = keep(tables.api_calls.len());
    tables.api_calls.retain(&calls);
    let operators = keep(tables.operators.len());
    tables.operators.retain(&operators);
    let ranges = keep(tables.ranges.len());
    let mut at = 0;
    tables.ranges.retain(|_| {
        at += 1;
        ranges[at - 1]
    });
}

/// Files below a folder that are not too large for a short test.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let largest = if support::is_long() { u64::MAX } else { 250_000 };
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let is_trace = |path: &Path| {
            ["gz", "json", "db", "pb"].iter().any(|ending| path.extension().is_some_and(|own| own == *ending))
        };
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path if is_trace(&path) && entry.metadata().unwrap().len() <= largest => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn findings_on_real_traces_and_on_damaged_ones_are_consistent() {
    let Some(shared) = support::shared().filter(|shared| shared.join("kineto").is_dir()) else {
        return support::skip(support::Need::Shared, "no traces beside the checkout");
    };
    let mut paths = Vec::new();
    ["kineto", "cases", "traces"].iter().for_each(|folder| files(&shared.join(folder), &mut paths));
    paths.sort();
    let select = Select { python: true, ..Select::summary() };
    let mut read = 0;
    for path in &paths {
        // Some cases are no traces of their own.
        let whole = || Trace::open(path).and_then(|trace| trace.read(&select)).ok();
        let Some(tables) = whole() else { continue };
        read += 1;
        let name = path.display().to_string();
        assert_consistent(&tables, &name);
        for seed in 0..u64::from(support::cases(1)) {
            let mut tables = whole().unwrap();
            thinned(&mut tables, seed);
            assert_consistent(&tables, &format!("{name}, thinned by {seed}"));
        }
    }
    assert!(read >= 30, "{read} traces");
}

#[test]
fn findings_on_drawn_programs_and_on_damaged_ones_are_consistent() {
    for seed in 0..u64::from(support::cases(22)) {
        let cause = Cause::ALL[seed as usize % Cause::ALL.len()];
        let plan = Plan::drawn(seed, Some(cause));
        let tables = |damage: Option<u64>| {
            let mut combined = Combined::default();
            for mut rank in machine::run(&plan.programs(true), plan.ranks > 1).ranks {
                damage.into_iter().for_each(|seed| thinned(&mut rank, seed));
                combined.append(rank);
            }
            combined.into_tables()
        };
        assert_consistent(&tables(None), &format!("{plan:?}"));
        assert_consistent(&tables(Some(seed)), &format!("{plan:?}, thinned"));
    }
}
