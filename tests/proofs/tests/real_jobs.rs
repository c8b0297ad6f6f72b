//! Collectives and clocks of four real jobs of four GPUs each, whose truth is known: one host, one clock, planted causes.
//! A recording begins at another call on each rank.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use rtl_analysis::Categories;
use rtl_analysis::align::{
    Groups, MatchedCollective, Sequence, align, collectives, group_sequences, matched_collectives, sequences,
    waits,
};
use rtl_analysis::compare::random::Random;
use rtl_schema::{Select, Trace};

const RANKS: usize = 4;

/// Each job with its straggler.
const JOBS: [(&str, Option<usize>); 4] =
    [("overlap", None), ("exposed", None), ("slowgpu", Some(1)), ("slowhost", Some(1))];

/// The sequences of all ranks of a job.
fn job(name: &str) -> Option<Vec<Sequence>> {
    let folder: PathBuf = support::shared()?.join("kineto/h200");
    let mut all = Vec::new();
    for rank in 0..RANKS {
        let path = folder.join(format!("gpt-dist_{name}-rank{rank}.json.gz"));
        if !path.is_file() {
            support::skip(support::Need::Shared, "no ranks of a torch job beside the checkout");
            return None;
        }
        let tables = Trace::open(&path).unwrap().read(&Select { launch: true, ..Select::ops() }).unwrap();
        let found = collectives(&tables, &Categories::default());
        all.append(&mut sequences(found.calls, |_, _| Some(rank)).0);
    }
    Some(all)
}

/// Leaves what a trace of kernels shows of a job: it states nothing of a collective.
fn kernels_only(sequences: &[Sequence]) -> Vec<Sequence> {
    let without = |own: &Sequence| Sequence { communicator: 0, labels: Vec::new(), ..own.clone() };
    sequences.iter().map(without).collect()
}

/// Leaves what a trace of kernels without launch shapes shows of a job.
fn names_only(sequences: &[Sequence]) -> Vec<Sequence> {
    let of = |rank: usize| {
        let own = sequences.iter().filter(|sequence| sequence.rank == rank);
        let mut calls: Vec<(i64, i64)> = own.flat_map(|sequence| sequence.calls.iter().copied()).collect();
        calls.sort_unstable_by_key(|&(start, end)| (end, start));
        Sequence { rank, calls, ..Sequence::default() }
    };
    (0..RANKS).map(of).collect()
}

fn matched(found: &Groups, sequences: &[Sequence]) -> Vec<Vec<MatchedCollective>> {
    found.groups.iter().map(|group| matched_collectives(group, sequences).collect()).collect()
}

/// All of them, sorted.
fn sorted(groups: &[Vec<MatchedCollective>]) -> Vec<MatchedCollective> {
    let mut all = groups.concat();
    all.sort_unstable();
    all
}

