//! Places each sequence of collectives in a group, or in a new one.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::anchors::LEAST;
use super::differences::Differences;
use super::draft::Draft;
use super::matching::{self, Fit};
use super::rhythm::{Lag, Rhythm};
use super::sequence::Sequence;
use crate::base::parallel;

/// Kinds, and sequences of a kind, for each thread that are placed at a time.
const AHEAD: usize = 4;

/// How many times as many kinds, or sequences of a kind, are placed ahead after all of some were placed for good: the first
/// ones relate clocks most often.
const GROWTH: usize = 4;

/// Sequences are placed ahead of their turn as long as at most one comparison in this number is made again.
const WORTH: usize = 4;

/// Comparing fewer calls takes less time than starting threads.
const PARALLEL: usize = 20_000;

/// A bound for the sequences of one kind, as a multiple: calls times members, of which most are compared with few others.
const MANY: usize = 50;

/// Groups of all sequences, those without a partner among them.
pub(super) fn drafts(sequences: &[Sequence], differences: &mut Differences) -> Vec<Draft> {
    let calls: usize = sequences.iter().map(|sequence| sequence.calls.len()).sum();
    let information = |sequence: &Sequence| sequence.rhythm().information();
    let of_batch = |batch: &[Sequence]| batch.iter().map(information).collect::<Vec<_>>();
    let informations = match calls > PARALLEL {
        true => threads::map(sequences.chunks(parallel::batch(sequences.len())), of_batch).concat(),
        false => sequences.iter().map(information).collect(),
    };
    let mut kinds: BTreeMap<u64, (f64, Vec<usize>)> = BTreeMap::new();
    for (at, (sequence, own)) in sequences.iter().zip(informations).enumerate() {
        let (information, members) = kinds.entry(sequence.kind).or_default();
        *information = information.max(own);
        members.push(at);
    }
    let mut kinds: Vec<(f64, Vec<usize>)> = kinds.into_values().collect();
    // What tells most comes first: it relates the clocks for the others.
    kinds.sort_by(|one, other| other.0.total_cmp(&one.0));
    let kinds: Vec<Vec<usize>> = kinds.into_iter().map(|(_, members)| members).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    let mut left = kinds.as_slice();
    // Several kinds at a time are placed as if each were the next one: most kinds change nothing for those behind them.
    let most = if calls > PARALLEL && threads::limit() > 1 { AHEAD * threads::limit() } else { 1 };
    let mut ahead = 1;
    while !left.is_empty() {
        let next = &left[..ahead.min(left.len())];
        let known = differences.related();
        // Most kinds relate no clocks, and take no copy of what is known of thousands of them.
        let placed = threads::map(next, |members| {
            let mut differences = Cow::Borrowed(&*differences);
            let of_kind = drafts_of_kind(sequences, members, &mut differences);
            (of_kind, if let Cow::Owned(changed) = differences { Some(changed) } else { None })
        });
        let mut taken = 0;
        for (of_kind, changed) in placed {
            // What comes behind a kind that has related clocks is placed again, with them.
            if differences.related() != known {
                break;
            }
            drafts.extend(of_kind);
            *differences = changed.unwrap_or_else(|| std::mem::take(differences));
            taken += 1;
        }
        ahead = most.min(if taken == next.len() { GROWTH * taken } else { 2 * taken });
        left = &left[taken..];
    }
    drafts
}

