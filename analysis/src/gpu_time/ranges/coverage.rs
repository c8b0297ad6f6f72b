//! How much of a time axis is covered by intervals that come and go.

use std::ops::Range;

/// A segment tree over the stretches between the moments of an axis: covering a stretch once more or once less takes
/// logarithmic time.
#[derive(Debug)]
pub(super) struct Coverage<'a> {
    moments: &'a [u64],
    leaves: usize,
    /// How often each node is covered as a whole.
    covers: Vec<u32>,
    /// How much of each node is covered, by itself or below.
    lengths: Vec<u64>,
}

impl<'a> Coverage<'a> {
    /// Nothing of the axis is covered. Differences of `moments` may wrap.
    pub(super) fn of(moments: &'a [u64]) -> Self {
        let leaves = moments.len().next_power_of_two();
        Self { moments, leaves, covers: vec![0; 2 * leaves], lengths: vec![0; 2 * leaves] }
    }

    pub(super) fn length(&self) -> u64 {
        self.lengths[1]
    }

    /// Covers what lies between two moments, by their places.
    pub(super) fn cover(&mut self, stretch: Range<u32>) {
        self.change(stretch, |covers| covers + 1);
    }

    /// Takes back one cover.
    pub(super) fn uncover(&mut self, stretch: Range<u32>) {
        self.change(stretch, |covers| covers - 1);
    }

    fn change(&mut self, stretch: Range<u32>, change: impl Fn(u32) -> u32) {
        if stretch.is_empty() {
            return;
        }
        let (first, last) = (stretch.start as usize + self.leaves, stretch.end as usize - 1 + self.leaves);
        let (mut from, mut to) = (first, last + 1);
        while from < to {
            if from % 2 == 1 {
                self.covers[from] = change(self.covers[from]);
                self.measure(from);
                from += 1;
            }
            if to % 2 == 1 {
                to -= 1;
                self.covers[to] = change(self.covers[to]);
                self.measure(to);
            }
            (from, to) = (from / 2, to / 2);
        }
        for mut node in [first, last] {
            while node > 1 {
                node /= 2;
                self.measure(node);
            }
        }
    }

    fn measure(&mut self, node: usize) {
        self.lengths[node] = match (self.covers[node], node < self.leaves) {
            (0, true) => self.lengths[2 * node].wrapping_add(self.lengths[2 * node + 1]),
            (0, false) => 0,
            _ => {
                let width = self.leaves >> node.ilog2();
                let first = node * width - self.leaves;
                self.moments[first + width].wrapping_sub(self.moments[first])
            }
        };
    }
}
