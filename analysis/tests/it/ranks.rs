//! Ranks beside each other, against counting by hand and against the plainest way to compute the same.

use std::collections::BTreeMap;

use crate::common::{analysis, shuffled};
use proptest::prelude::*;
use rtl_analysis::combine::Combined;
use rtl_analysis::profile::{KernelKey, Mix, Profile, Warmup, profile};
use rtl_analysis::ranks::outliers::far_from_median;
use rtl_analysis::ranks::{Quantity, Ranks, StepMethod};
use rtl_schema::table::{Agent, AgentKind, Collective, Dispatch, Process, Range, RangeKind, Shape, Track};
use rtl_schema::{AgentId, NameId, ProcessId, Select, Tables, Trace};
use support::{Job, Layout};

const COLLECTIVE: &str = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

fn of(tables: &Tables) -> Ranks {
    analysis(tables).ranks().clone()
}

/// Ranks with a GPU each, all on one boot.
fn job(ranks: u32) -> Tables {
    let mut tables = Tables::default();
    for rank in 0..ranks {
        let boot_id = Some("b".to_owned());
        tables.processes.push(Process { rank: Some(rank), boot_id, space: rank, ..Process::default() });
        let number = i64::from(rank);
        tables.agents.push(Agent { kind: AgentKind::Gpu, number, ..Agent::default() });
    }
    tables
}

fn run(tables: &mut Tables, rank: u32, name: &str, start: i64, end: i64) {
    let track = Track { process: ProcessId(rank), agent: AgentId(rank), ..Track::default() };
    let track = tables.tracks.intern(track);
    let name = tables.strings.intern(name);
    tables.dispatches.push(Dispatch {
        track,
        name,
        start,
        duration: Some(end - start),
        ..Dispatch::default()
    });
}

fn step(tables: &mut Tables, rank: u32, start: i64, end: i64) {
    let name = tables.strings.intern("step");
    let (process, duration, kind) = (ProcessId(rank), Some(end - start), RangeKind::Thread);
    tables.ranges.push(Range { process, name, start, duration, kind, ..Range::default() });
}

#[test]
fn the_late_arriver_of_the_story_in_every_layout() {
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let path = support::fixture_in("late-arriver", layout);
        let found = of(&Trace::open(&path).unwrap().read(&Select::everything()).unwrap());
        let waits: Vec<_> = found.ranks.iter().map(|rank| (rank.wait_ns, rank.clock_free_wait_ns)).collect();
        assert_eq!(waits, [(Some(360), 360), (Some(0), 0), (Some(240), 240)], "{layout:?}");
        for rank in &found.ranks {
            assert_eq!(
                (rank.collectives, rank.transfer_ns, rank.clock_free_transfer_ns),
                (12, Some(480), 480)
            );
        }
        let late = &found.ranks[1];
        assert_eq!((late.last, late.clock_free_last, late.delay_ns), (Some(12), 12, Some(12 * 20 * 2)));
        assert_eq!((late.busy_ns, late.compute_ns), (50 + 12 * 170, 50 + 12 * 130));
        assert!(
            found.straggler.as_ref().is_some_and(|name| name.ends_with("GPU 1")),
            "{:?}",
            found.straggler
        );
        let together = &found.collectives[0];
        assert_eq!((together.collectives, together.violations, together.on_one_clock), (12, 0, true));
        assert_eq!(together.arrival_spread_ns, Some(12 * 30));
        assert_eq!((together.wait_ns, together.transfer_ns), (Some(600), Some(480)));
        let steps = found.steps.as_ref().unwrap();
        assert_eq!(
            (steps.method, steps.name.as_str(), steps.steps),
            (StepMethod::Ranges, "step", 12),
            "{layout:?}"
        );
        assert_eq!((steps.slowest_ns, steps.mean_ns), (12 * 130, 12.0 * 340.0 / 3.0));
        assert_eq!((steps.ranks[1].slowest, steps.ranks[2].total_ns), (12, 12 * 110));
        assert_eq!(found.kernels.len(), 1, "one GPU alone is not uneven");
        assert_eq!((found.kernels[0].most_ns, found.kernels[0].rank.as_str()), (1560, late.name.as_str()));
    }
}