fn drafts_of_kind(
    sequences: &[Sequence],
    members: &[usize],
    differences: &mut Cow<'_, Differences>,
) -> Vec<Draft> {
    let mut members = members.to_vec();
    members.sort_by_key(|&at| (sequences[at].rank, at));
    let calls: usize = members.iter().map(|&at| sequences[at].calls.len()).sum();
    let is_long = calls * members.len() > PARALLEL * MANY;
    let most = if is_long && threads::limit() > 1 { AHEAD * threads::limit() } else { 1 };
    let mut drafts = Drafts::default();
    let mut left = members.as_slice();
    // Several sequences at a time are compared with the drafts as if each were the next one: most change few drafts.
    let mut ahead = 1;
    while !left.is_empty() {
        let (next, rest) = left.split_at(ahead.min(left.len()));
        left = rest;
        let mut guesses =
            threads::map(next, |&at| Guess::new(at, &sequences[at], &drafts, differences, sequences));
        compare_new(&mut guesses, differences, sequences);
        let compared: usize = guesses.iter().map(|guess| guess.candidates.len()).sum();
        let place = |guess| place(sequences, guess, &mut drafts, differences);
        let again: usize = guesses.into_iter().map(place).sum();
        ahead = if again * WORTH <= compared { most.min(GROWTH * ahead) } else { 1 };
    }
    drafts.all
}

/// The drafts of one kind, by what decides which of them a sequence may belong to: of thousands of ranks most cannot.
#[derive(Default)]
struct Drafts {
    all: Vec<Draft>,
    /// Positions of open ones, ascending, by communicator.
    open: FxHashMap<u64, Vec<usize>>,
    /// Positions by the rank of the first member, ascending.
    of_rank: FxHashMap<usize, Vec<usize>>,
}

/// Returns whether a match needs no difference of clocks: enough calls have a rhythm, and labels may number them.
fn is_open(rhythm: &Rhythm) -> bool {
    rhythm.len() > LEAST || !rhythm.labels.is_empty()
}

impl Drafts {
    fn push(&mut self, draft: Draft) {
        let position = self.all.len();
        self.of_rank.entry(draft.rank).or_default().push(position);
        if is_open(&draft.rhythm) {
            self.open.entry(draft.communicator).or_default().push(position);
        }
        self.all.push(draft);
    }

    /// Adds a sequence to the draft at a position.
    fn add(&mut self, position: usize, sequence: &Sequence, (at, rhythm, found): (usize, Rhythm, &Fit)) {
        let draft = &mut self.all[position];
        let key = |draft: &Draft| is_open(&draft.rhythm).then_some(draft.communicator);
        let before = key(draft);
        draft.communicator = draft.communicator.max(sequence.communicator);
        draft.add(at, rhythm, found);
        let after = key(draft);
        if before != after {
            if let Some(positions) = before.and_then(|communicator| self.open.get_mut(&communicator)) {
                positions.retain(|&other| other != position);
            }
            if let Some(communicator) = after {
                let positions = self.open.entry(communicator).or_default();
                positions.insert(positions.partition_point(|&other| other < position), position);
            }
        }
    }

    /// The drafts that a sequence may belong to, by position.
    fn candidates(
        &self,
        sequence: &Sequence,
        rhythm: &Rhythm,
        differences: &Differences,
        sequences: &[Sequence],
    ) -> Vec<Candidate> {
        let mut positions: Vec<usize> = Vec::new();
        if is_open(rhythm) {
            match sequence.communicator {
                0 => positions.extend(self.open.values().flatten()),
                own => positions.extend([own, 0].iter().filter_map(|key| self.open.get(key)).flatten()),
            }
        }
        let related = differences.related_to(sequence.rank);
        if related.len() < self.all.len() {
            positions.extend(related.iter().filter_map(|rank| self.of_rank.get(rank)).flatten());
        } else {
            let is_related = |&at: &usize| differences.between(self.all[at].rank, sequence.rank).is_some();
            positions.extend((0..self.all.len()).filter(is_related));
        }
        positions.sort_unstable();
        positions.dedup();
        let candidate = |position: usize| {
            let draft = &self.all[position];
            let last = draft.members.last().map_or(draft.rank, |&last| sequences[last].rank);
            let may_join = may_join((last, draft.communicator), sequence);
            let known = differences.between(draft.rank, sequence.rank);
            may_join.then_some(Candidate { position, changes: draft.changes, known })
        };
        positions.into_iter().filter_map(candidate).collect()
    }
}

