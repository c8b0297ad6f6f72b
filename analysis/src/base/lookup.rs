//! From ids to values, for ids that are unique within a space.

/// A value for each id that has one.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// Ids are dense: a table from the first of them; 0 is no value, else the value plus one.
    Table { first: i64, values: Vec<u32> },
    /// Ids are far apart: sorted pairs.
    Sorted(Vec<(i64, u32)>),
}

impl Lookup {
    /// Takes pairs of id and value; of several with one id the first counts. Id 0 means unknown and is left out.
    pub(crate) fn of(pairs: Vec<(i64, u32)>) -> Self {
        Self::choosing(pairs, |_, _| false)
    }

    /// As [`Self::of`], but of several values with one id it keeps the first that no other `precedes`.
    pub(crate) fn choosing(mut pairs: Vec<(i64, u32)>, precedes: impl Fn(u32, u32) -> bool) -> Self {
        pairs.retain(|&(id, _)| id != 0);
        let ids = || pairs.iter().map(|&(id, _)| id);
        let (Some(first), Some(last)) = (ids().min(), ids().max()) else {
            return Self::Sorted(pairs);
        };
        match usize::try_from(last.saturating_sub(first)) {
            Ok(span) if span / 4 <= pairs.len() => {
                let mut values = vec![0; span + 1];
                for (id, value) in pairs {
                    let place: &mut u32 = &mut values[(id - first) as usize];
                    if *place == 0 || precedes(value, *place - 1) {
                        *place = value + 1;
                    }
                }
                Self::Table { first, values }
            }
            _ => {
                pairs.sort_by_key(|&(id, _)| id);
                pairs.dedup_by(|later, kept| {
                    let is_same = later.0 == kept.0;
                    if is_same && precedes(later.1, kept.1) {
                        kept.1 = later.1;
                    }
                    is_same
                });
                Self::Sorted(pairs)
            }
        }
    }

    /// The lowest id.
    pub(crate) fn first(&self) -> Option<i64> {
        match self {
            Self::Table { first, .. } => Some(*first),
            Self::Sorted(pairs) => pairs.first().map(|&(id, _)| id),
        }
    }

    #[inline]
    pub(crate) fn get(&self, id: i64) -> Option<u32> {
        match self {
            Self::Table { first, values } => {
                let position = usize::try_from(id.checked_sub(*first)?).ok()?;
                values.get(position)?.checked_sub(1)
            }
            Self::Sorted(pairs) => {
                pairs.binary_search_by_key(&id, |&(id, _)| id).ok().map(|position| pairs[position].1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_ids_are_found_and_others_are_not() {
        for ids in [vec![7, 5, 6], vec![i64::MIN, 5 << 40, -3], vec![9]] {
            let lookup = Lookup::of(ids.iter().copied().zip(0..).collect());
            for (position, &id) in ids.iter().enumerate() {
                assert_eq!(lookup.get(id), Some(position as u32));
            }
            assert_eq!((lookup.get(0), lookup.get(8), lookup.get(i64::MAX)), (None, None, None));
        }
        assert_eq!(Lookup::of(vec![(0, 1)]).get(0), None);
    }

    #[test]
    fn of_several_values_the_first_one_counts_or_the_one_that_precedes_the_others() {
        for far in [5, 5 << 40] {
            let pairs = vec![(4, 1), (far, 7), (4, 3), (4, 2)];
            assert_eq!(Lookup::of(pairs.clone()).get(4), Some(1));
            let greatest = Lookup::choosing(pairs, |one, other| one > other);
            assert_eq!((greatest.get(4), greatest.get(far)), (Some(3), Some(7)));
        }
    }
}
