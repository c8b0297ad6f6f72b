//! Places each sequence of collectives in a group, or in a new one.

use std::collections::BTreeMap;

use super::differences::Differences;
use super::draft::Draft;
use super::matching::{self, Fit};
use super::rhythm::{Lag, Rhythm};
use super::sequence::Sequence;
use crate::few;

/// Parts of the candidates for each thread.
const SHARES: usize = 2;

/// Kinds, and sequences of a kind, for each thread that are placed at a time.
const AHEAD: usize = 4;

/// Comparing fewer calls takes less time than starting threads.
const PARALLEL: usize = 20_000;

/// Groups of all sequences, those without a partner among them.
pub(super) fn drafts(sequences: &[Sequence], differences: &mut Differences) -> Vec<Draft> {
    let calls: usize = sequences.iter().map(|sequence| sequence.calls.len()).sum();
    let information = |sequence: &Sequence| sequence.rhythm().information();
    let informations = match calls > PARALLEL {
        true => threads::map(sequences, information),
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
    few::sort_by(&mut kinds, |one, other| other.0.total_cmp(&one.0));
    let kinds: Vec<Vec<usize>> = kinds.into_iter().map(|(_, members)| members).collect();
    let mut drafts: Vec<Draft> = Vec::new();
    let mut left = kinds.as_slice();
    // Several kinds at a time are placed as if each were the next one: most kinds change nothing for those behind them.
    let most = if calls > PARALLEL && threads::limit() > 1 { AHEAD * threads::limit() } else { 1 };
    let mut ahead = 1;
    while !left.is_empty() {
        let (next, rest) = left.split_at(ahead.min(left.len()));
        left = rest;
        let known = differences.related();
        let placed = threads::map(next, |members| {
            let mut differences = differences.clone();
            (drafts_of_kind(sequences, members, &mut differences), differences)
        });
        for (members, placed) in next.iter().zip(placed) {
            match differences.related() == known {
                true => {
                    drafts.extend(placed.0);
                    *differences = placed.1;
                }
                false => drafts.extend(drafts_of_kind(sequences, members, differences)),
            }
        }
        ahead = if differences.related() == known { most } else { 1 };
    }
    drafts
}

/// The drafts of the sequences of one kind.
fn drafts_of_kind(sequences: &[Sequence], members: &[usize], differences: &mut Differences) -> Vec<Draft> {
    let mut members = members.to_vec();
    members.sort_by_key(|&at| (sequences[at].rank, at));
    let calls: usize = members.iter().map(|&at| sequences[at].calls.len()).sum();
    let most = if calls > PARALLEL && threads::limit() > 1 { AHEAD * threads::limit() } else { 1 };
    let mut drafts = Vec::new();
    let mut left = members.as_slice();
    // Several sequences at a time are compared with the drafts as if each were the next one: most change no draft.
    let mut ahead = 1;
    while !left.is_empty() {
        let (next, rest) = left.split_at(ahead.min(left.len()));
        left = rest;
        let mut guesses =
            threads::map(next, |&at| Guess::of(at, &sequences[at], &drafts, differences, sequences));
        compare_new(&mut guesses, differences, sequences);
        let mut are_right = true;
        for guess in guesses {
            are_right &= place(sequences, guess, &mut drafts, differences);
        }
        ahead = if are_right { most.min(2 * ahead) } else { 1 };
    }
    drafts
}

/// A draft that a sequence may belong to, as it was when they were compared.
#[derive(Debug, PartialEq)]
struct Candidate {
    position: usize,
    changes: u32,
    /// The difference of their clocks.
    known: Option<Lag>,
}

/// Where a sequence belongs if the candidates are still the same when it is placed.
struct Guess {
    /// The sequence.
    at: usize,
    rhythm: Rhythm,
    candidates: Vec<Candidate>,
    best: Option<(Fit, usize)>,
    /// What those before it that belong to no draft have in common with it.
    peers: Vec<Peer>,
}

/// How a sequence fits another one, should that begin a draft.
struct Peer {
    at: usize,
    known: Option<Lag>,
    fit: Option<Fit>,
}

impl Guess {
    fn of(
        at: usize,
        sequence: &Sequence,
        drafts: &[Draft],
        differences: &Differences,
        sequences: &[Sequence],
    ) -> Self {
        let rhythm = sequence.rhythm();
        let candidates = candidates(sequence, drafts, differences, sequences);
        let best = best(&rhythm, &candidates, drafts);
        Self { at, rhythm, candidates, best, peers: Vec::new() }
    }

    /// How the sequence fits a draft that has begun since.
    fn fit(&self, candidate: &Candidate, draft: &Draft) -> Option<Fit> {
        let is_same = |peer: &&Peer| draft.members == [peer.at] && candidate.known == peer.known;
        match self.peers.iter().find(is_same) {
            Some(peer) => peer.fit.clone(),
            None => matching::fit(&draft.rhythm, &self.rhythm, candidate.known.as_ref()),
        }
    }
}

/// Compares the sequences that belong to no draft with each other: each of them may begin one.
fn compare_new(guesses: &mut [Guess], differences: &Differences, sequences: &[Sequence]) {
    let new: Vec<&Guess> = guesses.iter().filter(|guess| guess.best.is_none()).collect();
    let peers = threads::map(0..new.len(), |number| {
        let (own, sequence) = (new[number], &sequences[new[number].at]);
        let peer = |other: &&Guess| {
            let first = &sequences[other.at];
            may_join((first.rank, first.communicator), sequence).then(|| {
                let known = differences.between(first.rank, sequence.rank);
                let fit = matching::fit(&other.rhythm, &own.rhythm, known.as_ref());
                Peer { at: other.at, known, fit }
            })
        };
        new[..number].iter().filter_map(peer).collect()
    });
    let new = guesses.iter_mut().filter(|guess| guess.best.is_none());
    new.zip(peers).for_each(|(guess, peers)| guess.peers = peers);
}

/// Whether a sequence may belong to a draft whose last member is of that rank.
fn may_join((last, communicator): (usize, u64), sequence: &Sequence) -> bool {
    let communicators = [communicator, sequence.communicator];
    last != sequence.rank && (communicators.contains(&0) || communicators[0] == communicators[1])
}

fn candidates(
    sequence: &Sequence,
    drafts: &[Draft],
    differences: &Differences,
    sequences: &[Sequence],
) -> Vec<Candidate> {
    let is_candidate = |(_, draft): &(usize, &Draft)| {
        let last = draft.members.last().map_or(draft.rank, |&last| sequences[last].rank);
        may_join((last, draft.communicator), sequence)
    };
    let candidate = |(position, draft): (usize, &Draft)| {
        let known = differences.between(draft.rank, sequence.rank);
        Candidate { position, changes: draft.changes, known }
    };
    drafts.iter().enumerate().filter(is_candidate).map(candidate).collect()
}

/// The best of those in step: two groups of one rank may be nearly in step with each other.
fn best(rhythm: &Rhythm, candidates: &[Candidate], drafts: &[Draft]) -> Option<(Fit, usize)> {
    let fit = |candidate: &Candidate| {
        let found = matching::fit(&drafts[candidate.position].rhythm, rhythm, candidate.known.as_ref());
        found.map(|found| (found, candidate.position))
    };
    match candidates.len() * rhythm.len() > PARALLEL {
        true => {
            // One candidate takes less time than handing it to a thread.
            let shares = candidates.chunks(candidates.len().div_ceil(SHARES * threads::limit()));
            let of_share = |share: &[Candidate]| least(share.iter().filter_map(fit));
            least(threads::map(shares, of_share).into_iter().flatten())
        }
        false => least(candidates.iter().filter_map(fit)),
    }
}

/// The one with the least loss, of equal ones the first.
fn least(fits: impl Iterator<Item = (Fit, usize)>) -> Option<(Fit, usize)> {
    fits.reduce(|best, next| if next.0.loss < best.0.loss { next } else { best })
}

/// Adds a sequence to the best of the drafts of its kind, or to a new one. Whether the guess was right, but for new drafts.
fn place(
    sequences: &[Sequence],
    guess: Guess,
    drafts: &mut Vec<Draft>,
    differences: &mut Differences,
) -> bool {
    let sequence = &sequences[guess.at];
    let candidates = candidates(sequence, drafts, differences, sequences);
    let is_right = candidates.starts_with(&guess.candidates);
    let best = match is_right {
        // New drafts come behind the others.
        true => {
            let new = candidates[guess.candidates.len()..].iter().filter_map(|candidate| {
                guess.fit(candidate, &drafts[candidate.position]).map(|fit| (fit, candidate.position))
            });
            least(guess.best.iter().cloned().chain(new))
        }
        false => best(&guess.rhythm, &candidates, drafts),
    };
    match best {
        Some((found, position)) => {
            let draft = &mut drafts[position];
            if let Some(lag) = found.lag(&draft.rhythm, &guess.rhythm) {
                differences.relate(draft.rank, sequence.rank, lag);
            }
            draft.communicator = draft.communicator.max(sequence.communicator);
            draft.add(guess.at, guess.rhythm, &found);
        }
        None => drafts.push(Draft::of(guess.at, (sequence.rank, sequence.communicator), guess.rhythm)),
    }
    is_right
}
