//! The backward operators of forward ones.

use rtl_schema::ProcessId;
use rtl_schema::table::Operators;
use rustc_hash::FxHashMap;

use super::nesting::{NONE, Nesting};

/// The forward operator of a sequence number.
#[derive(Debug, Clone, Copy)]
enum Forward {
    One(u32),
    /// Threads count for themselves, and several have reached the number.
    Several,
}

/// By row of forward operators, the GPU time in ns of the backward operators of their sequence number. Of several forward
/// operators on one thread with the same number the one that began last made the node of the graph: the others had read
/// the number before.
pub(super) fn times(operators: &Operators, nesting: &Nesting, gpu_ns: &[i64]) -> FxHashMap<u32, i64> {
    let mut times = FxHashMap::default();
    if operators.sequence.uniform() == Some(None) {
        return times;
    }
    let is_backward = |row: usize| operators.forward_thread.get(row) != 0;
    let key = |row: usize| Some((operators.process.get(row), operators.sequence.get(row)?));
    let mut forward: FxHashMap<(ProcessId, u32), Forward> = FxHashMap::default();
    // Thread by thread, by start.
    for &row in &nesting.order {
        let Some(key) = key(row as usize).filter(|_| !is_backward(row as usize)) else { continue };
        let known = forward.entry(key).or_insert(Forward::One(row));
        *known = match *known {
            Forward::One(other) if operators.tid.get(other as usize) == operators.tid.get(row as usize) => {
                Forward::One(row)
            }
            _ => Forward::Several,
        };
    }
    for (row, &gpu_ns) in gpu_ns.iter().enumerate().filter(|&(row, _)| is_backward(row)) {
        let Some(key) = key(row) else { continue };
        // The engine's operator is around the function's own, with the same number.
        let parent = nesting.parent[row];
        let is_within = |parent: u32| {
            parent != NONE
                && is_backward(parent as usize)
                && operators.sequence.get(parent as usize) == Some(key.1)
        };
        if !is_within(parent)
            && let Some(&Forward::One(forward)) = forward.get(&key)
        {
            let time: &mut i64 = times.entry(forward).or_default();
            *time = time.saturating_add(gpu_ns);
        }
    }
    times
}
