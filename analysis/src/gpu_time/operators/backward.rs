//! The backward operators of forward ones.

use rtl_schema::ProcessId;
use rtl_schema::table::Operators;
use rustc_hash::FxHashMap;

use super::nesting::{NONE, Nesting};

#[derive(Debug, Clone, Copy)]
enum Forward {
    One(u32),
    /// Threads count for themselves, and several have reached the number.
    Several,
}

/// The forward operators of a trace by process and sequence number.
#[derive(Debug, Default)]
pub(super) struct Forwards(FxHashMap<(ProcessId, u32), Forward>);

/// Returns whether the backward pass executes an operator.
pub(super) fn is_backward(operators: &Operators, row: u32) -> bool {
    operators.forward_thread.get(row as usize) != 0
}

fn key(operators: &Operators, row: u32) -> Option<(ProcessId, u32)> {
    Some((operators.process.get(row as usize), operators.sequence.get(row as usize)?))
}

impl Forwards {
    /// Of several forward operators on one thread with the same number, the one that began last made the node of the graph:
    /// the others had read the number before.
    pub(super) fn new(operators: &Operators, nesting: &Nesting) -> Self {
        let mut forward: FxHashMap<(ProcessId, u32), Forward> = FxHashMap::default();
        if operators.sequence.uniform() == Some(None) {
            return Self(forward);
        }
        // Thread by thread, by start.
        for &row in &nesting.order {
            let Some(key) = key(operators, row).filter(|_| !is_backward(operators, row)) else { continue };
            let known = forward.entry(key).or_insert(Forward::One(row));
            *known = match *known {
                Forward::One(other)
                    if operators.tid.get(other as usize) == operators.tid.get(row as usize) =>
                {
                    Forward::One(row)
                }
                _ => Forward::Several,
            };
        }
        Self(forward)
    }

    pub(super) fn get(&self, operators: &Operators, row: u32) -> Option<u32> {
        match self.0.get(&key(operators, row)?)? {
            Forward::One(forward) => Some(*forward),
            Forward::Several => None,
        }
    }
}

/// Returns the GPU time in ns of the backward operators of each forward operator, by its row.
pub(super) fn times(operators: &Operators, nesting: &Nesting, gpu_ns: &[i64]) -> FxHashMap<u32, i64> {
    let mut times = FxHashMap::default();
    let forwards = Forwards::new(operators, nesting);
    for (row, &gpu_ns) in (0..).zip(gpu_ns).filter(|&(row, _)| is_backward(operators, row)) {
        // The engine's operator is around the function's own, with the same number.
        let parent = nesting.parent[row as usize];
        let is_within = parent != NONE
            && is_backward(operators, parent)
            && operators.sequence.get(parent as usize) == operators.sequence.get(row as usize);
        if let Some(forward) = forwards.get(operators, row).filter(|_| !is_within) {
            let time: &mut i64 = times.entry(forward).or_default();
            *time = time.saturating_add(gpu_ns);
        }
    }
    times
}
