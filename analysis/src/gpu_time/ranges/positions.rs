//! Where ops, calls and ranges are among the ranges: stretches of timelines, numbered one after the other, and for each
//! range name the stretches that it encloses. Memory grows with the number of ranges, however deep they nest.

use std::ops::Range;

/// The position outside all ranges.
pub(super) const NOWHERE: u32 = 0;

#[derive(Debug)]
pub(super) struct Positions {
    innermost: Vec<Option<u32>>,
    windows: Vec<(u32, Range<u32>)>,
}

impl Positions {
    pub(super) fn new() -> Self {
        Self { innermost: vec![None], windows: Vec::new() }
    }

    pub(super) fn count(&self) -> u32 {
        self.innermost.len() as u32
    }

    /// Adds a position whose innermost range has this name.
    pub(super) fn push(&mut self, innermost: Option<u32>) {
        self.innermost.push(innermost);
    }

    /// Notes that a range of this name encloses the positions, which may still have to be added.
    pub(super) fn enclose(&mut self, name: u32, positions: Range<u32>) {
        if !positions.is_empty() {
            self.windows.push((name, positions));
        }
    }

    #[inline]
    pub(super) fn innermost(&self, position: u32) -> Option<u32> {
        self.innermost[position as usize]
    }

    /// Returns for each of `names` names the positions that it encloses: ascending and disjoint.
    pub(super) fn by_name(&self, names: usize) -> Windows {
        let mut first = vec![0; names + 1];
        for (name, _) in &self.windows {
            first[*name as usize + 1] += 1;
        }
        for name in 0..names {
            first[name + 1] += first[name];
        }
        let mut next = first.clone();
        let mut sorted = vec![0..0; self.windows.len()];
        for (name, window) in &self.windows {
            sorted[next[*name as usize]] = window.clone();
            next[*name as usize] += 1;
        }
        let mut windows = Windows { of_name: vec![0], windows: Vec::new() };
        for name in 0..names {
            let of_name = &mut sorted[first[name]..first[name + 1]];
            of_name.sort_unstable_by_key(|window| window.start);
            let begin = windows.windows.len();
            for window in of_name {
                match windows.windows[begin..].last_mut() {
                    Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
                    _ => windows.windows.push(window.clone()),
                }
            }
            windows.of_name.push(windows.windows.len());
        }
        windows
    }
}

#[derive(Debug)]
pub(super) struct Windows {
    /// Where those of each name begin, and the end of all.
    of_name: Vec<usize>,
    windows: Vec<Range<u32>>,
}

impl Windows {
    /// The positions that one name encloses: ascending and disjoint.
    pub(super) fn of(&self, name: usize) -> &[Range<u32>] {
        &self.windows[self.of_name[name]..self.of_name[name + 1]]
    }

    pub(super) fn by_name(&self) -> impl Iterator<Item = &[Range<u32>]> {
        self.of_name.windows(2).map(|of_name| &self.windows[of_name[0]..of_name[1]])
    }
}