#[test]
fn without_ranges_steps_lie_between_collectives() {
    let mut tables = job(2);
    for call in 0..5 {
        let at = call * 1_000;
        run(&mut tables, 0, COLLECTIVE, at, at + 100);
        run(&mut tables, 1, COLLECTIVE, at + 60, at + 100);
    }
    let steps = of(&tables).steps.unwrap();
    assert_eq!((steps.method, steps.steps), (StepMethod::Collectives, 4));
    let totals: Vec<_> = steps.ranks.iter().map(|rank| (rank.total_ns, rank.slowest)).collect();
    assert_eq!(totals, [(4 * 900, 0), (4 * 960, 4)]);
}

#[test]
fn ranks_on_clocks_of_their_own_are_compared_without() {
    let mut tables = job(2);
    tables.processes[1].boot_id = Some("another".to_owned());
    for call in 0..12 {
        run(&mut tables, 0, COLLECTIVE, call * 1_000, call * 1_000 + 100);
        run(&mut tables, 1, COLLECTIVE, 7 + call * 1_000, 7 + call * 1_000 + 40);
    }
    let found = of(&tables);
    assert_eq!((found.ranks[0].wait_ns, found.ranks[0].clock_free_wait_ns), (None, 12 * 60));
    assert_eq!((found.collectives[0].on_one_clock, found.straggler.as_deref()), (false, Some("rank 1")));
    // A merged trace says that its times are on one clock.
    tables.info.metadata.push(("clock".to_owned(), r#"{"bootId":"b"}"#.to_owned()));
    assert_eq!(of(&tables).ranks[0].wait_ns, Some(12 * 7));
    // That one ends before the other starts contradicts it.
    for row in 0..tables.dispatches.len() {
        tables.dispatches.start[row] += if row % 2 == 1 { 500 } else { 0 };
    }
    let found = of(&tables);
    assert_eq!((found.ranks[0].wait_ns, found.collectives[0].violations), (None, 12));
}

#[test]
fn a_group_of_few_collectives_is_judged_by_what_its_ranks_did_in_others() {
    const GATHER: &str = "ncclDevKernel_AllGather_RING_LL";
    let found = |shift: i64, reduces: i64| {
        let mut tables = job(3);
        for process in &mut tables.processes {
            process.boot_id = None;
        }
        for rank in 0..3 {
            let clock = if rank == 1 { shift } else { 0 };
            let stated = |tables: &mut Tables, kernel: &str, number: i64, start: i64, end: i64| {
                run(tables, rank, kernel, start, end);
                let (communicator, none) = (tables.strings.intern(kernel), NameId::NONE);
                let collective = Collective {
                    operation: none,
                    communicator,
                    ranks: none,
                    data_type: none,
                    sequence: Some(number as u32),
                    ..Collective::default()
                };
                let row = tables.dispatches.len() - 1;
                tables.dispatches.collective.set(row, Some(tables.collectives.intern(collective)));
            };
            for number in 0..reduces {
                let at = number * 1_000_000 + clock;
                stated(&mut tables, COLLECTIVE, number, at + i64::from(rank) * 100, at + 500_000);
            }
            for number in 0..3 {
                let at = number * 7_000_000 + 600_000 + clock;
                stated(&mut tables, GATHER, number, at + i64::from(rank) * 100, at + 300_000);
            }
        }
        let ranks = of(&tables);
        let of = |kernel: &str| ranks.collectives.iter().find(|group| group.kernel == kernel).unwrap();
        assert_eq!(of(GATHER).collectives, 3);
        (of(COLLECTIVE).on_one_clock, of(GATHER).on_one_clock)
    };
    assert_eq!(found(0, 30), (true, true));
    assert_eq!(found(100_000, 30), (false, false));
    assert_eq!(found(0, 4), (false, false), "too few in all groups together");
}

#[test]
fn the_slow_rank_of_a_job_stands_out() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job { nodes: 1, ranks_per_node: 8, slow: Some((2, 1.2)), ..Job::default() };
    let mut all = Combined::default();
    for path in job.generate(folder.path()).unwrap() {
        let select = Select { launch: true, ..Select::summary() };
        all.append(Trace::open(&path).unwrap().read(&select).unwrap());
    }
    let found = of(&all.into_tables());
    assert_eq!(found.straggler.as_deref(), Some("rank 2"));
    assert!(found.outliers.iter().all(|outlier| outlier.rank == "rank 2"), "{:#?}", found.outliers);
    let quantities: Vec<Quantity> = found.outliers.iter().map(|outlier| outlier.quantity).collect();
    assert!(
        quantities.contains(&Quantity::Compute) && quantities.contains(&Quantity::Steps),
        "{quantities:?}"
    );
    let steps = found.steps.unwrap();
    assert_eq!((steps.steps, steps.method), (40, StepMethod::Ranges));
    let slowest = steps.ranks.iter().max_by_key(|rank| rank.slowest).unwrap();
    assert_eq!(slowest.name, "rank 2");
    assert!(found.kernels.iter().all(|kernel| kernel.call_rank == "rank 2"), "{:#?}", found.kernels);
}

#[test]
fn one_rank_is_compared_with_nobody() {
    let mut tables = job(1);
    run(&mut tables, 0, COLLECTIVE, 0, 10);
    run(&mut tables, 0, "gemm", 5, 20);
    let found = of(&tables);
    assert_eq!((found.ranks[0].busy_ns, found.ranks[0].compute_ns), (20, 15));
    assert!(found.kernels.is_empty() && found.collectives.is_empty() && found.steps.is_none());
    assert_eq!((found.unmatched_calls, of(&Tables::default())), (1, Ranks::default()));
}

#[test]
fn processes_that_share_a_number_are_called_by_more_than_it() {
    let mut tables = job(2);
    tables.processes[1].rank = Some(0);
    run(&mut tables, 0, "gemm", 0, 10);
    run(&mut tables, 1, "gemm", 0, 10);
    let names: Vec<String> = of(&tables).ranks.into_iter().map(|rank| rank.name).collect();
    assert_eq!(names, ["rank 0", "rank 0 ~2"]);
}

#[test]
fn moments_at_the_ends_of_time_are_no_panic() {
    let mut tables = job(2);
    for (call, start) in [i64::MIN, -5, 0, i64::MAX - 3, i64::MAX].into_iter().enumerate() {
        for rank in 0..2 {
            let track = Track { process: ProcessId(rank), agent: AgentId(rank), ..Track::default() };
            let track = tables.tracks.intern(track);
            let name = tables.strings.intern(COLLECTIVE);
            let duration = Some(if call % 2 == 0 { i64::MAX } else { i64::from(rank) });
            tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
        }
    }
    assert_eq!(of(&tables).ranks.len(), 2);
}

fn reduced(tables: &Tables) -> Profile {
    profile(&analysis(tables), KernelKey::Name, Warmup::Keep)
}

#[test]
fn a_rank_alone_waits_for_nobody() {
    let mut tables = job(2);
    for call in 0..20 {
        run(&mut tables, 0, COLLECTIVE, call * 100, call * 100 + 40);
        run(&mut tables, 1, "gemm", call * 100, call * 100 + 40);
    }
    assert!(reduced(&tables).kernels.iter().all(|kernel| kernel.waiting.is_none()));
    let mut alone = job(1);
    run(&mut alone, 0, COLLECTIVE, 0, 40);
    assert_eq!(reduced(&alone).kernels[0].waiting, None);
}

#[test]
fn shapes_of_collectives_are_matched_each_with_its_own() {
    let mut tables = job(2);
    let shapes = [64, 128].map(|items| tables.shapes.intern(Shape::from_items([64, 1, 1], [items, 1, 1])));
    for call in 0..12 {
        for rank in 0..2 {
            let track = Track { process: ProcessId(rank), agent: AgentId(rank), ..Track::default() };
            let track = tables.tracks.intern(track);
            let name = tables.strings.intern(COLLECTIVE);
            let (shape, transfer) = (Some(shapes[call as usize % 2]), 40 + call % 2 * 40);
            let start = call * 1_000 - i64::from(rank) * 30;
            let duration = Some(call * 1_000 + transfer - start);
            tables.dispatches.push(Dispatch { track, name, start, duration, shape, ..Dispatch::default() });
        }
    }
    let waiting = reduced(&tables).kernels[0].waiting.clone().unwrap();
    assert_eq!(
        (waiting.run.total_ns, waiting.wait_ns, waiting.transfer_ns),
        (6 * 40 + 6 * 80, 12 * 30, 2 * 720)
    );
    assert!(matches!(waiting.mix, Mix::Several(calls) if calls.shapes.len() == 12));
    let by_launch = profile(&analysis(&tables), KernelKey::Launch, Warmup::Keep);
    let each: Vec<_> =
        by_launch.kernels.iter().map(|kernel| kernel.waiting.as_ref().unwrap().run.median_ns).collect();
    assert_eq!(each, [40, 80]);
    assert_eq!(by_launch.straggler.as_deref(), Some("rank 0"));
}

/// A random job: how long the kernel of each step and rank takes, and how late its collective begins.
#[derive(Debug, Clone)]
struct Story {
    steps: Vec<Vec<(i64, i64)>>,
    transfer: i64,
    ranges: bool,
}

prop_compose! {
    fn story()(ranks in 2_usize..6)(
        steps in prop::collection::vec(prop::collection::vec((1_i64..200, 0_i64..50), ranks), 5..12),
        transfer in 1_i64..50,
        ranges in any::<bool>(),
    ) -> Story {
        Story { steps, transfer, ranges }
    }
}

impl Story {
    /// Begins of steps and, of each rank, of its collective; the end of the collective.
    fn times(&self) -> Vec<(i64, Vec<i64>, i64)> {
        let mut at = 0;
        let of = |ranks: &Vec<(i64, i64)>| {
            let arrivals: Vec<i64> = ranks.iter().map(|(work, late)| at + work + late).collect();
            let end = arrivals.iter().max().unwrap() + self.transfer;
            let step = (at, arrivals, end);
            at = end + 10;
            step
        };
        self.steps.iter().map(of).collect()
    }

    fn tables(&self) -> Tables {
        let mut tables = job(self.steps[0].len() as u32);
        for ((at, arrivals, end), works) in self.times().into_iter().zip(&self.steps) {
            for (rank, (arrival, (work, _))) in (0..).zip(arrivals.iter().zip(works)) {
                let name = if work % 2 == 0 { "gemm" } else { "softmax" };
                run(&mut tables, rank, name, at, at + work);
                run(&mut tables, rank, COLLECTIVE, *arrival, end);
                if self.ranges {
                    step(&mut tables, rank, at, end);
                }
            }
        }
        tables
    }
}

proptest! {
    #[test]
    fn waits_and_steps_are_those_of_the_story(story in story()) {
        let found = of(&story.tables());
        let times = story.times();
        for (rank, row) in found.ranks.iter().enumerate() {
            let last = |arrivals: &[i64]| *arrivals.iter().max().unwrap();
            let wait: i64 = times.iter().map(|(_, arrivals, _)| last(arrivals) - arrivals[rank]).sum();
            let transfer = story.transfer * times.len() as i64;
            prop_assert_eq!((row.wait_ns, row.clock_free_wait_ns), (Some(wait), wait));
            prop_assert_eq!((row.transfer_ns, row.clock_free_transfer_ns), (Some(transfer), transfer));
            let works = story.steps.iter().map(|ranks| ranks[rank].0);
            prop_assert_eq!(row.compute_ns, works.clone().sum::<i64>());
            let busy: i64 = times.iter().zip(works).map(|((_, arrivals, end), work)| work + end - arrivals[rank]).sum();
            prop_assert_eq!(row.busy_ns, busy);
        }
        let lasts: u64 = found.ranks.iter().filter_map(|rank| rank.last).sum();
        prop_assert_eq!(lasts, times.len() as u64, "one is the last each time");
        let steps = found.steps.unwrap();
        let expected: Vec<Vec<i64>> = if story.ranges {
            story.steps.iter().map(|ranks| ranks.iter().map(|rank| rank.0).collect()).collect()
        } else {
            let own = |pair: &[(i64, Vec<i64>, i64)]| pair[1].1.iter().map(|arrival| arrival - pair[0].2).collect();
            times.windows(2).map(own).collect()
        };
        let slowest: i64 = expected.iter().map(|step| step.iter().max().unwrap()).sum();
        let mean = expected.iter().flatten().sum::<i64>() as f64 / story.steps[0].len() as f64;
        prop_assert_eq!((steps.slowest_ns, steps.mean_ns, steps.steps), (slowest, mean, expected.len() as u64));
        for (rank, row) in steps.ranks.iter().enumerate() {
            prop_assert_eq!(row.total_ns, expected.iter().map(|step| step[rank]).sum::<i64>());
        }
    }

    #[test]
    fn kernels_are_as_uneven_as_their_sums(story in story()) {
        let mut sums: BTreeMap<&str, Vec<(i64, u64)>> = BTreeMap::new();
        for ranks in &story.steps {
            for (rank, (work, _)) in ranks.iter().enumerate() {
                let name = if work % 2 == 0 { "gemm" } else { "softmax" };
                let of = sums.entry(name).or_insert_with(|| vec![(0, 0); ranks.len()]);
                of[rank] = (of[rank].0 + work, of[rank].1 + 1);
            }
        }
        for kernel in of(&story.tables()).kernels {
            let ran: Vec<(i64, u64)> = sums[kernel.name.as_str()].iter().copied().filter(|sum| sum.1 > 0).collect();
            let most = ran.iter().map(|sum| sum.0).max().unwrap();
            let mean = ran.iter().map(|sum| sum.0).sum::<i64>() as f64 / ran.len() as f64;
            prop_assert_eq!((kernel.ranks, kernel.most_ns, kernel.mean_ns), (ran.len() as u64, most, mean));
            prop_assert_eq!(kernel.most_calls, ran.iter().map(|sum| sum.1).max().unwrap());
            prop_assert!((kernel.imbalance - (most as f64 / mean - 1.0)).abs() < 1e-9);
        }
    }

    #[test]
    fn calls_of_collectives_are_transfer_and_wait(story in story(), skip in 0_usize..3) {
        let tables = story.tables();
        let collective = |warmup| {
            let profile = profile(&analysis(&tables), KernelKey::Name, warmup);
            profile.kernels.into_iter().find(|kernel| kernel.collective).unwrap()
        };
        let kernel = collective(Warmup::Keep);
        let waiting = kernel.waiting.unwrap();
        let (ranks, collectives) = (story.steps[0].len() as u64, story.steps.len() as u64);
        prop_assert_eq!((waiting.run.calls, waiting.calls), (collectives, kernel.run.calls));
        prop_assert_eq!(waiting.transfer_ns, story.transfer * (ranks * collectives) as i64);
        prop_assert_eq!(waiting.transfer_ns + waiting.wait_ns, kernel.run.total_ns);
        prop_assert_eq!((waiting.run.trimmed_mean_ns, waiting.run.min_ns), (story.transfer as f64, story.transfer));
        let kernel = collective(Warmup::Calls(skip));
        let waiting = kernel.waiting.unwrap();
        prop_assert_eq!((waiting.run.calls, waiting.calls), (collectives - skip as u64, kernel.run.calls));
        prop_assert_eq!(waiting.transfer_ns + waiting.wait_ns, kernel.run.total_ns);
    }

    #[test]
    fn the_order_of_rows_does_not_matter(story in story(), seed in 0_u64..1000) {
        let tables = story.tables();
        prop_assert_eq!(reduced(&shuffled(&tables, seed)), reduced(&tables));
        prop_assert_eq!(of(&shuffled(&tables, seed)), of(&tables));
    }

    #[test]
    fn what_stands_out_is_far_from_the_median(values in prop::collection::vec(0_i32..2000, 0..30)) {
        let values: Vec<f64> = values.into_iter().map(f64::from).collect();
        let middle = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
        };
        let found: Vec<usize> = far_from_median(&values).into_iter().map(|(at, _)| at).collect();
        let expected: Vec<usize> = if values.len() < 5 {
            Vec::new()
        } else {
            let at = middle(values.clone());
            let deviation = 1.4826 * middle(values.iter().map(|value| (value - at).abs()).collect());
            let unit = deviation.max(0.01 * at);
            let far = (4.1 + 20.0 / (values.len() as f64 - 4.0)) * unit;
            // Which side of the bound a value falls that lies on it is a matter of rounding.
            prop_assume!(values.iter().all(|value| ((value - at).abs() - far).abs() > 1e-6 || unit <= 0.0));
            (0..values.len()).filter(|&row| unit > 0.0 && (values[row] - at).abs() > far).collect()
        };
        prop_assert_eq!(found, expected);
    }
}
