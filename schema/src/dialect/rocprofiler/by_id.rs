use rustc_hash::FxHashMap;

/// How far past the last id a new one may lie and still go into the dense part.
const REACH: i64 = 1 << 16;

/// Values by id. Ids of rocprofv3 mostly count up from 1, so they index a vector; far ones are in a map.
#[derive(Debug)]
pub(super) struct ById<T> {
    vacant: T,
    near: Vec<T>,
    far: FxHashMap<i64, T>,
}

impl<T: Copy + PartialEq> ById<T> {
    /// An empty table; `vacant` is a value that no id has.
    pub(super) fn new(vacant: T) -> Self {
        Self { vacant, near: Vec::new(), far: FxHashMap::default() }
    }

    /// Sets the value of `id`.
    pub(super) fn set(&mut self, id: i64, value: T) {
        if (0..self.near.len() as i64 + REACH).contains(&id) {
            let index = id as usize;
            if index >= self.near.len() {
                self.near.resize(index + 1, self.vacant);
            }
            self.near[index] = value;
        } else {
            self.far.insert(id, value);
        }
    }

    /// The value of `id`, if it has one.
    pub(super) fn get(&self, id: i64) -> Option<T> {
        let near = usize::try_from(id).ok().and_then(|index| self.near.get(index)).copied();
        near.filter(|value| *value != self.vacant).or_else(|| self.far.get(&id).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::ById;

    #[test]
    fn near_far_and_negative_ids_are_found() {
        let mut table = ById::new(0);
        for id in [1, 2, 7, i64::MAX, -4, 1 << 40] {
            table.set(id, id);
        }
        // Comes within reach only now: far ids are still found.
        table.set(1 << 15, 5);
        for id in [1, 2, 7, i64::MAX, -4, 1 << 40] {
            assert_eq!(table.get(id), Some(id));
        }
        assert_eq!((table.get(3), table.get(0), table.get(99)), (None, None, None));
    }
}
