//! The bandwidth of collectives whose sizes the traces state.

use rtl_analysis::ranks::Bandwidth;
use rtl_analysis::ranks::bandwidth::{BandwidthSums, MatchedCalls};

use super::waits::Waits;
use crate::clocks::Clocks;
use crate::read::Input;

/// Returns bandwidths by operation, communicator and size, and the number of calls without a size, where the traces state that of others.
pub(crate) fn bandwidths(inputs: &[Input], clocks: &Clocks, waits: &Waits) -> (Vec<Bandwidth>, u64) {
    let mut sums = BandwidthSums::new(inputs.iter().map(|input| &input.collectives.sizes));
    for (at, input) in inputs.iter().enumerate() {
        sums.add_calls(at, &input.collectives.others);
    }
    let on_one_clock: Vec<bool> = waits.groups.iter().map(|group| group.on_one_clock).collect();
    let found = &clocks.found;
    let trace = |sequence: usize| found.members[found.sequences[sequence].rank].input;
    let matched = MatchedCalls {
        sequences: &found.sequences,
        groups: &clocks.groups,
        on_one_clock: &on_one_clock,
        trace,
    };
    sums.add_matched(&matched, |sequence, (start, end)| {
        let correction = &clocks.corrections[trace(sequence)];
        (correction.apply(start), correction.apply(end))
    });
    sums.finish()
}
