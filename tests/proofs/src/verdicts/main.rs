//! Can the verdict be trusted? Many comparisons whose truth is known, judged by the code that judges yours, and the
//! table of `docs/design/statistics.md`.
//! `cargo run --release -p proofs --bin verdicts -- 3000 [coverage|gate|single|curve|boundary]...`, or with a trace or a
//! folder of runs in place of these words.

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

mod questions;
mod real;
mod rivals;
mod runs;
mod workload;

use std::ops::AddAssign;
use std::path::Path;

use questions::{CALIBRATED, Count, GATE, Question, Trial, coverage, fails};
use real::{Cut, Recording};
use rivals::RIVALS;
use rtl_analysis::compare::{Judgement, Rules};
use runs::{Calibration, RealRuns};
use workload::Shift;

/// How many runs a calibration has.
const CALIBRATION: usize = 10;

fn main() {
    let pairs: u64 = std::env::args().nth(1).and_then(|pairs| pairs.parse().ok()).unwrap_or(3000);
    let parts: Vec<String> = std::env::args().skip(2).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    if let Some(path) = parts.iter().map(Path::new).find(|path| path.exists()) {
        if path.is_dir() {
            real_runs(path)
        } else {
            recording(path)
        }
        return;
    }
    for shift in [Shift::PerKernel, Shift::Shared] {
        println!("\nrun-to-run shift 1 %, {shift:?}, {pairs} pairs of 80 kernels");
        if wanted("coverage") {
            [3, 5, 10].into_iter().for_each(|runs| intervals(shift, runs, pairs));
        }
        if wanted("gate") {
            gate(shift, pairs);
        }
        if wanted("single") {
            single(shift, pairs);
        }
        if wanted("curve") {
            [5, 10, 25].into_iter().for_each(|runs| curve(shift, runs, pairs / 6));
        }
        if wanted("boundary") {
            boundary(shift, pairs);
        }
    }
    println!("\n{:.0} s of processor time", processor_seconds());
}

