//! Waits and transfers of collectives of matched ranks.
//!
//! A rank that got slower makes all others wait for it, in every collective. Its kernels cause that and not the
//! collective, so transfers (the time left when the last rank has come) are compared and gated.

use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Kernel;

use super::join::JoinedSide;
use super::types::{Row, Waits};
use crate::input::Run;

/// Transfers represent a kernel if this share of the calls was matched with those of other ranks.
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
pub(super) fn use_transfers([baseline, candidate]: &mut [JoinedSide<'_>; 2], matching: &Matching) {
    for pair in &matching.pairs {
        let both = [&mut baseline.kernels[pair.baseline], &mut candidate.kernels[pair.candidate]];
        let [Some(before), Some(after)] = both.each_ref().map(|kernel| waits(&kernel.in_runs)) else {
            continue;
        };
        for (kernel, waits) in both.into_iter().zip([before, after]) {
            kernel.waits = Some(waits);
            for (run, own) in kernel.runs.iter_mut().zip(&kernel.in_runs) {
                if let Some(waiting) = own.and_then(|own| own.waiting.as_ref()) {
                    run.clone_from(&waiting.run);
                }
            }
        }
    }
}

/// `typical` are the runs of the decomposition.
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
