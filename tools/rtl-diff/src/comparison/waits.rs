//! Collectives of matched ranks: what they waited, and what was left when the last rank had come.
//!
//! A rank that got slower makes all others wait for it, in every collective. That is its kernels' fault and not the
//! collective's, so what is compared and gated is the transfer.

use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Kernel;

use super::join::{Joined, by_position};
use crate::input::Run;

/// Less of its calls than this were matched with other ranks': the transfers do not stand for the kernel.
const MATCHED: f64 = 0.9;

/// A collective on one side, all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Waits {
    /// In how many runs it ran.
    pub runs: usize,
    /// Collectives that were matched: several ranks' calls each.
    pub collectives: u64,
    /// Calls of them.
    pub calls: u64,
    /// The transfers of these calls in ns.
    pub transfer_ns: i64,
    /// What these calls waited in ns.
    pub wait_ns: i64,
}

impl Waits {
    /// What a call waited, on average, in ns.
    pub fn mean_wait_ns(&self) -> f64 {
        self.wait_ns as f64 / self.calls.max(1) as f64
    }

    fn of(kernels: &[Option<&Kernel>]) -> Option<Self> {
        let mut waits = Self::default();
        for kernel in kernels.iter().flatten() {
            let waiting = kernel.waiting.as_ref()?;
            if (waiting.calls as f64) < MATCHED * kernel.run.calls as f64 {
                return None;
            }
            waits.runs += 1;
            waits.collectives += waiting.run.calls;
            waits.calls += waiting.calls;
            waits.transfer_ns = waits.transfer_ns.saturating_add(waiting.transfer_ns);
            waits.wait_ns = waits.wait_ns.saturating_add(waiting.wait_ns);
        }
        (waits.runs > 0).then_some(waits)
    }
}

/// Puts the transfers in place of the calls of every pair of collectives whose ranks were matched in all runs of both sides.
pub(super) fn set_apart(joined: &mut Joined, matching: &Matching, sides: [&[Run]; 2]) {
    if !joined.collective.iter().flatten().any(|&collective| collective) {
        return;
    }
    let kernels = [0, 1].map(|side| by_position(joined, side, sides[side]));
    for pair in &matching.pairs {
        let at = [pair.baseline, pair.candidate];
        let [Some(before), Some(after)] = [0, 1].map(|side| Waits::of(&kernels[side][at[side]])) else {
            continue;
        };
        for (side, waits) in [before, after].into_iter().enumerate() {
            joined.waits[side][at[side]] = Some(waits);
            let runs = joined.runs[side][at[side]].iter_mut();
            for (run, kernel) in runs.zip(&kernels[side][at[side]]) {
                if let Some(waiting) = kernel.and_then(|kernel| kernel.waiting.as_ref()) {
                    run.clone_from(&waiting.run);
                }
            }
        }
    }
}

/// What is to be known of waiting, in sentences; the runs are those that the books are of.
pub(super) fn notes(rows: &[super::Row], typical: Option<[&Run; 2]>) -> Vec<String> {
    let mut notes = Vec::new();
    let collectives = || rows.iter().filter(|row| row.collective);
    if collectives().any(|row| row.waits.is_none()) {
        notes.push("collectives wait for other ranks: they are shown and not gated".to_owned());
    }
    if collectives().any(|row| row.waits.is_some()) {
        notes.push(
            "collectives of matched ranks are compared by transfer, what is left when the last rank has come; \
             waiting is shown apart"
                .to_owned(),
        );
    }
    for (side, run) in ["baseline", "candidate"].into_iter().zip(typical.into_iter().flatten()) {
        if let Some(rank) = &run.profile.straggler {
            notes.push(format!("in the {side} the others waited for {rank}"));
        }
    }
    notes
}