/// The collectives as they are: of each kind the last calls are those of all ranks, so calls are counted from the end.
fn truth(sequences: &[Sequence]) -> Vec<MatchedCollective> {
    let mut kinds: Vec<u64> = sequences.iter().map(|sequence| sequence.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut all = Vec::new();
    for kind in kinds {
        let members: Vec<&Sequence> = sequences.iter().filter(|sequence| sequence.kind == kind).collect();
        let most = members.iter().map(|sequence| sequence.calls.len()).max().unwrap();
        for from_end in (1..=most).rev() {
            let call = |sequence: &&Sequence| {
                let (start, end) = sequence.calls[sequence.calls.len().checked_sub(from_end)?];
                Some((sequence.rank, start, end))
            };
            all.push(members.iter().filter_map(call).collect());
        }
    }
    all.retain(|collective: &MatchedCollective| collective.len() > 1);
    all.sort_unstable();
    all
}

#[test]
fn every_collective_of_real_jobs_is_matched_with_and_without_communicators() {
    for (name, straggler) in JOBS {
        let Some(stated) = job(name) else { return };
        assert!(stated.iter().any(|sequence| sequence.communicator != 0 && !sequence.labels.is_empty()));
        for sequences in [names_only(&stated), kernels_only(&stated), stated] {
            let groups = group_sequences(&sequences);
            let mut found = sorted(&matched(&groups, &sequences));
            assert_eq!(found.len(), truth(&sequences).len(), "{name}");
            assert!(found == truth(&sequences), "{name}");
            // They are on one clock: no member ends before the last one starts.
            for collective in &found {
                let last = collective.iter().map(|call| call.1).max();
                assert!(last <= collective.iter().map(|call| call.2).min(), "{name}");
            }
            let unmatched = groups.unmatched(&sequences);
            assert_eq!((unmatched.calls - unmatched.at_edges, unmatched.ranks), (0, Vec::new()), "{name}");
            found.retain(|collective| collective.len() == RANKS);
            assert_eq!(waits(&found, RANKS, false).straggler(), straggler, "{name}");
        }
    }
}

/// A clock that shows other times: offset in ns, drift in ns/ns.
#[derive(Debug, Clone, Copy)]
struct Shift {
    offset: f64,
    drift: f64,
    from: i64,
}

impl Shift {
    fn of(self, time: i64) -> i64 {
        time + (self.offset + self.drift * (time - self.from) as f64) as i64
    }
}

/// The job with the clock of every rank but the first moved, aligned: of how many clocks at how many the stated error holds,
/// and the mean of that error in ns.
fn covered(sequences: &[Sequence], draws: u64, offsets: f64) -> (usize, usize, f64) {
    let first = sequences.iter().flat_map(|sequence| &sequence.calls).map(|call| call.0).min().unwrap();
    let last = sequences.iter().flat_map(|sequence| &sequence.calls).map(|call| call.1).max().unwrap();
    let (mut held, mut all, mut stated) = (0, 0, 0.0);
    for draw in 0..draws {
        let mut random = Random::new(draw + 1);
        let mut drawn = |_| Shift {
            offset: (2.0 * random.unit() - 1.0) * offsets,
            drift: 3e-6 * random.normal(),
            from: first,
        };
        let shifts: Vec<Shift> = (0..RANKS).map(&mut drawn).collect();
        let mut moved = sequences.to_vec();
        for sequence in moved.iter_mut().filter(|sequence| sequence.rank > 0) {
            let shift = shifts[sequence.rank];
            sequence.calls.iter_mut().for_each(|call| *call = (shift.of(call.0), shift.of(call.1)));
        }
        let found = matched(&group_sequences(&moved), &moved);
        assert!(sorted(&found) == truth(&moved), "collectives of moved clocks");
        let alignment = align(&found, &[0, 1, 2, 3], &[false; RANKS], 0);
        for (rank, &shift) in shifts.iter().enumerate().skip(1) {
            all += 1;
            let Ok(clock) = &alignment.nodes[rank] else { continue };
            stated += clock.error_ns;
            let off = |time: i64| {
                let shown = shift.of(time);
                ((shown - time) as f64 + clock.clock.offset(shown)).abs()
            };
            let moments = (0..=20).map(|part| first + (last - first) / 20 * part);
            held += usize::from(moments.map(off).all(|off| off <= clock.error_ns));
        }
    }
    (held, all, stated / all as f64)
}

#[test]
fn clocks_of_real_jobs_are_put_right_within_the_stated_error() {
    let (mut held, mut all) = (0, 0);
    for (name, _) in JOBS {
        let Some(stated) = job(name) else { return };
        for offsets in [20e3, 1e6, 10e9] {
            let (own, of, error) = covered(&kernels_only(&stated), 3, offsets);
            println!("{name}, offsets of {offsets} ns: {own} of {of}, stated {error:.0} ns");
            assert!(error < 100_000.0, "{name} {error}");
            (held, all) = (held + own, all + of);
        }
    }
    println!("{held} of {all}");
    assert!(held as f64 >= 0.98 * all as f64, "{held} of {all}");
}

#[test]
fn ranks_of_one_clock_are_not_moved() {
    for (name, _) in JOBS {
        let Some(stated) = job(name) else { return };
        let found = matched(&group_sequences(&stated), &stated);
        let alignment = align(&found, &[0, 1, 2, 3], &[false; RANKS], 0);
        for clock in &alignment.nodes[1..] {
            let clock = clock.as_ref().unwrap();
            println!("{name}: may be off by {:.0} ns", clock.error_ns);
            let is_still = clock.is_shared && clock.clock.offset(0) == 0.0;
            assert!(is_still && clock.error_ns < 100_000.0, "{name} {}", clock.error_ns);
        }
        assert_eq!(alignment.violations, 0);
    }
}
