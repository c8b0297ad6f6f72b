//! Can the verdict be trusted? Many comparisons whose truth is known, judged by the code that judges yours, and the
//! table of `docs/statistics.md`.
//! `cargo run --release -p analysis --example verdicts -- 3000`

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

mod questions;
mod rivals;
mod workload;

use std::ops::AddAssign;

use questions::{Count, Setting, Trial, coverage, fails};
use rivals::RIVALS;
use workload::Shift;

fn main() {
    let pairs: u64 = std::env::args().nth(1).and_then(|pairs| pairs.parse().ok()).unwrap_or(3000);
    let parts: Vec<String> = std::env::args().skip(2).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    for shift in [Shift::PerKernel, Shift::Shared] {
        println!("\nrun-to-run shift 1 %, {shift:?}, {pairs} pairs of 80 kernels");
        if wanted("coverage") {
            for runs in [3, 5, 10] {
                intervals(shift, runs, pairs / 10);
            }
        }
        if wanted("gate") {
            equal(&format!("A/A, 5 runs a side, --gate"), Setting::gate(shift, 5), pairs);
            equal("A/A, threshold 2 %, calibrated, 5 runs", Setting::calibrated(shift, 5), pairs);
            equal("A/A, 3 runs a side, --gate", Setting::gate(shift, 3), pairs / 3);
            equal("A/A, one run a side, --gate", Setting::gate(shift, 1), pairs);
            equal("A/A, one run, threshold 2 %, calibrated", Setting::calibrated(shift, 1), pairs / 3);
        }
        if wanted("power") {
            slowed("+10 %, 5 runs, --gate", Setting::gate(shift, 5), 1.10, pairs);
            slowed("+10 %, 3 runs, --gate", Setting::gate(shift, 3), 1.10, pairs / 3);
            slowed("+5 %, threshold 2 %, calibrated, 5 runs", Setting::calibrated(shift, 5), 1.05, pairs);
            let two = Setting { threshold: Some(0.02), ..Setting::gate(shift, 5) };
            slowed("+5 %, threshold 2 %, not calibrated, 5 runs", two, 1.05, pairs / 3);
        }
        if wanted("curve") {
            for runs in [5, 10, 25] {
                slowed(
                    &format!("+3 %, threshold 2 %, calibrated, {runs} runs"),
                    Setting::calibrated(shift, runs),
                    1.03,
                    pairs / 6,
                );
                let zero = Setting { threshold: Some(0.0), ..Setting::calibrated(shift, runs) };
                slowed(&format!("+3 %, threshold 0, calibrated, {runs} runs"), zero, 1.03, pairs / 6);
            }
        }
        if wanted("boundary") {
            let (mut tally, two) = (Count::default(), Setting::calibrated(shift, 5));
            for yes in each(pairs / 3, |pair| {
                let mut trial = Trial::new(two, pair);
                trial.slow_all(1.02);
                fails(&trial.judge())
            }) {
                tally += Count::of(yes);
            }
            line(
                "every kernel slowed by exactly the threshold (2 %, calibrated, 5 runs): runs failed",
                tally,
            );
        }
    }
}

fn line(question: &str, count: Count) {
    println!("{question:>84} {:7.3} %  ({} of {})", 100.0 * count.part(), count.yes, count.of);
}

fn equal(question: &str, setting: Setting, pairs: u64) {
    let (mut runs, mut kernels) = (Count::default(), Count::default());
    for (failed, covered) in each(pairs, |pair| {
        let judgements = Trial::new(setting, pair).judge();
        (fails(&judgements), coverage(&judgements))
    }) {
        runs += Count::of(failed);
        kernels += covered;
    }
    line(&format!("{question}: runs failed"), runs);
    line("of these intervals contain 1", kernels);
}

fn slowed(question: &str, setting: Setting, factor: f64, pairs: u64) {
    let (mut found, mut others, mut bounds) = (Count::default(), Count::default(), [0.0; 2]);
    for (right, wrong, needed) in each(pairs, |pair| {
        let mut trial = Trial::new(setting, pair);
        let kernel = trial.slow_one(factor);
        let mut judgements = trial.judge();
        let slow = judgements.remove(kernel);
        (fails(std::slice::from_ref(&slow)), fails(&judgements), slow.detectable.unwrap_or_default())
    }) {
        found += Count::of(right);
        others += Count::of(wrong);
        bounds[0] += needed;
        bounds[1] += 1.0;
    }
    line(&format!("{question}: found"), found);
    line("others failed", others);
    println!("{:>84} {:7.3} %", "detectable, on average", 100.0 * bounds[0] / bounds[1]);
}

/// Coverage of ours and of the rivals, and how wide they are.
fn intervals(shift: Shift, runs: usize, pairs: u64) {
    #[derive(Clone, Copy, Default)]
    struct Sum(Count, f64);
    impl AddAssign for Sum {
        fn add_assign(&mut self, other: Self) {
            self.0 += other.0;
            self.1 += other.1;
        }
    }
    let mut sums = [Sum::default(); 4];
    let mut sizes = [Count::default(); 3];
    for (found, by_size) in each(pairs, |pair| {
        let trial = Trial::new(Setting::gate(shift, runs), pair);
        let judgements = trial.judge();
        let mut found = [Sum::default(); 4];
        let mut by_size = [Count::default(); 3];
        for (kernel, judgement) in judgements.iter().enumerate() {
            let Some(interval) = judgement.interval else { continue };
            let ours = (interval.low.ln(), interval.high.ln());
            let rivals =
                RIVALS.map(|(_, rival)| rival(&trial.baseline[kernel], &trial.candidate[kernel], 0.95));
            for (sum, (low, high)) in found.iter_mut().zip([ours].into_iter().chain(rivals)) {
                *sum += Sum(Count::of(low <= 0.0 && 0.0 <= high), high - low);
            }
            let size = match trial.calls(kernel) {
                ..100 => 0,
                100..1000 => 1,
                _ => 2,
            };
            by_size[size] += Count::of(ours.0 <= 0.0 && 0.0 <= ours.1);
        }
        (found, by_size)
    }) {
        sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        sizes.iter_mut().zip(by_size).for_each(|(sum, found)| *sum += found);
    }
    let names = ["this tool"].into_iter().chain(RIVALS.map(|(name, _)| name));
    for (name, Sum(count, width)) in names.zip(sums) {
        line(
            &format!(
                "95 % interval, {runs} runs a side, {name} (width {:.2} %)",
                100.0 * width / count.of as f64
            ),
            count,
        );
    }
    let [few, some, many] = sizes.map(|size| 100.0 * size.part());
    println!(
        "{:>84} {few:.2} / {some:.2} / {many:.2} %",
        "this tool, by calls: below 100 / below 1,000 / more"
    );
}

/// `work` for each number, on two threads, in order.
fn each<T: Send>(pairs: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let half = pairs / 2;
    let (work, part) = (&work, |from: u64, to: u64| (from..to).map(&work).collect::<Vec<T>>());
    let _ = work;
    std::thread::scope(|scope| {
        let first = scope.spawn(|| part(0, half));
        let mut second = part(half, pairs);
        let mut all = first.join().unwrap_or_default();
        all.append(&mut second);
        all
    })
}
