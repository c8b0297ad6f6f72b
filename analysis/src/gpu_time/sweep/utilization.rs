//! How long a GPU was busy with each class of ops and with several of them at once.

use rtl_schema::{AgentId, Tables};

use super::types::Gpu;
use crate::base::union_length::to_ns;
use crate::names::labels;

/// The class of an op; the value is its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Kernel = 1,
    Collective = 2,
    Copy = 4,
}

/// The ops of one GPU added up, whether they are in memory or arrive in chunks. The length of one union for each set of
/// classes, at the position that the bits of its classes make: overlaps follow by inclusion and exclusion, so no op needs to know
/// which others run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Utilization {
    /// Indexed by class: the last end.
    ends: [u64; 5],
    /// The last end of all.
    end: u64,
    /// Indexed by class: the growth of all unions with it. Where no other class runs, they grow alike.
    alike: [u64; 5],
    /// Indexed by set: the growth of its union beside that.
    lengths: [u64; 8],
    /// Indexed by class.
    ops: [u64; 5],
}

impl Utilization {
    /// Adds an op in order of start; times in ns after a moment before all of them.
    #[inline]
    pub(crate) fn add(&mut self, class: Class, start: u64, end: u64) {
        let (at, [one, other]) = match class {
            Class::Kernel => (1, [2, 4]),
            Class::Collective => (2, [1, 4]),
            Class::Copy => (4, [1, 2]),
        };
        self.ops[at] += 1;
        // No union with the class ends before the class.
        if end <= self.ends[at] {
            return;
        }
        let from = start.max(self.ends[at]);
        match self.ends[one].max(self.ends[other]) <= from {
            true => self.alike[at] += end - from,
            false => self.add_beside(at, start, end),
        }
        self.ends[at] = end;
        self.end = self.end.max(end);
    }

    /// Adds an op of a class beside which others run.
    #[inline]
    fn add_beside(&mut self, class: usize, start: u64, end: u64) {
        let all_ends = self.ends;
        for (set, length) in self.lengths.iter_mut().enumerate().filter(|(set, _)| set & class != 0) {
            let ends = [1, 2, 4].map(|class| if set & class == 0 { 0 } else { all_ends[class] });
            *length += end.saturating_sub(ends.into_iter().fold(start, u64::max));
        }
    }

    /// The last end of all classes.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The length of the union of a set of classes.
    fn length(&self, set: usize) -> u64 {
        let of_classes =
            [1, 2, 4].into_iter().filter(|class| set & class != 0).map(|class| self.alike[class]);
        of_classes.sum::<u64>() + self.lengths[set]
    }

    /// The figures of a GPU whose first op starts at `base` ns.
    pub(crate) fn gpu(&self, tables: &Tables, id: AgentId, base: i64) -> Gpu {
        // Sums of lengths exceed 64 bits where an op takes centuries.
        let length = |set: usize| i128::from(self.length(set));
        let ns = |length: i128| i64::try_from(length).unwrap_or(i64::MAX);
        let pair = |one: usize, other: usize| length(one) + length(other) - length(one | other);
        let [_, kernels, collectives, _, copies] = self.ops;
        let (busy, kernel, collective, copy) = (length(7), length(1), length(2), length(4));
        let (kernel_collective, kernel_copy, collective_copy) = (pair(1, 2), pair(1, 4), pair(2, 4));
        let pairs = kernel_collective + kernel_copy + collective_copy;
        let all_three = busy - kernel - collective - copy + pairs;
        let (wall_ns, busy_ns) = (to_ns(self.end()), ns(busy));
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
            kernel_ns: ns(kernel),
            collective_ns: ns(collective),
            copy_ns: ns(copy),
            overlap_ns: ns(pairs - 2 * all_three),
            kernel_collective_ns: ns(kernel_collective),
            kernel_copy_ns: ns(kernel_copy),
            collective_copy_ns: ns(collective_copy),
            exposed_collective_ns: ns(collective - kernel_collective),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::union_length::UnionLength;

    proptest! {
        #[test]
        fn every_set_of_classes_has_the_length_of_its_union(
            mut ops in prop::collection::vec((0_u64..200, 0_u64..40, 0_usize..3), 0..60),
        ) {
            ops.sort_unstable();
            let mut utilization = Utilization::default();
            let mut unions = [UnionLength::default(); 8];
            for (start, length, class) in ops {
                let class = [Class::Kernel, Class::Collective, Class::Copy][class];
                utilization.add(class, start, start + length);
                let with_class = (0..8).filter(|set| set & class as usize != 0);
                with_class.for_each(|set| _ = unions[set].add(start, start + length));
                prop_assert_eq!(utilization.end(), unions[7].end());
            }
            for (set, union) in unions.iter().enumerate() {
                prop_assert_eq!(to_ns(utilization.length(set)), union.length_ns());
            }
        }
    }

    proptest! {
        #[test]
        fn kernels_and_copies_alone_are_what_a_count_of_each_ns_finds(
            mut ops in prop::collection::vec((0_u64..200, 0_u64..40, 0_usize..3), 1..60),
        ) {
            ops.sort_unstable();
            let base = ops[0].0;
            let mut utilization = Utilization::default();
            for &(start, length, class) in &ops {
                let class = [Class::Kernel, Class::Collective, Class::Copy][class];
                utilization.add(class, start - base, start - base + length);
            }
            let gpu = utilization.gpu(&Tables::default(), AgentId(0), 0);
            let runs = |moment: u64, is_copy: bool| {
                ops.iter().any(|&(start, length, class)| {
                    (class == 2) == is_copy && (start..start + length).contains(&moment)
                })
            };
            let count = |is_in: &dyn Fn(u64) -> bool| (base..base + 300).filter(|&moment| is_in(moment)).count();
            let kernels = count(&|moment| runs(moment, false));
            let copies_alone = count(&|moment| runs(moment, true) && !runs(moment, false));
            prop_assert_eq!(gpu.with_kernels_ns(), kernels as i64);
            prop_assert_eq!(gpu.busy_ns - gpu.with_kernels_ns(), copies_alone as i64);
        }
    }

    #[test]
    fn ops_that_take_centuries_do_not_overflow() {
        for (end, ns) in [(i64::MAX as u64, i64::MAX), (u64::MAX, i64::MAX), (7, 7)] {
            let mut utilization = Utilization::default();
            for class in [Class::Kernel, Class::Collective, Class::Copy] {
                utilization.add(class, 0, end);
            }
            let gpu = utilization.gpu(&Tables::default(), AgentId(0), i64::MIN);
            assert_eq!([gpu.busy_ns, gpu.kernel_ns, gpu.collective_ns, gpu.copy_ns], [ns; 4]);
            assert_eq!([gpu.kernel_collective_ns, gpu.kernel_copy_ns, gpu.collective_copy_ns], [ns; 3]);
            assert_eq!([gpu.overlap_ns, gpu.wall_ns], [ns; 2]);
            assert_eq!((gpu.exposed_collective_ns, gpu.idle_ns), (0, 0));
        }
    }
}
