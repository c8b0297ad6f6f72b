//! Kernels of a piece that differ from one before in a few numbers: most of them. Their rows are encoded at half the cost.

use super::rows::{Op, SIMILAR_OP_COLUMNS, op_row};
use crate::btree::{LONG, Pattern, Record};
use rtl_schema::table::Dispatch;
use rtl_schema::{NameId, ShapeId, SymbolId, TrackId};

/// How many kinds of ops have a pattern at a time. A power of two.
const SLOTS: usize = 256;

/// A piece with many kinds of ops goes without patterns, which then cost more than they save. Each op counts by about the share of a row
/// that its pattern saves or costs.
const START: i32 = 400;
const MOST: i32 = 2 * START;
const SAVED: i32 = 2;
const MISSED: i32 = -1;
const MADE: i32 = -4;

/// The numbers of an op that others of its kind have not, in the order of [`SIMILAR_OP_COLUMNS`]; 0 where one is unknown.
pub(super) type OpNumbers = [i64; SIMILAR_OP_COLUMNS.len()];

/// The row of a kind of ops, but for its numbers.
pub(super) type OpPattern = Pattern<{ SIMILAR_OP_COLUMNS.len() }, LONG>;

/// All else that a dispatch's row says, in the terms of its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpKey {
    name: NameId,
    track: TrackId,
    shape: Option<ShapeId>,
    symbol: Option<SymbolId>,
    tid: Option<i64>,
    graph: bool,
    has_enqueued: bool,
}

impl OpKey {
    #[inline]
    fn of(row: &Dispatch) -> Self {
        let &Dispatch { name, track, shape, symbol, tid, graph, .. } = row;
        Self { name, track, shape, symbol, tid, graph, has_enqueued: row.enqueued.is_some() }
    }

    #[inline]
    fn slot(&self) -> usize {
        const SHIFT: u32 = u64::BITS - SLOTS.ilog2();
        let shape = self.shape.map_or(0, ShapeId::index) as u64;
        let mixed = self.name.index() as u64 ^ (self.track.index() as u64) << 20 ^ shape << 40;
        (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> SHIFT) as usize
    }
}

/// The latest kinds of ops, by the slots of their keys.
#[derive(Debug)]
pub(super) struct SimilarOps {
    keys: Vec<Option<OpKey>>,
    patterns: Vec<Option<Box<OpPattern>>>,
    /// Below 0 no pattern is looked for.
    balance: i32,
    /// The slot whose pattern the row of the last op makes: of the second op of a kind, because many kinds have one op in a piece.
    wanted: Option<usize>,
}

impl SimilarOps {
    pub(super) fn new() -> Self {
        Self { keys: Vec::new(), patterns: Vec::new(), balance: START, wanted: None }
    }

    /// The pattern that an op fits. Where there is none, its row may be [wanted](Self::is_wanted).
    #[inline]
    pub(super) fn pattern(&mut self, op: &Dispatch, numbers: &OpNumbers) -> Option<&OpPattern> {
        if self.balance < 0 || op.duration.is_none() {
            return None;
        }
        let key = OpKey::of(op);
        let slot = key.slot();
        if self.keys.get(slot).and_then(Option::as_ref) != Some(&key) {
            self.remember(slot, key);
            return None;
        }
        let pattern = self.patterns[slot].as_deref().filter(|pattern| pattern.fits(numbers));
        match pattern {
            Some(_) => self.balance = MOST.min(self.balance + SAVED),
            None => self.wanted = Some(slot),
        }
        pattern
    }

    #[cold]
    fn remember(&mut self, slot: usize, key: OpKey) {
        if self.keys.is_empty() {
            self.keys.resize(SLOTS, None);
            self.patterns.resize_with(SLOTS, || None);
        }
        self.keys[slot] = Some(key);
        self.patterns[slot] = None;
        self.balance += MISSED;
    }

    /// Whether the last op's row is to become a pattern.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Makes the pattern of the last op.
    #[cold]
    pub(super) fn make(&mut self, op: &Op) {
        if let Some(slot) = self.wanted.take() {
            let pattern = Pattern::of(Record::new().integers(&op_row(op)), SIMILAR_OP_COLUMNS);
            self.patterns[slot] = pattern.map(Box::new);
            self.balance += MADE;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::btree::Block;
    use crate::native::rows::OpKind;

    /// Numbers that take as many bytes as these, but for one in twenty.
    fn mostly(usual: std::ops::Range<i64>) -> impl Strategy<Value = i64> {
        let width = (0_u32..63).prop_map(|bits| i64::MAX >> bits);
        prop_oneof![38 => usual, 1 => width, 1 => any::<i64>()]
    }

    /// An op's numbers; its end and the time of enqueueing may be unknown.
    fn numbers() -> impl Strategy<Value = (i64, Option<i64>, i64, i64, Option<i64>)> {
        let time = || mostly(1 << 40..1 << 41);
        let end = prop_oneof![6 => time().prop_map(Some), 1 => Just(None), 1 => Just(Some(0))];
        let enqueued = prop_oneof![Just(None), Just(Some(0)), time().prop_map(Some)];
        (time(), end, mostly(100..120), prop_oneof![mostly(200..300), Just(0)], enqueued)
    }

    proptest! {
        #[test]
        fn similar_ops_have_the_bytes_of_ops_that_are_written_one_by_one(
            rows in prop::collection::vec((0..3_u32, 0..2_u32, prop::option::of(0..2_i64), numbers()), 1..400),
            pid in prop::option::of(mostly(300..400)),
        ) {
            let (mut similar, mut expected) = (Block::after(120), Block::after(120));
            let mut ops = SimilarOps::new();
            for (name, track, tid, (start, end, range, correlation, enqueued)) in rows {
                let row = Dispatch {
                    name: NameId(name), track: TrackId(track), duration: end, tid, enqueued, ..Dispatch::default()
                };
                let op = Op {
                    gpu: Some(i64::from(track)),
                    items: Some([u64::from(name) << 7, 1, 1]),
                    kind: OpKind::KernelExecution,
                    start, end, range, correlation, tid, enqueued, pid,
                    ..Op::default()
                };
                let numbers = [start, end.unwrap_or_default(), range, correlation, enqueued.unwrap_or_default()];
                let id = match ops.pattern(&row, &numbers) {
                    Some(pattern) if similar.push_pattern(pattern, &numbers) => similar.last(),
                    _ => similar.push(&op_row(&op)),
                };
                if ops.is_wanted() {
                    ops.make(&op);
                }
                prop_assert_eq!(id, expected.push(&op_row(&op)));
            }
            prop_assert!(similar.written() == expected.written());
        }
    }
}
