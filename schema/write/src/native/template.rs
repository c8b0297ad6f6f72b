//! Templates of rows: an op or a call that differs from the last one in a few numbers is encoded at a fraction of the cost.

use super::layout::Table;
use super::rows::{CALL_DELTA_COLUMNS, OP_DELTA_COLUMNS};
use super::rows::{Call, Op, call_row, op_row};
use super::writer::NativeWriter;
use crate::btree::{Pattern, Record, Target};
use rtl_schema::Result;

/// The numbers of an op that differ from those of the op before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowDelta {
    /// The start in ns: [`Op::start`].
    pub start: i64,
    /// The end in ns, which must be known: [`Op::end`].
    pub end: i64,
    /// Work-items along x, of [`Op::items`].
    pub items: u64,
    /// The correlation id, 0 for unknown: [`Op::correlation`].
    pub correlation: i64,
}

/// The encoded row of an op, for ops that differ from it in their [`RowDelta`] only. It is empty at first, holds as long as
/// the numbers take as many bytes as before, and is renewed by [`NativeWriter::push_op_templated`]. Times take as many bytes
/// for 39 hours after a boot, and from then on.
#[derive(Debug, Clone, Default)]
pub struct RowTemplate(Option<Pattern<4>>);

impl RowTemplate {
    /// The template of a row. It stays empty where the end or the size is unknown, a number is negative, or the row is too
    /// long.
    fn new(op: &Op) -> Self {
        if op.end.is_none() || op.items.is_none() {
            // Else 0 would stand for them.
            return Self(None);
        }
        Self(Pattern::of(Record::new().integers(&op_row(op)), OP_DELTA_COLUMNS))
    }
}

/// The numbers of a call that differ from those of the call before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallDelta {
    /// The start in ns: [`Call::start`].
    pub start: i64,
    /// The duration in ns, which must be known: [`Call::duration`].
    pub duration: i64,
    /// The correlation id, 0 for unknown: [`Call::correlation`].
    pub correlation: i64,
}

/// One duration of each width that calls may have: up to 127 ns, 32 us, 8 ms and 2 s.
const DURATIONS: [i64; 4] = [0x7f, 0x7fff, 0x7f_ffff, 0x7fff_ffff];

/// The encoded row of a call, for calls that differ from it in their [`CallDelta`] only, as [`RowTemplate`]; but a duration
/// may take as many bytes as it needs, because that changes from call to call.
#[derive(Debug, Clone, Default)]
pub struct CallTemplate(Option<[Pattern<3>; DURATIONS.len()]>);

impl CallTemplate {
    /// The template of a row. It stays empty where a number is negative, or the row is too long.
    fn new(call: &Call) -> Self {
        let mut record = Record::new();
        let mut pattern = |duration| {
            let call = Call { duration: Some(duration), ..*call };
            Pattern::of(record.integers(&call_row(&call)), CALL_DELTA_COLUMNS)
        };
        let [one, two, three, four] = DURATIONS.map(&mut pattern);
        Self(one.zip(two).zip(three.zip(four)).map(|((one, two), (three, four))| [one, two, three, four]))
    }

    /// The pattern that these numbers fit.
    #[inline]
    fn pattern(&self, numbers: &[i64; 3]) -> Option<&Pattern<3>> {
        let width = DURATIONS.iter().position(|&most| numbers[1] <= most)?;
        Some(&self.0.as_ref()?[width]).filter(|pattern| pattern.fits(numbers))
    }
}

impl<T: Target> NativeWriter<T> {
    /// Adds an op that differs from the one of the template in its numbers only, and returns its id. `op` makes the whole op
    /// where the template does not hold; it becomes the next template.
    ///
    /// # Errors
    /// As [`Self::push_op`].
    #[inline]
    pub fn push_op_templated(
        &mut self,
        template: &mut RowTemplate,
        delta: RowDelta,
        op: impl FnOnce() -> Op,
    ) -> Result<i64> {
        // In the order of OP_DELTA_COLUMNS.
        let RowDelta { start, end, items, correlation } = delta;
        let numbers = [start, end, items as i64, correlation];
        match template.0.as_ref().filter(|pattern| pattern.fits(&numbers)) {
            Some(pattern) => self.push_pattern(Table::Op, pattern, &numbers),
            None => self.renew_op(template, &op()),
        }
    }

    #[cold]
    fn renew_op(&mut self, template: &mut RowTemplate, op: &Op) -> Result<i64> {
        let id = self.push_op(op)?;
        *template = RowTemplate::new(op);
        Ok(id)
    }

    /// Adds a call, as [`Self::push_op_templated`] an op.
    ///
    /// # Errors
    /// As [`Self::push_call`].
    #[inline]
    pub fn push_call_templated(
        &mut self,
        template: &mut CallTemplate,
        delta: CallDelta,
        call: impl FnOnce() -> Call,
    ) -> Result<i64> {
        // In the order of CALL_DELTA_COLUMNS.
        let CallDelta { start, duration, correlation } = delta;
        let numbers = [start, duration, correlation];
        match template.pattern(&numbers) {
            Some(pattern) => self.push_pattern(Table::Api, pattern, &numbers),
            None => self.renew_call(template, &call()),
        }
    }

    #[cold]
    fn renew_call(&mut self, template: &mut CallTemplate, call: &Call) -> Result<i64> {
        let id = self.push_call(call)?;
        *template = CallTemplate::new(call);
        Ok(id)
    }
}
