//! Values by id at the cost of a vector: a hash map of every call and op would be larger than the rows.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use crate::Id;

/// Values by id, for ids that come in long runs: sessions of RPD start at `session << 32`, trimmed files
/// have holes. A run costs 16 bytes, a value its own size.
#[derive(Debug)]
pub(crate) struct IdMap<T> {
    /// The values of the first run: most maps have no other.
    dense: Vec<T>,
    /// The first id of `dense`.
    first: Id,
    runs: Vec<Run>,
    values: Vec<T>,
    /// The values of ids that came after higher ones.
    late: FxHashMap<Id, T>,
}

/// Another run than the first one.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: Id,
    offset: usize,
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self { dense: Vec::new(), first: 0, runs: Vec::new(), values: Vec::new(), late: FxHashMap::default() }
    }
}

impl<T: Copy> IdMap<T> {
    /// Adds a value. Ids should ascend, as those of a scan do. Of several values of an id, the first in order counts.
    pub(crate) fn push(&mut self, id: Id, value: T) {
        if self.is_empty() {
            self.first = id;
        }
        let (first, length) = match self.runs.last() {
            Some(run) => (run.first, self.values.len() - run.offset),
            None => (self.first, self.dense.len()),
        };
        let next = first.checked_add(length as Id);
        match next.map_or(Ordering::Less, |next| id.cmp(&next)) {
            Ordering::Less => _ = self.late.insert(id, value),
            Ordering::Equal if self.runs.is_empty() => self.dense.push(value),
            Ordering::Equal => self.values.push(value),
            Ordering::Greater => {
                self.runs.push(Run { first: id, offset: self.values.len() });
                self.values.push(value);
            }
        }
    }

    /// The value of `id`.
    #[inline(always)]
    pub(crate) fn get(&self, id: Id) -> Option<T> {
        self.dense.get(self.distance(id)).copied().or_else(|| self.elsewhere(id))
    }

    /// The value of `id`, `default` where it has none.
    #[inline(always)]
    pub(crate) fn get_or(&self, id: Id, default: T) -> T {
        match self.dense.get(self.distance(id)) {
            Some(&value) => value,
            None => self.elsewhere(id).unwrap_or(default),
        }
    }

    /// How far an id is from the first one.
    #[inline(always)]
    fn distance(&self, id: Id) -> usize {
        // No run goes on behind the largest id. So the distance of an earlier id, as an unsigned number, lies behind all values.
        id.wrapping_sub(self.first) as u64 as usize
    }

    /// The value of an id that is not in the first run.
    #[inline(never)]
    fn elsewhere(&self, id: Id) -> Option<T> {
        self.in_order(id).or_else(|| self.late.get(&id).copied())
    }

    fn in_order(&self, id: Id) -> Option<T> {
        let after = self.runs.partition_point(|run| run.first <= id);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let end = self.runs.get(after).map_or(self.values.len(), |next| next.offset);
        let distance = id.wrapping_sub(run.first) as u64 as usize;
        self.values[run.offset..end].get(distance).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.dense.is_empty() && self.values.is_empty()
    }
}

impl<T: Copy> FromIterator<(Id, T)> for IdMap<T> {
    fn from_iter<I: IntoIterator<Item = (Id, T)>>(entries: I) -> Self {
        let mut map = Self::default();
        entries.into_iter().for_each(|(id, value)| map.push(id, value));
        map
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Small ids, those of sessions, and the least and the largest there are.
    fn id() -> impl Strategy<Value = Id> {
        let begin = prop_oneof![Just(0), Just(1 << 32), Just(Id::MIN), Just(Id::MAX - 9)];
        (begin, 0_i64..10).prop_map(|(begin, number)| begin + number)
    }

    proptest! {
        #[test]
        fn ids_have_their_values_and_others_have_none(
            ids in prop::collection::vec(id(), 0..40),
            others in prop::collection::vec(id(), 20),
            is_sorted: bool,
        ) {
            let mut expected: BTreeMap<Id, usize> = BTreeMap::new();
            ids.into_iter().enumerate().for_each(|(at, id)| _ = expected.entry(id).or_insert(at));
            let mut entries: Vec<(Id, usize)> = expected.iter().map(|(&id, &at)| (id, at)).collect();
            if !is_sorted {
                entries.sort_by_key(|&(_, at)| at);
            }
            let map: IdMap<usize> = entries.into_iter().collect();
            prop_assert_eq!(map.is_empty(), expected.is_empty());
            for id in expected.keys().copied().chain(others) {
                prop_assert_eq!(map.get(id), expected.get(&id).copied(), "{}", id);
            }
        }
    }

    #[test]
    fn ids_of_several_sessions_and_with_holes_are_found() {
        let session = 1_i64 << 32;
        let ids = [1, 2, 3, 7, session + 1, session + 2, 5 * session];
        let map: IdMap<i64> = ids.iter().map(|&id| (id, id * 10)).collect();
        for id in ids {
            assert_eq!(map.get(id), Some(id * 10));
        }
        for absent in [i64::MIN, -1, 0, 4, 6, 8, session, session + 3, 5 * session + 1, i64::MAX] {
            assert_eq!(map.get(absent), None);
        }
    }

    #[test]
    fn one_run_and_no_run_answer_too() {
        let map: IdMap<u8> = [(5, 1), (6, 2)].into_iter().collect();
        assert_eq!([4, 5, 6, 7].map(|id| map.get(id)), [None, Some(1), Some(2), None]);
        assert_eq!(IdMap::<u8>::default().get(0), None);
    }

    #[test]
    fn no_run_goes_on_behind_the_largest_id() {
        for before in [None, Some((3, 0))] {
            let ids = [(Id::MAX, 1), (Id::MAX, 2)];
            let map: IdMap<u8> = before.into_iter().chain(ids).collect();
            assert_eq!([Id::MAX, Id::MIN].map(|id| map.get(id)), [Some(1), None]);
        }
    }

    #[test]
    fn ids_in_any_order_are_found_and_the_first_of_two_values_stays() {
        let map: IdMap<u8> = [(5, 1), (5, 2), (4, 3), (i64::MAX, 4), (-4, 5), (6, 6)].into_iter().collect();
        let found = [5, 4, i64::MAX, -4, 6].map(|id| map.get(id));
        assert_eq!(found, [Some(1), Some(3), Some(4), Some(5), Some(6)]);
        assert_eq!((map.get(7), map.get(-1)), (None, None));
    }
}