/// A draft that a sequence may belong to, as it was when they were compared.
#[derive(Debug, PartialEq)]
struct Candidate {
    position: usize,
    changes: u32,
    known: Option<Lag>,
}

/// Where a sequence belongs if the candidates are still the same when it is placed.
struct Guess {
    /// Position of the sequence.
    at: usize,
    rhythm: Rhythm,
    candidates: Vec<Candidate>,
    /// Fits of the drafts in step, with their positions.
    fits: Vec<(usize, Fit)>,
    /// How earlier sequences without a draft fit it.
    peers: Vec<Peer>,
}

/// How a sequence fits another one, should that begin a draft.
struct Peer {
    at: usize,
    known: Option<Lag>,
    fit: Option<Fit>,
}

impl Guess {
    fn new(
        at: usize,
        sequence: &Sequence,
        drafts: &Drafts,
        differences: &Differences,
        sequences: &[Sequence],
    ) -> Self {
        let rhythm = sequence.rhythm();
        let candidates = drafts.candidates(sequence, &rhythm, differences, sequences);
        let fits = fits(&rhythm, &candidates, &drafts.all);
        Self { at, rhythm, candidates, fits, peers: Vec::new() }
    }

    /// Returns how the sequence fits, if it was compared with a draft as it is now.
    fn known(&mut self, candidate: &Candidate, draft: &Draft) -> Option<Option<Fit>> {
        let of = |position: &usize| position.cmp(&candidate.position);
        if let Ok(at) = self.candidates.binary_search_by(|other| of(&other.position)) {
            let fit = |fits: &mut Vec<(usize, Fit)>| {
                let at = fits.binary_search_by(|(position, _)| of(position)).ok()?;
                Some(std::mem::take(&mut fits[at].1))
            };
            return (self.candidates[at] == *candidate).then(|| fit(&mut self.fits));
        }
        let is_same = |peer: &&mut Peer| draft.members == [peer.at] && candidate.known == peer.known;
        self.peers.iter_mut().find(is_same).map(|peer| peer.fit.take())
    }
}

/// Compares the sequences that belong to no draft with each other: each of them may begin one.
fn compare_new(guesses: &mut [Guess], differences: &Differences, sequences: &[Sequence]) {
    let new: Vec<&Guess> = guesses.iter().filter(|guess| guess.fits.is_empty()).collect();
    // The last one is compared with most others, so it begins first.
    let mut peers = threads::map((0..new.len()).rev(), |number| {
        let (own, sequence) = (new[number], &sequences[new[number].at]);
        let peer = |other: &&Guess| {
            let first = &sequences[other.at];
            let known = differences.between(first.rank, sequence.rank);
            let may_match = known.is_some() || is_open(&other.rhythm) && is_open(&own.rhythm);
            (may_match && may_join((first.rank, first.communicator), sequence)).then(|| {
                let fit = matching::fit(&other.rhythm, &own.rhythm, known.as_ref());
                Peer { at: other.at, known, fit }
            })
        };
        new[..number].iter().filter_map(peer).collect()
    });
    peers.reverse();
    let new = guesses.iter_mut().filter(|guess| guess.fits.is_empty());
    new.zip(peers).for_each(|(guess, peers)| guess.peers = peers);
}

/// Returns whether a sequence may belong to a draft whose last member is of that rank.
fn may_join((last, communicator): (usize, u64), sequence: &Sequence) -> bool {
    let communicators = [communicator, sequence.communicator];
    last != sequence.rank && (communicators.contains(&0) || communicators[0] == communicators[1])
}

