//! A group of ranks while members are added to it.

use super::matching::Fit;
use super::rhythm::{Label, Rhythm};

/// A group while it grows: all collectives that a member has, on the clock of the first one.
pub(super) struct Draft {
    pub(super) members: Vec<usize>,
    /// The rank of the first member, whose clock the times are of.
    pub(super) rank: usize,
    /// 0 is unknown.
    pub(super) communicator: u64,
    pub(super) rhythm: Rhythm,
    /// How often `rhythm` has changed.
    pub(super) changes: u32,
    /// By position in `rhythm`, the number of the collective.
    numbers: Vec<u32>,
    /// By number of the collective, its calls.
    collectives: Vec<Vec<(u32, u32)>>,
}

impl Draft {
    /// A group of one member.
    pub(super) fn of(at: usize, (rank, communicator): (usize, u64), rhythm: Rhythm) -> Self {
        let calls = 0..rhythm.ends.len() as u32;
        let collectives = calls.clone().map(|call| vec![(0, call)]).collect();
        let (members, numbers) = (vec![at], calls.collect());
        Self { members, rank, communicator, rhythm, changes: 0, numbers, collectives }
    }

    /// Adds a member; calls that no other member has are new collectives.
    pub(super) fn add(&mut self, at: usize, rhythm: Rhythm, found: &Fit) {
        let member = self.members.len() as u32;
        self.members.push(at);
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
                let collective = self.numbers[pair.0 as usize] as usize;
                self.collectives[collective].push((member, call as u32));
                let label = rhythm.label(call);
                if label != Label::default() && label != self.rhythm.label(pair.0 as usize) {
                    self.rhythm.labels.resize(self.rhythm.ends.len(), Label::default());
                    self.rhythm.labels[pair.0 as usize] = label;
                    has_new_labels = true;
                }
            } else {
                added.push((end.saturating_sub(lag), rhythm.label(call), self.collectives.len() as u32));
                self.collectives.push(vec![(member, call as u32)]);
            }
        }
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
        self.rhythm.ends = all.iter().map(|&(end, ..)| end).collect();
        self.rhythm.labels =
            if is_labelled { all.iter().map(|&(_, label, _)| label).collect() } else { Vec::new() };
        self.numbers = all.iter().map(|&(.., number)| number).collect();
    }

    /// The members, and the calls of each collective in the order of time.
    pub(super) fn finish(mut self) -> (Vec<usize>, Vec<Vec<(u32, u32)>>) {
        let take = |&number: &u32| std::mem::take(&mut self.collectives[number as usize]);
        let collectives = self.numbers.iter().map(take).collect();
        (self.members, collectives)
    }
}
