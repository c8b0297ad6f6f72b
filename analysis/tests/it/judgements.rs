//! Judgements of small cases whose answer is plain, and no input that makes one nonsense.

use proptest::prelude::*;
use rtl_analysis::Stats;
use rtl_analysis::compare::{
    Judgement, KernelPair, Method, Noise, Reason, Rules, Run, Status, ThresholdSource, judge,
};

fn pair<'a>(baseline: &'a [Run], candidate: &'a [Run]) -> KernelPair<'a> {
    KernelPair { name: "gemm", baseline, candidate, share: 0.5, gated: true, threshold: None }
}

fn only(pair: KernelPair<'_>) -> Judgement {
    judge(&[pair], &Rules::default(), None).remove(0)
}

/// Five runs of twenty calls whose durations are `ns` and a little more or less from run to run.
fn five(ns: i64) -> Vec<Run> {
    [-2, -1, 0, 1, 2].map(|thousandths| Run::of(&[ns + ns * thousandths / 1000; 20])).to_vec()
}

#[test]
fn a_tenth_slower_is_slower_and_the_other_way_round_faster() {
    let (fast, slow) = (five(100_000), five(110_000));
    let slower = only(pair(&fast, &slow));
    assert_eq!((slower.status, slower.reason), (Status::Slower, Reason::BeyondThreshold));
    assert_eq!(slower.method, Method::BetweenRuns);
    assert!((slower.ratio - 1.1).abs() < 1e-3 && (slower.change_ns - 10_000.0).abs() < 100.0);
    assert_eq!(only(pair(&slow, &fast)).status, Status::Faster);
    assert_eq!(only(pair(&fast, &fast)).status, Status::Unchanged);
}

#[test]
fn slower_beyond_doubt_by_less_than_is_allowed_is_no_equal_build() {
    let (fast, slow) = (five(100_000), five(104_000));
    let slower = only(pair(&fast, &slow));
    assert_eq!((slower.status, slower.reason), (Status::SlowerAllowed, Reason::WithinThreshold));
    assert_eq!(only(pair(&slow, &fast)).status, Status::Faster, "an allowance is for slower kernels");
    let around = only(pair(&five(105_000), &fast));
    assert_eq!(
        (around.status, around.reason),
        (Status::Faster, Reason::Straddles),
        "by more or less than 5 %"
    );
    let share = KernelPair { share: 0.001, ..pair(&fast, &slow) };
    assert_eq!(only(share).status, Status::Unchanged, "too small to count");
}

#[test]
fn an_undecided_kernel_states_how_many_runs_decide_it() {
    let runs = |ns: i64, count: usize| -> Vec<Run> {
        let percent = [-3, 3, -1, 1, -2, 2].into_iter().cycle();
        percent.take(count).map(|percent| Run::of(&[ns + ns * percent / 100; 20])).collect()
    };
    let now = only(pair(&runs(100_000, 4), &runs(109_000, 4)));
    assert_eq!((now.status, now.reason), (Status::Undecided, Reason::Straddles));
    let needed = now.runs_to_decide.unwrap();
    assert!((6..=24).contains(&needed), "{needed}");
    let then = only(pair(&runs(100_000, needed), &runs(109_000, needed)));
    assert_eq!((then.status, then.runs_to_decide), (Status::Slower, None));
    // At the threshold itself no number of runs decides.
    let edge = only(pair(&runs(100_000, 4), &runs(105_000, 4)));
    assert_eq!((edge.status, edge.runs_to_decide), (Status::Undecided, None));
}

#[test]
fn what_would_have_been_found_is_beyond_the_threshold() {
    let runs = five(100_000);
    let detectable = only(pair(&runs, &runs)).detectable.unwrap();
    assert!((0.05..0.07).contains(&detectable), "{detectable}");
}

#[test]
fn small_kernels_and_small_changes_do_not_count() {
    let (fast, slow) = (five(100_000), five(120_000));
    let share = KernelPair { share: 0.001, ..pair(&fast, &slow) };
    assert_eq!(only(share).reason, Reason::SmallShare);
    let few = [Run::of(&[120_000; 3]), Run::of(&[120_100; 3])];
    assert_eq!(only(pair(&fast, &few)).reason, Reason::FewCalls);
    assert_eq!(only(pair(&five(500), &five(560))).reason, Reason::SmallChange);
}

