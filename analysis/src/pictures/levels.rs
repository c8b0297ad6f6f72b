//! Equal parts of time at several levels of detail: how busy a GPU was in each, and with what.

/// The class of an op, in a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Item(pub u8);

impl Item {
    /// Stands for the absence of an op.
    pub const NONE: Self = Self(0);
    /// A kernel behind the first 253.
    pub const OTHER: Self = Self(254);
    /// A copy or fill.
    pub const COPY: Self = Self(255);

    /// The kernel at this position by total time.
    #[must_use]
    pub fn kernel(position: usize) -> Self {
        u8::try_from(position + 1).map_or(Self::OTHER, |number| Self(number.min(Self::OTHER.0)))
    }
}

/// A part of the time of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// The part of it with an op running, of 255; never 0 where an op ran.
    pub busy: u8,
    /// The item with most time in it.
    pub item: Item,
}

/// The cells of a GPU at one level of detail.
pub type Level = Vec<Cell>;

/// How many cells of a level become one of the next.
const FACTOR: usize = 4;

/// A level with fewer cells has no coarser one.
const LEAST: usize = 256;

/// Adds the ops of one GPU, in order of start, to the cells of the finest level.
#[derive(Debug)]
pub(super) struct Cells {
    from: i64,
    /// The length of a cell in ns, at least 1.
    length: f64,
    cells: Level,
    at: usize,
    /// Busy time of it in ns.
    busy: u64,
    /// Time of each item in it in ns.
    times: [u64; 256],
    /// The items with time in it: a cell is closed in proportion to these, because most traces have more cells than ops.
    items: Vec<Item>,
    /// Ops that run on behind the cell: end and item.
    running: Vec<(i64, Item)>,
    /// Everything before has been added to `busy`, in ns.
    until: i64,
}

impl Cells {
    /// `count` cells of the time `from` a moment `to` another, in ns.
    pub(super) fn new(count: usize, (from, to): (i64, i64)) -> Self {
        Self {
            from,
            length: (to.abs_diff(from) as f64 / count as f64).max(1.0),
            cells: vec![Cell::default(); count],
            at: 0,
            busy: 0,
            times: [0; 256],
            items: Vec::new(),
            running: Vec::new(),
            until: i64::MIN,
        }
    }

    /// The end of the cell that is being filled, in ns.
    fn end(&self) -> i64 {
        self.from.saturating_add((self.length * (self.at + 1) as f64) as i64)
    }

    /// Adds an op that starts no earlier than those before it.
    pub(super) fn add(&mut self, start: i64, end: i64, item: Item) {
        while start >= self.end() && self.at + 1 < self.cells.len() {
            self.next();
            if self.running.is_empty() && self.items.is_empty() {
                self.skip_until(start);
            }
        }
        self.part(start, end, item);
        if end > self.end() {
            self.running.push((end, item));
        }
    }

    /// Moves on to a cell shortly before `start`, because nothing runs until then. One cell less than computed absorbs
    /// rounding.
    fn skip_until(&mut self, start: i64) {
        let computed = (start.abs_diff(self.from) as f64 / self.length) as usize;
        self.at = self.at.max(computed.saturating_sub(1).min(self.cells.len() - 1));
    }

    /// Adds the part of an op that lies in the current cell.
    fn part(&mut self, start: i64, end: i64, item: Item) {
        let end = end.min(self.end());
        let time = &mut self.times[usize::from(item.0)];
        if *time == 0 {
            self.items.push(item);
        }
        // An op of length zero is seen, too.
        *time += end.saturating_sub(start).max(1).unsigned_abs();
        self.busy += end.saturating_sub(start.max(self.until)).max(0).unsigned_abs();
        self.until = self.until.max(end);
    }

    fn next(&mut self) {
        let start = self.end();
        self.close();
        self.at += 1;
        for (end, item) in std::mem::take(&mut self.running) {
            self.part(start, end, item);
            if end > self.end() {
                self.running.push((end, item));
            }
        }
    }

