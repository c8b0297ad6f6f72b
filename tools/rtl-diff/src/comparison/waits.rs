//! Waits and transfers of collectives of matched ranks.
//!
//! A rank that got slower makes all others wait for it, in every collective. Its kernels cause that and not the
//! collective, so transfers (the time left when the last rank has come) are compared and gated.

use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Kernel;

use super::join::JoinedKernels;
use super::types::{Row, Waits};
use crate::input::Run;

/// With a smaller share of its calls matched with other ranks', the transfers do not represent a kernel.
const MIN_MATCHED: f64 = 0.9;

/// The waits of a kernel over all runs of a side; `None` if its ranks were not matched in one of them.
fn waits(kernels: &[Option<&Kernel>]) -> Option<Waits> {
    let mut waits = None;
    for kernel in kernels.iter().flatten() {
        let waiting = kernel.waiting.as_ref()?;
        if (waiting.calls as f64) < MIN_MATCHED * kernel.run.calls as f64 {
            return None;
        }
        let sum: &mut Waits = waits.get_or_insert_default();
        sum.collectives += waiting.run.calls;
        sum.calls += waiting.calls;
        sum.transfer_ns = sum.transfer_ns.saturating_add(waiting.transfer_ns);
        sum.wait_ns = sum.wait_ns.saturating_add(waiting.wait_ns);
    }
    waits
}

/// Replaces the calls by the transfers for every pair of collectives whose ranks were matched in all runs of both sides.
pub(super) fn use_transfers(joined: &mut JoinedKernels, matching: &Matching, sides: [&[Run]; 2]) {
    if !joined.collective.iter().flatten().any(|&collective| collective) {
        return;
    }
    let kernels = [0, 1].map(|side| joined.by_position(side, sides[side]));
    for pair in &matching.pairs {
        let at = [pair.baseline, pair.candidate];
        let [Some(before), Some(after)] = [0, 1].map(|side| waits(&kernels[side][at[side]])) else {
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

/// Notes on collectives; `typical` are the runs of the decomposition.
pub(super) fn notes(rows: &[Row], typical: Option<[&Run; 2]>) -> Vec<String> {
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
