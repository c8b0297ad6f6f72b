//! The change of wall time decomposed into terms that sum to it, to the nanosecond.
//!
//! For each GPU wall = sum of all ops - overlap + idle: what runs at the same time is in the sum twice and in the
//! wall once. So the change of wall is the change of the sum, less that of overlap, plus that of idle; and the change of
//! the sum is that of each kernel. For a kernel that ran `n` times for `m` ns each, then `n'` times for `m'`, the change
//! is split at the midpoint, which leaves nothing over and prefers neither side:
//! `(n' - n)(m + m')/2` is for the number of calls, `(m' - m)(n + n')/2` for their duration. Where a kernel runs in
//! several launch shapes the second part is again two: what each shape changed by itself, and the mix of shapes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::idle::Cause;
use crate::slower::profile::{Activity, GpuProfile};

/// How a kernel was matched between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelMatch {
    /// Both sides ran it.
    Matched,
    /// Both sides ran it, by a guess, under two names.
    Renamed,
    /// Only the candidate ran it.
    New,
    /// Only the baseline ran it.
    Removed,
}

/// The terms of a change of wall, in ns; positive made it longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WallTerms {
    /// Kernels of both sides were called more or less often.
    pub count_ns: i64,
    /// Their calls took longer or shorter, launch shape by launch shape.
    pub duration_ns: i64,
    /// Their calls shifted between launch shapes.
    pub mix_ns: i64,
    /// Kernels that only the candidate ran.
    pub new_ns: i64,
    /// Kernels that only the baseline ran: not positive.
    pub removed_ns: i64,
    /// Kernels that seem to have another name now.
    pub renamed_ns: i64,
    /// Less ran at the same time (more: negative).
    pub overlap_ns: i64,
    /// The GPU had nothing to do for longer.
    pub idle_ns: i64,
}

impl WallTerms {
    /// All terms with their names, in the order of reading.
    pub fn named(&self) -> [(&'static str, i64); 8] {
        [
            ("count", self.count_ns),
            ("duration", self.duration_ns),
            ("mix", self.mix_ns),
            ("new", self.new_ns),
            ("removed", self.removed_ns),
            ("renamed", self.renamed_ns),
            ("overlap", self.overlap_ns),
            ("idle", self.idle_ns),
        ]
    }

    fn fields_mut(&mut self) -> [&mut i64; 8] {
        let Self { count_ns, duration_ns, mix_ns, new_ns, removed_ns, renamed_ns, overlap_ns, idle_ns } =
            self;
        [count_ns, duration_ns, mix_ns, new_ns, removed_ns, renamed_ns, overlap_ns, idle_ns]
    }

    fn add(&mut self, other: &Self) {
        for (sum, (_, term)) in self.fields_mut().into_iter().zip(other.named()) {
            *sum = sum.saturating_add(term);
        }
    }
}

/// The change of one GPU, or of all: the terms sum to `wall_delta_ns` (unless a trace spans centuries).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WallChange {
    /// Wall time of the baseline in ns.
    pub baseline_wall_ns: i64,
    /// Wall time of the candidate in ns.
    pub candidate_wall_ns: i64,
    /// Candidate less baseline, in ns.
    pub wall_delta_ns: i64,
    /// Terms that sum to the change.
    pub terms: WallTerms,
}

/// The change of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GpuWallChange {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// The change with its terms.
    #[serde(flatten)]
    pub change: WallChange,
}

/// A cause of idle time, and by how much the time of it grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct IdleChange {
    /// The cause of idle time.
    pub cause: Cause,
    /// The change in ns.
    pub delta_ns: i64,
}

/// One account for each GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WallDecomposition {
    /// All GPUs together: the sum of their accounts.
    #[serde(flatten)]
    pub total: WallChange,
    /// The term `idle` of all GPUs together by cause, the largest change first; where neither side knows causes, none.
    pub idle: Vec<IdleChange>,
    /// Each GPU that either side used, by number.
    pub gpus: Vec<GpuWallChange>,
}

