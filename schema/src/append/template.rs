//! Ops, and calls, that say the same but for a few numbers.

use crate::btree::{Pattern, Record};
use crate::write::{CALL_COLUMNS_OF_ITS_OWN, Call, OP_COLUMNS_OF_ITS_OWN, Op, call_row, op_row};

/// What an op has for itself although it is like others: its times, how wide it was launched, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowDelta {
    /// [`Op::start`].
    pub start: i64,
    /// [`Op::end`].
    pub end: i64,
    /// Work-items along x, of [`Op::items`].
    pub items: u64,
    /// [`Op::correlation`].
    pub correlation: i64,
}

impl RowDelta {
    /// In the order of [`OP_COLUMNS_OF_ITS_OWN`].
    #[inline]
    pub(super) fn numbers(self) -> [i64; 4] {
        [self.start, self.end, self.items as i64, self.correlation]
    }
}

/// What ops have in common that differ in [`RowDelta`] numbers only, and in these not by how many bytes they take in a file.
/// Times take as many for 39 hours after a boot, and from then on.
#[derive(Debug, Clone)]
pub struct RowTemplate(pub(super) Pattern<4>);

impl RowTemplate {
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
pub struct CallDelta {
    /// [`Call::start`].
    pub start: i64,
    /// [`Call::duration`].
    pub duration: i64,
    /// [`Call::correlation`].
    pub correlation: i64,
}

impl CallDelta {
    /// In the order of [`CALL_COLUMNS_OF_ITS_OWN`].
    #[inline]
    pub(super) fn numbers(self) -> [i64; 3] {
        [self.start, self.duration, self.correlation]
    }
}

/// One duration of each width that calls may have: up to 127 ns, 32 us, 8 ms and 2 s.
const DURATIONS: [i64; 4] = [0x7f, 0x7fff, 0x7f_ffff, 0x7fff_ffff];

/// What calls have in common that differ in [`CallDelta`] numbers only, as [`RowTemplate`]; but a duration may take as many bytes
/// as it needs, because that changes from call to call.
#[derive(Debug, Clone)]
pub struct CallTemplate([Pattern<3>; DURATIONS.len()]);

impl CallTemplate {
    /// Calls like this one, however long they take. None where a number is negative, or its row is longer than usual.
    pub fn of(call: &Call) -> Option<Self> {
        let mut record = Record::new();
        let mut pattern = |duration| {
            let call = Call { duration: Some(duration), ..*call };
            Pattern::of(record.integers(&call_row(&call)), CALL_COLUMNS_OF_ITS_OWN)
        };
        let [one, two, three, four] = DURATIONS.map(&mut pattern);
        Some(Self([one?, two?, three?, four?]))
    }

    /// What a call of these numbers is written by, if it is like them.
    #[inline]
    pub(super) fn pattern(&self, numbers: &[i64; 3]) -> Option<&Pattern<3>> {
        let width = DURATIONS.iter().position(|&most| numbers[1] <= most)?;
        Some(&self.0[width]).filter(|pattern| pattern.fits(numbers))
    }
}
