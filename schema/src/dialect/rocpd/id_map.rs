use rustc_hash::FxHashMap;

use crate::Id;

/// Values by id, for ids that come in long runs: sessions of RPD start at `session << 32`, trimmed files
/// have holes. A run costs 16 bytes, a value its own size.
#[derive(Debug)]
pub(crate) struct IdMap<T> {
    runs: Vec<Run>,
    values: Vec<T>,
    /// The values of ids that came after higher ones.
    late: FxHashMap<Id, T>,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    first: Id,
    offset: usize,
}

impl<T> Default for IdMap<T> {
    fn default() -> Self {
        Self { runs: Vec::new(), values: Vec::new(), late: FxHashMap::default() }
    }
}

impl<T: Copy> IdMap<T> {
    /// Adds a value. Ids should ascend, as those of a scan do. Of several values of an id, the first in order counts.
    pub(crate) fn push(&mut self, id: Id, value: T) {
        let next =
            self.runs.last().map(|run| run.first.saturating_add((self.values.len() - run.offset) as Id));
        match next {
            Some(next) if id < next => {
                self.late.insert(id, value);
                return;
            }
            Some(next) if id == next => {}
            _ => self.runs.push(Run { first: id, offset: self.values.len() }),
        }
        self.values.push(value);
    }

    /// The value of `id`.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<T> {
        self.in_order(id).or_else(|| self.late.get(&id).copied())
    }

    #[inline]
    fn in_order(&self, id: Id) -> Option<T> {
        let (run, end) = match self.runs.as_slice() {
            [only] => (only, self.values.len()),
            runs => {
                let after = runs.partition_point(|run| run.first <= id);
                let run = runs.get(after.checked_sub(1)?)?;
                (run, runs.get(after).map_or(self.values.len(), |next| next.offset))
            }
        };
        // As an unsigned number, the distance of an earlier id would lie far behind all values.
        let distance = id.wrapping_sub(run.first) as u64 as usize;
        self.values[run.offset..end].get(distance).copied().filter(|_| id >= run.first)
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
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
    use super::*;

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
    fn ids_in_any_order_are_found_and_the_first_of_two_values_stays() {
        let map: IdMap<u8> = [(5, 1), (5, 2), (4, 3), (i64::MAX, 4), (-4, 5), (6, 6)].into_iter().collect();
        let found = [5, 4, i64::MAX, -4, 6].map(|id| map.get(id));
        assert_eq!(found, [Some(1), Some(3), Some(4), Some(5), Some(6)]);
        assert_eq!((map.get(7), map.get(-1)), (None, None));
    }
}