/// Explains the change between the GPUs of two runs, baseline first. `item` gives an activity of a side (0 or 1) the name
/// that both sides have for it, and how it was matched. A GPU that only one side used is explained against nothing.
pub fn decompose(
    gpus: [&[GpuProfile]; 2],
    item: impl Fn(usize, Activity) -> (Activity, KernelMatch),
) -> WallDecomposition {
    let mut sides: BTreeMap<i64, [Side<'_>; 2]> = BTreeMap::new();
    for (side, gpus) in gpus.into_iter().enumerate() {
        for gpu in gpus {
            sides.entry(gpu.gpu).or_default()[side].add(gpu, |activity| item(side, activity));
        }
    }
    let mut decomposition = WallDecomposition { idle: idle_changes(gpus), ..WallDecomposition::default() };
    for (gpu, [before, after]) in sides {
        let change = change(&before, &after);
        let total = &mut decomposition.total;
        total.baseline_wall_ns = total.baseline_wall_ns.saturating_add(change.baseline_wall_ns);
        total.candidate_wall_ns = total.candidate_wall_ns.saturating_add(change.candidate_wall_ns);
        total.wall_delta_ns = total.wall_delta_ns.saturating_add(change.wall_delta_ns);
        total.terms.add(&change.terms);
        decomposition.gpus.push(GpuWallChange { gpu, change });
    }
    decomposition
}

/// The change of idle time by cause; what one side does not know is unknown.
fn idle_changes(gpus: [&[GpuProfile]; 2]) -> Vec<IdleChange> {
    let mut deltas = [0_i64; Cause::ALL.len()];
    if gpus.into_iter().flatten().all(|gpu| gpu.idle.is_empty()) {
        return Vec::new();
    }
    for (gpus, sign) in gpus.into_iter().zip([-1, 1]) {
        for gpu in gpus {
            let mut rest = gpu.wall_ns.saturating_sub(gpu.busy_ns);
            for &(cause, ns) in &gpu.idle {
                deltas[cause as usize] = deltas[cause as usize].saturating_add(sign * ns);
                rest = rest.saturating_sub(ns);
            }
            let unknown = &mut deltas[Cause::Unknown as usize];
            *unknown = unknown.saturating_add(sign * rest);
        }
    }
    let changes = Cause::ALL.into_iter().zip(deltas).map(|(cause, delta_ns)| IdleChange { cause, delta_ns });
    let mut changes: Vec<IdleChange> = changes.filter(|change| change.delta_ns != 0).collect();
    changes.sort_by_key(|change| (Reverse(change.delta_ns.unsigned_abs()), change.cause));
    changes
}

#[derive(Debug, Clone, Copy, Default)]
struct ShapeTotals {
    calls: i128,
    total: i128,
}

/// Calls by launch shape.
type Shapes<'a> = BTreeMap<Option<&'a str>, ShapeTotals>;

#[derive(Debug, Default)]
struct Side<'a> {
    wall: i128,
    busy: i128,
    sum: i128,
    items: BTreeMap<(Activity, KernelMatch), Shapes<'a>>,
}

impl<'a> Side<'a> {
    fn add(&mut self, gpu: &'a GpuProfile, item: impl Fn(Activity) -> (Activity, KernelMatch)) {
        self.wall += i128::from(gpu.wall_ns);
        self.busy += i128::from(gpu.busy_ns);
        for part in &gpu.work {
            let shapes = self.items.entry(item(part.item)).or_default();
            let work = shapes.entry(part.shape.as_deref()).or_default();
            work.calls += i128::from(part.calls);
            work.total += i128::from(part.total_ns);
            self.sum += i128::from(part.total_ns);
        }
    }
}

fn change(before: &Side<'_>, after: &Side<'_>) -> WallChange {
    let none = Shapes::new();
    let items: BTreeSet<_> = before.items.keys().chain(after.items.keys()).collect();
    let mut wide = [0_i128; 8];
    for item in items {
        let shapes = [before, after].map(|side| side.items.get(item).unwrap_or(&none));
        let change = total(shapes[1]).total - total(shapes[0]).total;
        match item.1 {
            KernelMatch::New => wide[3] += change,
            KernelMatch::Removed => wide[4] += change,
            KernelMatch::Renamed => wide[5] += change,
            KernelMatch::Matched => {
                let [count, duration, mix] = split(shapes[0], shapes[1]);
                wide[0] += count;
                wide[1] += duration;
                wide[2] += mix;
            }
        }
    }
    let overlap = |side: &Side<'_>| side.sum - side.busy;
    let idle = |side: &Side<'_>| side.wall - side.busy;
    wide[6] = overlap(before) - overlap(after);
    wide[7] = idle(after) - idle(before);
    let mut terms = WallTerms::default();
    terms.fields_mut().into_iter().zip(wide).for_each(|(term, value)| *term = narrow(value));
    WallChange {
        baseline_wall_ns: narrow(before.wall),
        candidate_wall_ns: narrow(after.wall),
        wall_delta_ns: narrow(after.wall - before.wall),
        terms,
    }
}