/// Returns the fits of drafts in step, with their positions: two groups of one rank may be nearly in step with each other.
fn fits(rhythm: &Rhythm, candidates: &[Candidate], drafts: &[Draft]) -> Vec<(usize, Fit)> {
    let fit = |candidate: &Candidate| {
        let found = matching::fit(&drafts[candidate.position].rhythm, rhythm, candidate.known.as_ref());
        found.map(|found| (candidate.position, found))
    };
    match candidates.len() * rhythm.len() > PARALLEL {
        true => {
            let of_batch = |batch: &[Candidate]| batch.iter().filter_map(fit).collect::<Vec<_>>();
            threads::map(candidates.chunks(parallel::batch(candidates.len())), of_batch).concat()
        }
        false => candidates.iter().filter_map(fit).collect(),
    }
}

/// Adds a sequence to the best of the drafts of its kind, of equal ones the first, or to a new one. How many of them have
/// changed since they were compared with it.
fn place(
    sequences: &[Sequence],
    mut guess: Guess,
    drafts: &mut Drafts,
    differences: &mut Cow<'_, Differences>,
) -> usize {
    let sequence = &sequences[guess.at];
    let (mut all, mut again) = (Vec::new(), Vec::new());
    for candidate in drafts.candidates(sequence, &guess.rhythm, differences, sequences) {
        match guess.known(&candidate, &drafts.all[candidate.position]) {
            Some(fit) => all.extend(fit.map(|fit| (candidate.position, fit))),
            None => again.push(candidate),
        }
    }
    all.extend(fits(&guess.rhythm, &again, &drafts.all));
    all.sort_by_key(|&(position, _)| position);
    let best = all.into_iter().reduce(|best, next| if next.1.loss < best.1.loss { next } else { best });
    match best {
        Some((position, found)) => {
            let rank = drafts.all[position].rank;
            if let Some(lag) = found.lag.filter(|_| differences.between(rank, sequence.rank).is_none()) {
                differences.to_mut().relate(rank, sequence.rank, lag);
            }
            drafts.add(position, sequence, (guess.at, guess.rhythm, &found));
        }
        None => drafts.push(Draft::new(guess.at, (sequence.rank, sequence.communicator), guess.rhythm)),
    }
    again.len()
}

#[cfg(test)]
mod tests {
    use super::super::rhythm::Label;
    use super::*;
    use crate::base::random::Random;

    /// How many drafts a sequence of each of `ranks` ranks gives, and how many pairs of them are compared. Each has this number of
    /// calls at times of its own; `members` is the number of ranks that share a communicator, if any do, and number their calls.
    fn placed(ranks: usize, calls: usize, members: Option<usize>) -> (usize, usize) {
        let mut random = Random::new(7);
        let sequence = |rank: usize| {
            let mut now = 0;
            let end = |_| {
                now += 1_000_000 + random.below(50_000_000) as i64;
                (now - 1_000, now)
            };
            let communicator = members.map_or(0, |members| 1 + (rank / members) as u64);
            let numbers = 1..=calls as u32;
            let labels = numbers.map(|number| Label { tag: 1, number }).filter(|_| members.is_some());
            let labels = labels.collect();
            Sequence {
                rank,
                communicator,
                calls: (0..calls).map(end).collect(),
                labels,
                ..Sequence::default()
            }
        };
        let sequences: Vec<Sequence> = (0..ranks).map(sequence).collect();
        matching::COMPARED.set(0);
        let drafts = drafts(&sequences, &mut Differences::new(ranks));
        (drafts.len(), matching::COMPARED.get())
    }

    #[test]
    fn ranks_of_a_communicator_are_compared_with_its_draft_alone() {
        for ranks in [80, 800] {
            let (drafts, compared) = placed(ranks, 5, Some(8));
            // Threads may compare some of them twice.
            assert!(
                drafts == ranks / 8 && compared <= 2 * ranks,
                "{ranks} ranks: {drafts} drafts, {compared}"
            );
        }
    }

    #[test]
    fn ranks_with_too_few_calls_for_a_rhythm_are_compared_with_none() {
        assert_eq!(placed(2_000, LEAST, None), (2_000, 0));
        // The counter counts: enough calls are compared with those of all others.
        assert_eq!(placed(20, LEAST + 1, None), (20, 20 * 19 / 2));
    }
}
