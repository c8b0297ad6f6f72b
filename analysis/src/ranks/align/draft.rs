//! A group of ranks while members are added to it.

use super::call_lists::CallLists;
use super::matching::Fit;
use super::rhythm::{Label, Rhythm};

/// A group while it grows: all collectives that a member has, on the clock of the first one.
pub(super) struct Draft {
    pub(super) members: Vec<usize>,
    /// The rank of the first member, whose clock the times are of.
    pub(super) rank: usize,
    /// Hash of the communicator; 0 is unknown.
    pub(super) communicator: u64,
    pub(super) rhythm: Rhythm,
    /// How often `rhythm` has changed.
    pub(super) changes: u32,
    /// Indexed by position in `rhythm`: the number of the collective.
    numbers: Vec<u32>,
    /// Indexed by member and call: the number of the collective.
    numbers_of: Vec<Vec<u32>>,
}

impl Draft {
    pub(super) fn new(at: usize, (rank, communicator): (usize, u64), rhythm: Rhythm) -> Self {
        let numbers: Vec<u32> = (0..rhythm.ends.len() as u32).collect();
        let numbers_of = vec![numbers.clone()];
        Self { members: vec![at], rank, communicator, rhythm, changes: 0, numbers, numbers_of }
    }

    /// Adds a member; calls that no other member has are new collectives.
    pub(super) fn add(&mut self, at: usize, rhythm: Rhythm, found: &Fit) {
        self.members.push(at);
        let mut numbers = Vec::with_capacity(rhythm.ends.len());
        let mut added: Vec<(i64, Label, u32)> = Vec::new();
        let mut has_new_labels = false;
        let mut pairs = found.pairs.iter().peekable();
        let of = |&(first, second): &(u32, u32)| {
            rhythm.ends[second as usize].saturating_sub(self.rhythm.ends[first as usize])
        };
        let mut lag = found.pairs.first().map_or(0, of);
        for (call, &end) in rhythm.ends.iter().enumerate() {
            if let Some(pair) = pairs.next_if(|pair| pair.1 as usize == call) {
                lag = of(pair);
                numbers.push(self.numbers[pair.0 as usize]);
                let label = rhythm.label(call);
                if label != Label::default() && label != self.rhythm.label(pair.0 as usize) {
                    self.rhythm.labels.resize(self.rhythm.ends.len(), Label::default());
                    self.rhythm.labels[pair.0 as usize] = label;
                    has_new_labels = true;
                }
            } else {
                let number = (self.numbers.len() + added.len()) as u32;
                numbers.push(number);
                added.push((end.saturating_sub(lag), rhythm.label(call), number));
            }
        }
        self.numbers_of.push(numbers);
        self.changes += u32::from(has_new_labels || !added.is_empty());
        if !added.is_empty() {
            self.insert(&added);
        }
    }

    fn insert(&mut self, added: &[(i64, Label, u32)]) {
        let known = std::mem::take(&mut self.rhythm);
        let numbers = std::mem::take(&mut self.numbers);
        let is_labelled =
            !known.labels.is_empty() || added.iter().any(|(_, label, _)| *label != Label::default());
        let known = (0..known.ends.len()).map(|at| (known.ends[at], known.label(at), numbers[at]));
        let mut all: Vec<(i64, Label, u32)> = known.chain(added.iter().copied()).collect();
        all.sort_by_key(|&(end, ..)| end);
        let ends = all.iter().map(|&(end, ..)| end).collect();
        let labels = if is_labelled { all.iter().map(|&(_, label, _)| label).collect() } else { Vec::new() };
        self.rhythm = Rhythm::new(ends, labels);
        self.numbers = all.iter().map(|&(.., number)| number).collect();
    }

    /// The members, and the calls of each collective in the order of time.
    pub(super) fn finish(self) -> (Vec<usize>, CallLists) {
        let mut position_of = vec![0_u32; self.numbers.len()];
        for (position, &number) in (0..).zip(&self.numbers) {
            position_of[number as usize] = position;
        }
        (self.members, CallLists::new(&position_of, &self.numbers_of))
    }
}
