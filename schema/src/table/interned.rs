use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A value of which few distinct ones exist among the rows of a trace.
pub trait Distinct: Copy + Eq + Hash {
    /// The value's place in a cache of recent values. Values that rows alternate between should differ in it.
    #[inline]
    fn slot(&self) -> usize {
        0
    }
}

impl Distinct for i64 {}
impl Distinct for Option<i64> {}

/// Distinct values, each stored once: rows have ids, which are positions.
#[derive(Debug, Clone, Default)]
pub struct Interned<T, I> {
    rows: Vec<T>,
    index: FxHashMap<T, I>,
    recent: [Option<I>; 32],
}

impl<T: Distinct, I: Copy + From<u32> + Into<u32>> Interned<T, I> {
    /// The id of `value`, which is added when it is new.
    #[inline]
    pub fn intern(&mut self, value: T) -> I {
        let slot = value.slot() % self.recent.len();
        if let Some(id) = self.recent[slot]
            && self.get(id) == value
        {
            return id;
        }
        let next = self.rows.len() as u32;
        let id = *self.index.entry(value).or_insert(I::from(next));
        if id.into() == next {
            self.rows.push(value);
        }
        self.recent[slot] = Some(id);
        id
    }

    /// The value behind `id`.
    #[inline]
    pub fn get(&self, id: I) -> T {
        self.rows[id.into() as usize]
    }

    /// All values, in the order of first appearance; an id is the position.
    pub fn rows(&self) -> &[T] {
        &self.rows
    }

    /// Adds the values of `other`; the result maps its ids to those of `self`.
    pub fn append(&mut self, other: &Self) -> Vec<I> {
        other.rows.iter().map(|&value| self.intern(value)).collect()
    }
}

impl<T: PartialEq, I> PartialEq for Interned<T, I> {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
