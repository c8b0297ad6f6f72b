//! Judges every kernel of a comparison.

use rtl_analysis::compare::history::judge_history;
use rtl_analysis::compare::{self, KernelPair, Run as KernelRun, Status};
use rtl_analysis::identity::{Matching, Method};

use super::join::JoinedKernels;
use super::types::{Change, Row, Waits};
use crate::settings::Settings;

/// One row for each pair and for each kernel of one side.
pub(super) fn rows(joined: &JoinedKernels, matching: &Matching, settings: &Settings) -> Vec<Row> {
    let pairs = matching.pairs.iter().map(|pair| Pair {
        at: [Some(pair.baseline), Some(pair.candidate)],
        method: Some((pair.method, pair.score)),
    });
    let alone = |at| Pair { at, method: None };
    let removed = matching.removed.iter().map(|&at| alone([Some(at), None]));
    let new = matching.new.iter().map(|&at| alone([None, Some(at)]));
    // Guesses and kernels of one side must not count among those that are judged together.
    let (certain, rest): (Vec<Pair>, Vec<Pair>) = pairs.chain(removed).chain(new).partition(Pair::is_certain);
    let mut rows = Vec::with_capacity(certain.len() + rest.len());
    for group in [certain, rest] {
        let evidence: Vec<Evidence<'_>> =
            group.into_iter().map(|pair| Evidence::of(pair, joined, settings)).collect();
        let pairs: Vec<KernelPair<'_>> = evidence.iter().map(Evidence::pair).collect();
        let noise = settings.noise.as_ref();
        if settings.history {
            let pasts = judge_history(&pairs, &settings.rules, noise);
            rows.extend(
                evidence
                    .into_iter()
                    .zip(pasts)
                    .map(|(kernel, past)| Row { drift: past.drift, ..kernel.row(past.judgement, joined) }),
            );
        } else {
            let judgements = compare::judge(&pairs, &settings.rules, noise);
            let rows_of = evidence.into_iter().zip(judgements);
            rows.extend(rows_of.map(|(kernel, judgement)| kernel.row(judgement, joined)));
        }
    }
    rows
}

/// The positions of one kernel on both sides.
struct Pair {
    at: [Option<usize>; 2],
    method: Option<(Method, f64)>,
}

impl Pair {
    fn is_certain(&self) -> bool {
        self.method.is_some_and(|(method, _)| !method.is_guess())
    }

    fn change(&self, status: Status) -> Change {
        match (self.at, self.is_certain(), status) {
            ([Some(_), None], ..) => Change::Removed,
            ([None, _], ..) => Change::New,
            (_, false, _) => Change::Renamed,
            (.., Status::Regressed) => Change::Regressed,
            (.., Status::Improved) => Change::Improved,
            (.., Status::Unchanged) => Change::Unchanged,
            (.., Status::Inconclusive) => Change::Inconclusive,
        }
    }
}

/// The input of a judgement.
struct Evidence<'a> {
    pair: Pair,
    /// The name by which calibration identifies it.
    label: &'a str,
    runs: [&'a [KernelRun]; 2],
    shares: [f64; 2],
    collective: bool,
    waits: Option<[Waits; 2]>,
    threshold: Option<f64>,
}

impl<'a> Evidence<'a> {
    fn of(pair: Pair, joined: &'a JoinedKernels, settings: &Settings) -> Self {
        let runs = [0, 1].map(|side| pair.at[side].map_or(&[][..], |at| &joined.runs[side][at]));
        let shares = [0, 1].map(|side| pair.at[side].map_or(0.0, |at| joined.share(side, at)));
        let waits = |side: usize| pair.at[side].and_then(|at| joined.waits[side][at]);
        let side = usize::from(pair.at[0].is_none());
        let at = pair.at[side].unwrap_or_default();
        Self {
            label: &joined.labels[side][at],
            runs,
            shares,
            collective: joined.collective[side][at],
            waits: waits(0).zip(waits(1)).map(|(before, after)| [before, after]),
            threshold: settings.threshold_of(&joined.subjects[side][at].name),
            pair,
        }
    }

    fn pair(&self) -> KernelPair<'a> {
        KernelPair {
            name: self.label,
            baseline: self.runs[0],
            candidate: self.runs[1],
            share: self.shares[0].max(self.shares[1]),
            gated: self.pair.is_certain() && (!self.collective || self.waits.is_some()),
            threshold: self.threshold,
        }
    }

    fn row(self, judgement: compare::Judgement, joined: &JoinedKernels) -> Row {
        let [before, after] = [0, 1].map(|side| self.pair.at[side].map(|at| &joined.subjects[side][at]));
        let name = after.or(before).map(|subject| subject.name.clone()).unwrap_or_default();
        // All of its time, waits included.
        let average = |side: usize, total: i64| {
            let all =
                self.waits.map_or(total, |waits| waits[side].transfer_ns.saturating_add(waits[side].wait_ns));
            all as f64 / joined.run_counts[side].max(1) as f64
        };
        Row {
            former: before.map(|subject| subject.name.clone()).filter(|former| *former != name),
            launch: after.or(before).and_then(|subject| subject.launch.clone()),
            name,
            collective: self.collective,
            waits: self.waits,
            change: self.pair.change(judgement.status),
            pairing: self.pair.method,
            shares: self.shares,
            change_ns: average(1, judgement.candidate.total_ns) - average(0, judgement.baseline.total_ns),
            judgement,
            drift: None,
        }
    }
}