#[test]
fn one_run_a_side_is_within_run_only_and_tolerates_five_percent() {
    let jitter = |ns: i64| [Run::of(&(0..200).map(|call| ns + call * 37 % 900).collect::<Vec<_>>())];
    let (fast, slow) = (jitter(100_000), jitter(104_000));
    let asked = KernelPair { threshold: Some(0.01), ..pair(&fast, &slow) };
    let judgement = only(asked);
    assert_eq!(judgement.method, Method::WithinRunOnly);
    assert_eq!((judgement.threshold.value, judgement.threshold.source), (0.05, ThresholdSource::SingleRun));
    assert_eq!(judgement.status, Status::Unchanged);
    assert_eq!(only(pair(&fast, &jitter(110_000))).status, Status::Slower);
}

#[test]
fn one_report_a_side_is_undecided_and_three_are_not() {
    let report = |ns: i64| {
        Run::of_report(&Stats { calls: 50, total_ns: 50 * ns, stddev_ns: 20.0, ..Stats::default() }, None)
    };
    let one = only(pair(&[report(10_000)], &[report(20_000)]));
    assert_eq!((one.status, one.reason, one.interval), (Status::Undecided, Reason::OneReport, None));
    let three = |ns: i64| [report(ns), report(ns + 10), report(ns + 20)];
    assert_eq!(only(pair(&three(10_000), &three(20_000))).status, Status::Slower);
}

#[test]
fn a_change_within_what_runs_of_one_build_differ_by_is_none() {
    let noisy: Vec<Run> =
        [90, 110, 95, 105, 100, 92, 108].map(|percent| Run::of(&[1_000 * percent; 20])).to_vec();
    let noise = Noise::calibrate(&[("gemm", &noisy)]);
    let (fast, slow) = (five(100_000), five(110_000));
    let judgement = judge(&[pair(&fast, &slow)], &Rules::default(), Some(&noise)).remove(0);
    assert_eq!(judgement.threshold.source, ThresholdSource::NoiseFloor);
    assert!(judgement.threshold.value > 0.1 && judgement.status == Status::Unchanged, "{judgement:?}");
}

fn durations() -> impl Strategy<Value = Vec<Vec<i64>>> {
    let duration = prop_oneof![Just(0_i64), Just(40), 0_i64..5_000, Just(i64::MAX), Just(-7)];
    prop::collection::vec(prop::collection::vec(duration, 0..30), 0..4)
}

proptest! {
    #[test]
    fn every_number_is_finite_and_the_order_of_kernels_plays_no_part(
        kernels in prop::collection::vec((durations(), durations(), 0.0_f64..1.0), 1..14),
        threshold in prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1.0), 0.0_f64..0.2],
    ) {
        let sides: Vec<[Vec<Run>; 2]> = kernels
            .iter()
            .map(|(one, other, _)| [one, other].map(|runs| runs.iter().map(|run| Run::of(run)).collect()))
            .collect();
        let names: Vec<String> = (0..kernels.len()).map(|kernel| kernel.to_string()).collect();
        let mut pairs: Vec<KernelPair<'_>> = sides
            .iter()
            .enumerate()
            .map(|(kernel, [baseline, candidate])| KernelPair {
                name: &names[kernel], baseline, candidate, share: kernels[kernel].2, gated: true, threshold: None,
            })
            .collect();
        let rules = Rules { threshold, ..Rules::default() };
        let judgements = judge(&pairs, &rules, None);
        for judgement in &judgements {
            let bounds = [judgement.interval, judgement.joint].into_iter().flatten();
            let numbers = bounds.flat_map(|interval| [interval.low, interval.high]).chain(judgement.detectable).chain([
                judgement.ratio, judgement.change_ns, judgement.p, judgement.q, judgement.threshold.value,
                judgement.baseline.trimmed_mean_ns, judgement.candidate.trimmed_mean_ns,
            ]);
            for number in numbers {
                prop_assert!(number.is_finite(), "{:?}", judgement);
            }
            if let Some(interval) = judgement.interval {
                prop_assert!(interval.low <= interval.high);
            }
        }
        pairs.reverse();
        let statuses = |judgements: &[Judgement]| judgements.iter().map(|judgement| judgement.status).collect::<Vec<_>>();
        let mut reversed = statuses(&judge(&pairs, &rules, None));
        reversed.reverse();
        prop_assert_eq!(statuses(&judgements), reversed);
    }
}
