//! Ops, and calls, that say the same but for a few numbers.

use crate::btree::{Pattern, Record};
use crate::write::{CALL_COLUMNS_OF_ITS_OWN, Call, OP_COLUMNS_OF_ITS_OWN, Op, call_row, op_row};

/// What an op has for itself although it is like others: its times, how wide it was launched, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Own {
    /// [`Op::start`].
    pub start: i64,
    /// [`Op::end`].
    pub end: i64,
    /// Work-items along x, of [`Op::items`].
    pub items: u64,
    /// [`Op::correlation`].
    pub correlation: i64,
}

impl Own {
    /// In the order of [`OP_COLUMNS_OF_ITS_OWN`].
    #[inline]
    pub(super) fn numbers(self) -> [i64; 4] {
        [self.start, self.end, self.items as i64, self.correlation]
    }
}

/// What ops have in common that differ in [`Own`] numbers only, and in these not by how many bytes they take in a file.
/// Times take as many for 39 hours after a boot, and from then on.
#[derive(Debug, Clone)]
pub struct Alike(pub(super) Pattern<4>);

impl Alike {
    /// Ops like this one. None where its end or its size is unknown, one of the four is negative, or its row is longer than
    /// usual.
    pub fn of(op: &Op) -> Option<Self> {
        // Else 0 would say so.
        op.end.and(op.items)?;
        let mut record = Record::new();
        Pattern::of(record.integers(&op_row(op)), OP_COLUMNS_OF_ITS_OWN).map(Self)
    }
}

/// What a call has for itself although it is like others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnCall {
    /// [`Call::start`].
    pub start: i64,
    /// [`Call::end`].
    pub end: i64,
    /// [`Call::correlation`].
    pub correlation: i64,
}

impl OwnCall {
    /// In the order of [`CALL_COLUMNS_OF_ITS_OWN`].
    #[inline]
    pub(super) fn numbers(self) -> [i64; 3] {
        [self.start, self.end, self.correlation]
    }
}

/// What calls have in common that differ in [`OwnCall`] numbers only, as [`Alike`].
#[derive(Debug, Clone)]
pub struct AlikeCalls(pub(super) Pattern<3>);

impl AlikeCalls {
    /// Calls like this one; none as in [`Alike::of`].
    pub fn of(call: &Call) -> Option<Self> {
        call.end?;
        let mut record = Record::new();
        Pattern::of(record.integers(&call_row(call)), CALL_COLUMNS_OF_ITS_OWN).map(Self)
    }
}