fn total(shapes: &Shapes<'_>) -> ShapeTotals {
    shapes.values().fold(ShapeTotals::default(), |sum, work| ShapeTotals {
        calls: sum.calls + work.calls,
        total: sum.total + work.total,
    })
}

/// The change of one kernel as count, duration and mix. Each is rounded to whole ns so that the three keep the sum.
fn split(before: &Shapes<'_>, after: &Shapes<'_>) -> [i128; 3] {
    let (old, new) = (total(before), total(after));
    let change = new.total - old.total;
    if old.calls == 0 || new.calls == 0 {
        // On this GPU one side has no call, so all of it is the number of calls.
        return [change, 0, 0];
    }
    let (old_calls, new_calls) = (old.calls as f64, new.calls as f64);
    let (old_mean, new_mean) = (old.total as f64 / old_calls, new.total as f64 / new_calls);
    let count = whole((new_calls - old_calls) * (old_mean + new_mean) / 2.0);
    if before.keys().eq(after.keys()) && before.len() == 1 {
        return [count, change - count, 0];
    }
    let mut within = 0.0;
    for (shape, old_work) in before {
        if let Some(new_work) = after.get(shape).filter(|work| work.calls > 0 && old_work.calls > 0) {
            let (n, m) = (old_work.calls as f64, new_work.calls as f64);
            let faster = new_work.total as f64 / m - old_work.total as f64 / n;
            within += faster * (n / old_calls + m / new_calls) / 2.0;
        }
    }
    let duration = whole(within * (old_calls + new_calls) / 2.0);
    [count, duration, change - count - duration]
}

fn whole(nanoseconds: f64) -> i128 {
    nanoseconds.round() as i128
}

