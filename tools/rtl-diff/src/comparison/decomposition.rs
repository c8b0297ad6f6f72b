//! Decomposes the change of wall between two typical runs into the kernels of the comparison.

use std::collections::BTreeMap;

use rtl_analysis::decomposition::{self, GpuTime, KernelMatch, KernelTime, WallDecomposition};
use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Activity;
use rtl_schema::table::Direction;

use crate::input::Run;

/// The run with the median wall, the lower one of two; `None` without runs.
pub(super) fn typical(runs: &[Run]) -> Option<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&at| (runs[at].wall_ns(), at));
    order.get(runs.len().saturating_sub(1) / 2).copied()
}

/// Decomposes the change from one run to the other; `positions` has for each kernel of a run its position in `matching`.
pub(super) fn decompose(runs: [&Run; 2], positions: [&[usize]; 2], matching: &Matching) -> WallDecomposition {
    let mut items = Items::of(matching);
    let places = [0, 1].map(|side| {
        let gpus = runs[side].profile.gpus.iter();
        gpus.map(|gpu| GpuTime {
            gpu: gpu.gpu,
            wall_ns: gpu.wall_ns,
            busy_ns: gpu.busy_ns,
            amounts: gpu
                .work
                .iter()
                .map(|work| KernelTime {
                    item: match &work.item {
                        Activity::Kernel(kernel) => items.of_kernel[side][&positions[side][*kernel]],
                        Activity::Copies(direction) => items.copies(*direction),
                    },
                    stratum: items.shape(work.shape.as_deref()),
                    calls: work.calls,
                    total_ns: work.total_ns,
                })
                .collect(),
        })
        .collect::<Vec<_>>()
    });
    decomposition::decompose(&items.matches, &places[0], &places[1])
}

/// The items of the decomposition, numbered.
struct Items {
    matches: Vec<KernelMatch>,
    of_kernel: [BTreeMap<usize, usize>; 2],
    of_copies: BTreeMap<Direction, usize>,
    shapes: BTreeMap<String, u32>,
}

impl Items {
    fn of(matching: &Matching) -> Self {
        let mut items = Self {
            matches: Vec::new(),
            of_kernel: Default::default(),
            of_copies: BTreeMap::new(),
            shapes: BTreeMap::new(),
        };
        for pair in &matching.pairs {
            let number = items.matches.len();
            items.matches.push(if pair.method.is_guess() {
                KernelMatch::Renamed
            } else {
                KernelMatch::Matched
            });
            items.of_kernel[0].insert(pair.baseline, number);
            items.of_kernel[1].insert(pair.candidate, number);
        }
        for (side, alone, kind) in
            [(0, &matching.removed, KernelMatch::Removed), (1, &matching.new, KernelMatch::New)]
        {
            for &at in alone {
                items.of_kernel[side].insert(at, items.matches.len());
                items.matches.push(kind);
            }
        }
        items
    }

    fn copies(&mut self, direction: Direction) -> usize {
        *self.of_copies.entry(direction).or_insert_with(|| {
            self.matches.push(KernelMatch::Matched);
            self.matches.len() - 1
        })
    }

    /// 0 is an unknown shape.
    fn shape(&mut self, shape: Option<&str>) -> u32 {
        let Some(shape) = shape else { return 0 };
        if let Some(&number) = self.shapes.get(shape) {
            return number;
        }
        let number = self.shapes.len() as u32 + 1;
        self.shapes.insert(shape.to_owned(), number);
        number
    }
}
