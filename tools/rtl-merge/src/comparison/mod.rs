//! Compares the ranks of a job: what they waited for each other, how evenly they share their work, and whether these figures can be
//! believed.

mod bandwidth;
mod health;
mod imbalance;
mod members;
mod waits;

use rtl_analysis::ranks::Bandwidth;
use rtl_analysis::ranks::streaming::KernelIndex;
use rtl_analysis::trust::Health;

use self::members::Members;
use crate::clocks::{Clocks, InputClock};
use crate::plan::Plan;
use crate::read::Input;

pub(crate) use health::unexamined;
pub use imbalance::{Imbalance, MOST, Rank as RankWork};
pub use waits::{Group, Rank as RankWaits, Waits};

/// Figures that need all ranks.
pub(crate) struct Comparison {
    /// In the order of the inputs.
    pub(crate) clocks: Vec<InputClock>,
    pub(crate) waits: Waits,
    pub(crate) imbalance: Imbalance,
    pub(crate) bandwidths: Vec<Bandwidth>,
    /// Calls of collectives without a size, where the traces state that of others.
    pub(crate) unsized_calls: u64,
    pub(crate) health: Health,
    /// Calls of collectives that were not matched with another rank's.
    pub(crate) unmatched: u64,
    /// The unmatched calls before or after everything that the other members of their group recorded.
    pub(crate) unmatched_at_edges: u64,
}

impl Comparison {
    /// Compares the ranks. The calls of collectives are dropped then, because the rows may still be on the way.
    pub(crate) fn new(inputs: &[Input], clocks: Clocks, plan: &Plan, kernels: &KernelIndex) -> Self {
        let members = Members::new(inputs, plan);
        let waits = Waits::new(&clocks, &members);
        let imbalance = Imbalance::new(inputs, &members, &waits, kernels);
        let (bandwidths, unsized_calls) = bandwidth::bandwidths(inputs, &clocks, &waits);
        let health = health::of_job(inputs, &waits, &imbalance);
        let unmatched = clocks.groups.unmatched(&clocks.found.sequences);
        Self {
            waits,
            imbalance,
            bandwidths,
            unsized_calls,
            health,
            unmatched: unmatched.calls,
            unmatched_at_edges: unmatched.at_edges,
            clocks: clocks.inputs,
        }
    }
}
