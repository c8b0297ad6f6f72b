//! How long a GPU was busy with each class of ops and with several of them at once.

use rtl_schema::{AgentId, Tables};

use super::types::Gpu;
use crate::labels;
use crate::union_length::{UnionLength, to_ns};

/// The class of an op; the value is its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Kernel = 1,
    Collective = 2,
    Copy = 4,
}

/// The ops of one GPU added up, whether they are in memory or arrive in chunks. One union for each set of classes, at
/// the position that the bits of its classes make: overlaps follow by inclusion and exclusion, so no op needs to know
/// which others run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Utilization {
    unions: [UnionLength; 8],
    /// By class.
    ops: [u64; 5],
}

impl Utilization {
    /// Adds an op in order of start; times in ns after a moment before all of them.
    #[inline]
    pub(crate) fn add(&mut self, class: Class, start: u64, end: u64) {
        let sets: [usize; 3] = match class {
            Class::Kernel => [1, 3, 5],
            Class::Collective => [2, 3, 6],
            Class::Copy => [4, 5, 6],
        };
        for set in sets {
            self.unions[set].add(start, end);
        }
        self.unions[7].add(start, end);
        self.ops[class as usize] += 1;
    }

    /// The last end.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.unions[7].end()
    }

    /// The figures of a GPU whose first op starts at `base` ns.
    pub(crate) fn gpu(&self, tables: &Tables, id: AgentId, base: i64) -> Gpu {
        let length = |set: usize| self.unions[set].length_ns();
        let pair = |one: usize, other: usize| length(one) + length(other) - length(one | other);
        let [_, kernels, collectives, _, copies] = self.ops;
        let (busy_ns, kernel_ns, collective_ns, copy_ns) = (length(7), length(1), length(2), length(4));
        let (kernel_collective_ns, kernel_copy_ns, collective_copy_ns) = (pair(1, 2), pair(1, 4), pair(2, 4));
        let pairs = kernel_collective_ns + kernel_copy_ns + collective_copy_ns;
        let all_three = busy_ns - kernel_ns - collective_ns - copy_ns + pairs;
        let wall_ns = to_ns(self.end());
        let agent = tables.agents.get(id.index());
        Gpu {
            gpu: agent.map_or(-1, |agent| agent.number),
            label: labels::agent(tables, id),
            product: agent.and_then(|agent| agent.product.clone()),
            ops: kernels + collectives + copies,
            dispatches: kernels + collectives,
            collectives,
            copies,
            start_ns: base,
            end_ns: base.saturating_add_unsigned(self.end()),
            wall_ns,
            busy_ns,
            idle_ns: wall_ns - busy_ns,
            busy_share: if wall_ns == 0 { 0.0 } else { busy_ns as f64 / wall_ns as f64 },
            kernel_ns,
            collective_ns,
            copy_ns,
            overlap_ns: pairs - 2 * all_three,
            kernel_collective_ns,
            kernel_copy_ns,
            collective_copy_ns,
            exposed_collective_ns: collective_ns - kernel_collective_ns,
        }
    }
}
