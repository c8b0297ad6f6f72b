//! The short version of `proofs/src/verdicts`: comparisons whose truth is known, through the code that judges. Seeds are
//! fixed, so the counts are the same every time; the bounds leave room for other machines' last digits.

#![allow(dead_code, reason = "shared with the long version, which asks more")]

#[path = "../src/verdicts/questions.rs"]
mod questions;
#[path = "../src/verdicts/real.rs"]
mod real;
#[path = "../src/verdicts/runs.rs"]
mod runs;
#[path = "../src/verdicts/workload.rs"]
mod workload;

use questions::{CALIBRATED, Count, GATE, Trial, coverage, fails};
use real::{Cut, Recording};
use rtl_analysis::compare::Rules;
use runs::{Calibration, RealRuns};
use workload::Shift;

const SHIFTS: [Shift; 2] = [Shift::PerKernel, Shift::Shared];

#[test]
fn intervals_of_three_runs_a_side_contain_the_truth_as_often_as_they_say() {
    for (shift, pairs) in [(Shift::PerKernel, 2), (Shift::Shared, 8)] {
        let mut covered = Count::default();
        for pair in 0..pairs {
            covered += coverage(&Trial::new(shift, 3, 0, pair).judge(GATE));
        }
        assert!((0.85..1.0).contains(&covered.part()), "{shift:?}: {covered:?}");
    }
}

#[test]
fn equal_builds_pass_and_a_slower_kernel_fails_with_its_name() {
    for shift in SHIFTS {
        let (mut large, mut small) = (Count::default(), Count::default());
        for pair in 0..2 {
            let mut trial = Trial::new(shift, 5, 10, pair);
            assert!(!fails(&trial.judge(GATE)) && !fails(&trial.judge(CALIBRATED)), "{shift:?} pair {pair}");
            let (slow, others) = trial.judge_slowed(1.10, GATE);
            assert!(!fails(&others), "{shift:?} pair {pair}");
            large += Count::of(fails(&[slow]));
            small += Count::of(fails(&[trial.judge_slowed(1.05, CALIBRATED).0]));
        }
        assert!(large.yes == 2 && small.yes >= 1, "{shift:?}: {large:?} {small:?}");
    }
}

#[test]
fn equal_builds_pass_with_one_run_a_side() {
    for shift in SHIFTS {
        for pair in 0..3 {
            assert!(!fails(&Trial::new(shift, 1, 0, pair).judge(GATE)), "{shift:?} pair {pair}");
        }
    }
}

#[test]
fn a_real_trace_does_not_regress_against_itself_and_a_slowed_one_does() {
    let Some(shared) = support::shared() else { return };
    let recording = Recording::open(&shared.join("traces/real/rocprofv3-gfx950.json.gz")).unwrap();
    for cut in [Cut::Halves, Cut::Interleaved] {
        let rules = Rules::default();
        assert!(recording.compare(cut, 1.0, &rules).regressed.is_empty(), "{cut:?}");
        let slowed = recording.compare(cut, 1.1, &rules);
        let part = slowed.regressed.len() as f64 / slowed.gated as f64;
        assert!(slowed.gated > 40 && part >= 0.85, "{cut:?}: {part}");
    }
}

#[test]
fn equal_runs_of_a_real_gpu_pass_and_a_kernel_slower_by_four_percent_fails() {
    let Some(shared) = support::shared() else { return };
    let runs = RealRuns::open(&shared.join("aa-h200")).unwrap();
    for (of_side, calibration) in [(3, Calibration::Others), (5, Calibration::All)] {
        let [equal, slower] = runs.compare(of_side, calibration, 97);
        assert!(equal.of > 150 && equal.yes == 0, "{of_side} runs: {equal:?}");
        assert!(slower.of > 40 && slower.yes == slower.of, "{of_side} runs: {slower:?}");
    }
}
