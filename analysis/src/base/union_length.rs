//! The length of a union of intervals.

/// The length of the union of the intervals added so far, in order of start. Times are ns after any moment before all of
/// them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnionLength {
    end: u64,
    length: u64,
}

impl UnionLength {
    /// Adds an interval whose start is not before that of any earlier one; returns how many ns it adds to the union.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64) -> u64 {
        if end <= self.end {
            return 0;
        }
        let added = end - start.max(self.end);
        self.length += added;
        self.end = end;
        added
    }

    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn length_ns(&self) -> i64 {
        to_ns(self.length)
    }
}

/// A time in ns that fits the columns: centuries are cut off.
pub(crate) fn to_ns(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// The first start in ns, from which relative times count: no sum of those overflows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin(Option<i64>);

impl Origin {
    /// The time of a start in ns after the first that was asked for.
    #[inline]
    pub(crate) fn relative(&mut self, start: i64) -> u64 {
        start.wrapping_sub(*self.0.get_or_insert(start)) as u64
    }

    /// The first start in ns; 0 without any.
    pub(crate) fn start_ns(self) -> i64 {
        self.0.unwrap_or_default()
    }
}
