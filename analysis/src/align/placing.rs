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
        let guesses = threads::map(next, |&at| Guess::of(&sequences[at], &drafts, differences, sequences));
        let mut are_right = true;
        for (&at, guess) in next.iter().zip(guesses) {
            are_right &= place(sequences, at, guess, &mut drafts, differences);
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
    rhythm: Rhythm,
    candidates: Vec<Candidate>,
    best: Option<(Fit, usize)>,
}

impl Guess {
    fn of(sequence: &Sequence, drafts: &[Draft], differences: &Differences, sequences: &[Sequence]) -> Self {
        let rhythm = sequence.rhythm();
        let candidates = candidates(sequence, drafts, differences, sequences);
        let best = best(None, &rhythm, &candidates, drafts);
        Self { rhythm, candidates, best }
    }
}

fn candidates(
    sequence: &Sequence,
    drafts: &[Draft],
    differences: &Differences,
    sequences: &[Sequence],
) -> Vec<Candidate> {
    let is_candidate = |(_, draft): &(usize, &Draft)| {
        let is_taken = draft.members.last().is_some_and(|&last| sequences[last].rank == sequence.rank);
        let communicators = [draft.communicator, sequence.communicator];
        !is_taken && (communicators.contains(&0) || communicators[0] == communicators[1])
    };
    let candidate = |(position, draft): (usize, &Draft)| {
        let known = differences.between(draft.rank, sequence.rank);
        Candidate { position, changes: draft.changes, known }
    };
    drafts.iter().enumerate().filter(is_candidate).map(candidate).collect()
}

/// The best of those in step and the one before them: two groups of one rank may be nearly in step with each other. Of equal
/// ones the first.
fn best(
    before: Option<(Fit, usize)>,
    rhythm: &Rhythm,
    candidates: &[Candidate],
    drafts: &[Draft],
) -> Option<(Fit, usize)> {
    let fit = |candidate: &Candidate| {
        let found = matching::fit(&drafts[candidate.position].rhythm, rhythm, candidate.known.as_ref());
        found.map(|found| (found, candidate.position))
    };
    let best = |found: &mut dyn Iterator<Item = (Fit, usize)>| {
        found.reduce(|best, next| if next.0.loss < best.0.loss { next } else { best })
    };
    match candidates.len() * rhythm.len() > PARALLEL {
        true => {
            // One candidate takes less time than handing it to a thread.
            let shares = candidates.chunks(candidates.len().div_ceil(SHARES * threads::limit()));
            let of_share = |share: &[Candidate]| best(&mut share.iter().filter_map(fit));
            best(&mut before.into_iter().chain(threads::map(shares, of_share).into_iter().flatten()))
        }
        false => best(&mut before.into_iter().chain(candidates.iter().filter_map(fit))),
    }
}

/// Adds a sequence to the best of the drafts of its kind, or to a new one. Whether the guess was right, but for new drafts.
fn place(
    sequences: &[Sequence],
    at: usize,
    guess: Guess,
    drafts: &mut Vec<Draft>,
    differences: &mut Differences,
) -> bool {
    let sequence = &sequences[at];
    let Guess { rhythm, candidates: guessed, best: before } = guess;
    let candidates = candidates(sequence, drafts, differences, sequences);
    let is_right = candidates.starts_with(&guessed);
    let best = match is_right {
        // New drafts come behind the others.
        true => best(before, &rhythm, &candidates[guessed.len()..], drafts),
        false => best(None, &rhythm, &candidates, drafts),
    };
    match best {
        Some((found, position)) => {
            let draft = &mut drafts[position];
            if let Some(lag) = found.lag(&draft.rhythm, &rhythm) {
                differences.relate(draft.rank, sequence.rank, lag);
            }
            draft.communicator = draft.communicator.max(sequence.communicator);
            draft.add(at, rhythm, &found);
        }
        None => drafts.push(Draft::of(at, (sequence.rank, sequence.communicator), rhythm)),
    }
    is_right
}