/// Repeated runs of one program on a real GPU.
fn real_runs(folder: &Path) {
    let runs = match RealRuns::open(folder) {
        Ok(runs) => runs,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let asked = [(3, Calibration::Others), (3, Calibration::All), (5, Calibration::All)];
    let counts = std::thread::scope(|scope| {
        let threads = asked.map(|(of_side, calibration)| {
            let runs = &runs;
            scope.spawn(move || runs.compare(of_side, calibration, 1))
        });
        threads.map(|thread| thread.join().unwrap_or_default())
    });
    for ((of_side, calibration), [equal, slower]) in asked.into_iter().zip(counts) {
        let question = format!("{of_side} runs a side, 2 %, calibrated by {calibration:?}");
        line(&format!("{question}: equal builds failed"), equal);
        line(&format!("{question}: slower build failed"), slower);
    }
    println!("{:.0} s of processor time", processor_seconds());
}

/// A real trace against itself.
fn recording(path: &Path) {
    let recording = match Recording::open(path) {
        Ok(recording) => recording,
        Err(error) => {
            println!("{error}");
            return;
        }
    };
    let rules = Rules::default();
    for cut in [Cut::Halves, Cut::Interleaved, Cut::Blocks] {
        for factor in [1.0, 1.1] {
            let found = recording.compare(cut, factor, &rules);
            println!("{cut:?} x {factor}: {} of {} kernels failed", found.regressed.len(), found.gated);
            if factor == 1.0 {
                found.regressed.iter().for_each(|name| println!("    {name}"));
            }
        }
    }
}

fn line(question: &str, count: Count) {
    println!("{question:>72} {:7.2} %  ({} of {})", 100.0 * count.part(), count.yes, count.of);
}

/// Answers of one comparison.
#[derive(Clone, Copy, Default)]
struct Answer {
    failed: Count,
    covered: Count,
    found: Count,
    others: Count,
    detectable: f64,
}

impl Answer {
    fn equal(judgements: &[Judgement]) -> Self {
        let failed = Count::of(fails(judgements));
        Self { failed, covered: coverage(judgements), ..Self::default() }
    }

    fn slowed((slow, others): &(Judgement, Vec<Judgement>)) -> Self {
        Self {
            found: Count::of(fails(std::slice::from_ref(slow))),
            others: Count::of(fails(others)),
            detectable: slow.detectable.unwrap_or_default(),
            ..Self::default()
        }
    }

    fn print(&self, question: &str) {
        if self.failed.of > 0 {
            line(&format!("{question}: failed"), self.failed);
            line("intervals that contain 1", self.covered);
        }
        if self.found.of > 0 {
            line(&format!("{question}: found"), self.found);
            line("another kernel failed", self.others);
            println!(
                "{:>72} {:7.2} %",
                "detectable, on average",
                100.0 * self.detectable / self.found.of as f64
            );
        }
    }
}

impl AddAssign for Answer {
    fn add_assign(&mut self, other: Self) {
        self.failed += other.failed;
        self.covered += other.covered;
        self.found += other.found;
        self.others += other.others;
        self.detectable += other.detectable;
    }
}

/// Adds up the answers on every pair and prints the sums.
fn print_answers<const N: usize>(
    questions: [String; N],
    pairs: u64,
    answers: impl Fn(u64) -> [Answer; N] + Sync,
) {
    let mut sums = [Answer::default(); N];
    for found in each(pairs, answers) {
        sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
    }
    for (question, sum) in questions.iter().zip(sums) {
        sum.print(question);
    }
}

fn gate(shift: Shift, pairs: u64) {
    let two = Question { calibrated: false, ..CALIBRATED };
    let questions = [
        "A/A, --gate, 5 runs a side",
        "A/A, 2 % calibrated, 5 runs",
        "+10 %, --gate, 5 runs",
        "+5 %, 2 % calibrated, 5 runs",
        "+5 %, 2 % not calibrated, 5 runs",
    ];
    print_answers(questions.map(str::to_owned), pairs, |pair| {
        let mut trial = Trial::new(shift, 5, CALIBRATION, pair);
        [
            Answer::equal(&trial.judge(GATE)),
            Answer::equal(&trial.judge(CALIBRATED)),
            Answer::slowed(&trial.judge_slowed(1.10, GATE)),
            Answer::slowed(&trial.judge_slowed(1.05, CALIBRATED)),
            Answer::slowed(&trial.judge_slowed(1.05, two)),
        ]
    });
}

fn single(shift: Shift, pairs: u64) {
    let questions = ["A/A, --gate, one run a side", "A/A, 2 % calibrated, one run", "+10 %, --gate, one run"];
    print_answers(questions.map(str::to_owned), pairs, |pair| {
        let mut trial = Trial::new(shift, 1, CALIBRATION, pair);
        [
            Answer::equal(&trial.judge(GATE)),
            Answer::equal(&trial.judge(CALIBRATED)),
            Answer::slowed(&trial.judge_slowed(1.10, GATE)),
        ]
    });
}

fn curve(shift: Shift, runs: usize, pairs: u64) {
    let zero = Question { threshold: Some(0.0), ..CALIBRATED };
    let questions = ["threshold 2 % calibrated", "threshold 0 calibrated"];
    print_answers(questions.map(|asked| format!("+3 %, {asked}, {runs} runs")), pairs, |pair| {
        let mut trial = Trial::new(shift, runs, CALIBRATION, pair);
        [
            Answer::slowed(&trial.judge_slowed(1.03, CALIBRATED)),
            Answer::slowed(&trial.judge_slowed(1.03, zero)),
        ]
    });
}

fn boundary(shift: Shift, pairs: u64) {
    let mut failed = Count::default();
    for yes in each(pairs, |pair| {
        let mut trial = Trial::new(shift, 5, CALIBRATION, pair);
        trial.slow_all(1.02);
        fails(&trial.judge(CALIBRATED))
    }) {
        failed += Count::of(yes);
    }
    line("every kernel slower by just the threshold, 2 % calibrated: failed", failed);
}

#[derive(Clone, Copy, Default)]
struct Covered(Count, f64);

impl AddAssign for Covered {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

/// Our intervals and those of the rivals, and how wide they are.
fn intervals(shift: Shift, runs: usize, pairs: u64) {
    let mut sums = [Covered::default(); 4];
    let mut sizes = [Count::default(); 3];
    for (found, by_size) in each(pairs, |pair| {
        let trial = Trial::new(shift, runs, 0, pair);
        let mut found = [Covered::default(); 4];
        let mut by_size = [Count::default(); 3];
        for (kernel, judgement) in trial.judge(GATE).iter().enumerate() {
            let Some(interval) = judgement.interval else { continue };
            let ours = (interval.low.ln(), interval.high.ln());
            // One kernel of ten: the rivals are slow and each sees one kernel alone.
            let rivals = (kernel % 10 == 0).then(|| {
                RIVALS.map(|(_, rival)| rival(&trial.baseline[kernel], &trial.candidate[kernel], 0.95))
            });
            let all = [ours].into_iter().chain(rivals.into_iter().flatten());
            for (sum, (low, high)) in found.iter_mut().zip(all) {
                *sum += Covered(Count::of(low <= 0.0 && 0.0 <= high), high - low);
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
    for (name, Covered(count, width)) in names.zip(sums) {
        let width = 100.0 * width / count.of.max(1) as f64;
        line(&format!("{runs} runs a side, {name}: 95 % interval (width {width:.2} %)"), count);
    }
    let [few, some, many] = sizes.map(|size| 100.0 * size.part());
    println!("{:>72} {few:.2} / {some:.2} / {many:.2} %", "below 100 / below 1,000 / more calls");
}

/// `work` for each number, on two threads; answers in order.
fn each<T: Send>(pairs: u64, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let part = |from: u64, to: u64| (from..to).map(&work).collect::<Vec<T>>();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| part(0, pairs / 2));
        let mut second = part(pairs / 2, pairs);
        let mut all = first.join().unwrap_or_default();
        all.append(&mut second);
        all
    })
}

/// User and system time of this process so far, in steps of 10 ms.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