    fn close(&mut self) {
        let time = |item: Item| self.times[usize::from(item.0)];
        if let Some(item) = self.items.iter().copied().max_by_key(|&item| (time(item), u8::MAX - item.0)) {
            let share = (self.busy as f64 / self.length * 255.0).ceil();
            self.cells[self.at] = Cell { busy: share.clamp(1.0, 255.0) as u8, item };
        }
        for item in self.items.drain(..) {
            self.times[usize::from(item.0)] = 0;
        }
        self.busy = 0;
    }

    /// All levels, the coarsest first.
    pub(super) fn finish(mut self) -> Vec<Level> {
        while self.at + 1 < self.cells.len() && !self.running.is_empty() {
            self.next();
        }
        self.close();
        let mut levels = vec![self.cells];
        while let Some(finest) = levels.last().filter(|level| level.len() >= LEAST * FACTOR) {
            let coarser = finest.chunks(FACTOR).map(joined).collect();
            levels.push(coarser);
        }
        levels.reverse();
        levels
    }
}

/// One cell for several: the mean of their busy parts, and the item with most of it.
fn joined(cells: &[Cell]) -> Cell {
    let time = |item: Item| -> u32 {
        cells.iter().filter(|cell| cell.item == item).map(|cell| u32::from(cell.busy)).sum()
    };
    let sum: u32 = cells.iter().map(|cell| u32::from(cell.busy)).sum();
    let most = cells.iter().map(|cell| cell.item).max_by_key(|&item| (time(item), u8::MAX - item.0));
    Cell { busy: sum.div_ceil(cells.len() as u32) as u8, item: most.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(count: usize, to: i64, ops: &[(i64, i64, u8)]) -> Vec<Level> {
        let mut cells = Cells::new(count, (0, to));
        ops.iter().for_each(|&(start, end, item)| cells.add(start, end, Item(item)));
        cells.finish()
    }

    #[test]
    fn an_op_fills_the_cells_that_it_runs_in() {
        let levels = cells(4, 400, &[(50, 250, 1), (60, 90, 2), (320, 320, 3)]);
        let found: Vec<(u8, u8)> = levels[0].iter().map(|cell| (cell.busy, cell.item.0)).collect();
        assert_eq!(found, [(128, 1), (255, 1), (128, 1), (1, 3)]);
    }

    #[test]
    fn coarser_levels_have_the_mean_and_the_item_with_most_time() {
        let levels = cells(1024, 1024, &[(0, 1, 1), (1, 3, 2)]);
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [256, 1024]);
        assert_eq!(levels[0][0], Cell { busy: 192, item: Item(2) });
        assert_eq!(levels[0][1], Cell::default());
    }

    proptest! {
        #[test]
        fn cells_hold_the_union_of_the_ops(
            mut ops in prop::collection::vec((0_i64..10_000, 0_i64..2_000, 1_u8..5), 1..20),
            count in prop::sample::select(vec![16_usize, 512]),
        ) {
            ops.sort_unstable();
            let ops: Vec<_> = ops.into_iter().map(|(start, length, item)| (start, start + length, item)).collect();
            let to = ops.iter().map(|op| op.1).max().unwrap_or(0).max(1);
            let cells = cells(count, to, &ops).remove(0);
            let length = (to as f64 / count as f64).max(1.0);
            for (at, cell) in cells.iter().enumerate() {
                let within = |moment: &i64| (at as f64 * length..(at + 1) as f64 * length).contains(&(*moment as f64));
                let is_busy = |moment: &i64| ops.iter().any(|op| op.0 <= *moment && *moment < op.1);
                let busy = (0..to).filter(|moment| within(moment) && is_busy(moment)).count();
                let found = f64::from(cell.busy) / 255.0 * length;
                prop_assert!((busy as f64 - found).abs() <= length / 255.0 + 3.0, "{at}: {busy} {found}");
            }
        }
    }
}