fn narrow(value: i128) -> i64 {
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::slower::profile::ActivityTotal;

    fn amount(item: usize, shape: u32, calls: u64, total_ns: i64) -> ActivityTotal {
        ActivityTotal { item: Activity::Kernel(item), shape: Some(shape.to_string()), calls, total_ns }
    }

    fn place(wall_ns: i64, busy_ns: i64, work: &[ActivityTotal]) -> GpuProfile {
        GpuProfile { gpu: 0, wall_ns, busy_ns, idle: Vec::new(), work: work.to_vec() }
    }

    /// Kernels have the same numbers on both sides; `matches` says how each was matched.
    fn decomposed(matches: &[KernelMatch], before: &[GpuProfile], after: &[GpuProfile]) -> WallDecomposition {
        decompose([before, after], |_, item| match item {
            Activity::Kernel(kernel) => (item, matches[kernel]),
            Activity::Copies(_) => (item, KernelMatch::Matched),
        })
    }

    fn terms(matches: &[KernelMatch], before: GpuProfile, after: GpuProfile) -> WallTerms {
        decomposed(matches, &[before], &[after]).total.terms
    }

    #[test]
    fn a_slower_kernel_is_duration_and_a_second_call_is_count() {
        let slower = terms(
            &[KernelMatch::Matched],
            place(1000, 400, &[amount(0, 0, 4, 400)]),
            place(1080, 480, &[amount(0, 0, 4, 480)]),
        );
        assert_eq!(slower, WallTerms { duration_ns: 80, ..WallTerms::default() });
        let more = terms(
            &[KernelMatch::Matched],
            place(1000, 400, &[amount(0, 0, 4, 400)]),
            place(1100, 500, &[amount(0, 0, 5, 500)]),
        );
        assert_eq!(more, WallTerms { count_ns: 100, ..WallTerms::default() });
    }

    #[test]
    fn a_change_of_both_is_split_at_the_midpoint() {
        // 2 calls of 100, then 4 of 150: count 2 x 125, duration 50 x 3, together 600 - 200.
        let both = terms(
            &[KernelMatch::Matched],
            place(200, 200, &[amount(0, 0, 2, 200)]),
            place(600, 600, &[amount(0, 0, 4, 600)]),
        );
        assert_eq!(both, WallTerms { count_ns: 250, duration_ns: 150, ..WallTerms::default() });
    }

    #[test]
    fn calls_that_shift_to_a_larger_shape_are_mix() {
        // Small ones take 10, large ones 100, on both sides.
        let mix = terms(
            &[KernelMatch::Matched],
            place(220, 220, &[amount(0, 1, 2, 20), amount(0, 2, 2, 200)]),
            place(310, 310, &[amount(0, 1, 1, 10), amount(0, 2, 3, 300)]),
        );
        assert_eq!(mix, WallTerms { mix_ns: 90, ..WallTerms::default() });
    }

    #[test]
    fn what_comes_goes_or_changes_its_name_has_its_own_term() {
        let matches = [KernelMatch::New, KernelMatch::Removed, KernelMatch::Renamed];
        let all = terms(
            &matches,
            place(300, 300, &[amount(1, 0, 1, 100), amount(2, 0, 1, 200)]),
            place(460, 460, &[amount(0, 0, 1, 250), amount(2, 0, 1, 210)]),
        );
        assert_eq!(all, WallTerms { new_ns: 250, removed_ns: -100, renamed_ns: 10, ..WallTerms::default() });
    }

    #[test]
    fn what_no_longer_runs_side_by_side_is_overlap_and_waiting_is_idle() {
        let work = [amount(0, 0, 2, 200)];
        let serial = terms(&[KernelMatch::Matched], place(150, 150, &work), place(250, 200, &work));
        assert_eq!(serial, WallTerms { overlap_ns: 50, idle_ns: 50, ..WallTerms::default() });
    }

    #[test]
    fn a_gpu_that_only_one_side_used_is_explained_against_nothing() {
        let extra = GpuProfile { gpu: 3, ..place(110, 100, &[amount(0, 0, 1, 100)]) };
        let both = place(100, 100, &[amount(0, 0, 1, 100)]);
        let decomposition =
            decomposed(&[KernelMatch::Matched], std::slice::from_ref(&both), &[both.clone(), extra]);
        assert_eq!(
            decomposition.gpus[1].change.terms,
            WallTerms { count_ns: 100, idle_ns: 10, ..WallTerms::default() }
        );
        assert_eq!((decomposition.total.wall_delta_ns, decomposition.gpus[0].change.wall_delta_ns), (110, 0));
    }

    fn places() -> impl Strategy<Value = Vec<GpuProfile>> {
        let amount = (0..6_usize, 0..3_u32, 0..2000_u64, 0..10_000_000_i64)
            .prop_map(|(item, shape, calls, total_ns)| amount(item, shape, calls, total_ns));
        let place =
            (0..3_i64, 0..10_000_000_000_i64, 0..10_000_000_000_i64, prop::collection::vec(amount, 0..9))
                .prop_map(|(gpu, wall_ns, busy_ns, work)| {
                    let idle = vec![(Cause::Host, wall_ns / 3), (Cause::Launch, busy_ns / 7)];
                    GpuProfile { gpu, wall_ns, busy_ns, idle, work }
                });
        prop::collection::vec(place, 0..4)
    }

    proptest! {
        #[test]
        fn the_terms_sum_to_the_change_of_wall(before in places(), after in places()) {
            let mut matches = [KernelMatch::Matched; 6];
            matches[2..5].copy_from_slice(&[KernelMatch::New, KernelMatch::Removed, KernelMatch::Renamed]);
            let decomposition = decomposed(&matches, &before, &after);
            let idle: i64 = decomposition.idle.iter().map(|change| change.delta_ns).sum();
            prop_assert_eq!(idle, decomposition.total.terms.idle_ns);
            for change in decomposition.gpus.iter().map(|gpu| &gpu.change).chain([&decomposition.total]) {
                let sum: i128 = change.terms.named().iter().map(|&(_, term)| i128::from(term)).sum();
                prop_assert_eq!(sum, i128::from(change.wall_delta_ns));
                prop_assert_eq!(change.candidate_wall_ns - change.baseline_wall_ns, change.wall_delta_ns);
            }
            let by_gpu: i64 = decomposition.gpus.iter().map(|gpu| gpu.change.terms.duration_ns).sum();
            prop_assert_eq!(by_gpu, decomposition.total.terms.duration_ns);
        }

        #[test]
        fn the_way_back_is_the_change_reversed(before in places(), after in places()) {
            let matched = [KernelMatch::Matched; 6];
            let there = decomposed(&matched, &before, &after).total.terms;
            let back = decomposed(&matched, &after, &before).total.terms;
            prop_assert_eq!(there.overlap_ns, -back.overlap_ns);
            prop_assert_eq!(there.count_ns, -back.count_ns);
            prop_assert_eq!(there.duration_ns, -back.duration_ns);
        }
    }
}
