//! First times: an operator or a call is compared with the others of its name. The question is asked
//! in long gaps only, so the answer for a name is found when it is first asked.

use std::sync::{Mutex, PoisonError};

use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

/// A first time takes at least this many times as long as usual.
const MANY: u64 = 5;

/// The answer to the question if something is done for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FirstTime {
    /// It is the first one of its name and shapes, and takes much longer than one that is not the first.
    Yes,
    /// It takes about as long as the others.
    No,
    /// There is nothing to compare it with, or another reason for its length.
    #[default]
    Unknown,
}

/// The operators, or the calls, of one name.
#[derive(Debug, Default)]
struct Instances {
    /// The starts in ns of those whose shapes come for the first time.
    firsts: FxHashSet<i64>,
    /// The median time in ns of the others; `None` where there are none.
    usual: Option<u64>,
}

/// The names that were asked for so far.
#[derive(Debug, Default)]
pub(super) struct FirstTimes {
    operators: Mutex<FxHashMap<(ProcessId, NameId), Instances>>,
    calls: Mutex<FxHashMap<(ProcessId, NameId), Instances>>,
}

impl FirstTimes {
    /// The answer for an operator, or for a range that stands for one, from `start` on for `ns`.
    pub(super) fn of_operator(
        &self,
        tables: &Tables,
        key: (ProcessId, NameId),
        start: i64,
        ns: u64,
    ) -> FirstTime {
        let mut known = self.operators.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert_with(|| Instances::of_operators(tables, key)).first_time(start, ns)
    }

    /// The answer for a call.
    pub(super) fn of_call(
        &self,
        tables: &Tables,
        key: (ProcessId, NameId),
        start: i64,
        ns: u64,
    ) -> FirstTime {
        let mut known = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(key).or_insert_with(|| Instances::of_calls(tables, key)).first_time(start, ns)
    }
}

impl Instances {
    fn of_operators(tables: &Tables, (process, name): (ProcessId, NameId)) -> Self {
        let operators = &tables.operators;
        let named = (0..operators.len()).filter(|&row| operators.name[row] == name);
        let of_operators = named
            .filter(|&row| operators.process.get(row) == process)
            .map(|row| (operators.start[row], operators.duration.valid(row), operators.shapes.get(row)));
        let ranges = tables.ranges.iter().filter(|range| range.name == name && range.process == process);
        let of_ranges = ranges.map(|range| (range.start, range.duration, NameId::NONE));
        Self::new(of_operators.chain(of_ranges).collect())
    }

    fn of_calls(tables: &Tables, (process, name): (ProcessId, NameId)) -> Self {
        let calls = &tables.api_calls;
        let named = (0..calls.len()).filter(|&row| calls.name[row] == name);
        let rows = named.filter(|&row| calls.process.get(row) == process);
        Self::new(rows.map(|row| (calls.start[row], calls.duration.valid(row), NameId::NONE)).collect())
    }

    /// Of starts and durations in ns, and shapes.
    fn new(rows: Vec<(i64, Option<i64>, NameId)>) -> Self {
        let mut firsts: FxHashMap<NameId, i64> = FxHashMap::default();
        for &(start, _, shapes) in &rows {
            let first = firsts.entry(shapes).or_insert(start);
            *first = start.min(*first);
        }
        let firsts: FxHashSet<i64> = firsts.into_values().collect();
        let others = rows.into_iter().filter(|(start, ..)| !firsts.contains(start));
        let mut others: Vec<u64> =
            others.map(|(_, duration, _)| duration.unwrap_or(0).max(0) as u64).collect();
        let middle = others.len() / 2;
        let usual = (!others.is_empty()).then(|| *others.select_nth_unstable(middle).1);
        Self { firsts, usual }
    }

    fn first_time(&self, start: i64, ns: u64) -> FirstTime {
        match self.usual {
            None => FirstTime::Unknown,
            Some(usual) if ns < usual.saturating_mul(MANY) => FirstTime::No,
            Some(_) if self.firsts.contains(&start) => FirstTime::Yes,
            Some(_) => FirstTime::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instances of `(duration, shape)`, one after the other.
    fn instances(rows: &[(i64, u32)]) -> Instances {
        let row = |(at, &(duration, shape)): (usize, &(i64, u32))| (at as i64, Some(duration), NameId(shape));
        Instances::new(rows.iter().enumerate().map(row).collect())
    }

    #[test]
    fn a_first_time_takes_much_longer_than_the_others() {
        let once = instances(&[(900, 0), (10, 0), (12, 0), (700, 0)]);
        assert_eq!(once.first_time(0, 900), FirstTime::Yes);
        assert_eq!(once.first_time(1, 10), FirstTime::No);
        assert_eq!(once.first_time(3, 700), FirstTime::Unknown, "a later one");
        let equal = instances(&[(900, 0), (880, 0)]);
        assert_eq!(equal.first_time(0, 900), FirstTime::No);
        assert_eq!(instances(&[(900, 0)]).first_time(0, 900), FirstTime::Unknown, "the only one");
    }

    #[test]
    fn each_shape_has_a_first_time() {
        let tuned = instances(&[(900, 0), (10, 0), (800, 1), (700, 2)]);
        for (start, ns) in [(0, 900), (2, 800), (3, 700)] {
            assert_eq!(tuned.first_time(start, ns), FirstTime::Yes, "{start}");
        }
        let new = instances(&[(900, 0), (800, 1)]);
        assert_eq!(new.first_time(1, 800), FirstTime::Unknown, "no shape comes back");
    }
}
