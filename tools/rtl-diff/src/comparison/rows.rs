//! Judges every kernel of a comparison: one row for each pair and for each kernel of one side.

use rtl_analysis::compare::history::judge_history;
use rtl_analysis::compare::{Judgement, KernelPair, Rules, Status, judge};
use rtl_analysis::identity::Matching;

use super::join::{JoinedKernel, JoinedSide};
use super::sides::Sides;
use super::types::{Change, Pairing, Row, Waits};
use crate::settings::Settings;

pub(super) fn rows(sides: &[JoinedSide<'_>; 2], matching: &Matching, settings: &Settings) -> Vec<Row> {
    let pairs = matching.pairs.iter().map(|pair| {
        let pairing = Pairing { method: pair.method, score: pair.score };
        Pair::new(sides, [Some(pair.baseline), Some(pair.candidate)], Some(pairing))
    });
    let removed = matching.removed.iter().map(|&at| Pair::new(sides, [Some(at), None], None));
    let new = matching.new.iter().map(|&at| Pair::new(sides, [None, Some(at)], None));
    // Guesses and kernels of one side must not count among those that are judged together.
    let (certain, rest): (Vec<Pair<'_>>, Vec<Pair<'_>>) =
        pairs.chain(removed).chain(new).flatten().partition(Pair::is_certain);
    let mut rows = Vec::with_capacity(certain.len() + rest.len());
    for group in [certain, rest] {
        let pairs: Vec<KernelPair<'_>> = group.iter().map(|pair| pair.evidence(settings)).collect();
        let judge = if settings.history { judge_history } else { judge };
        let judgements = judge(&pairs, &settings.rules, settings.noise.as_ref());
        rows.extend(
            group.iter().zip(judgements).map(|(pair, judgement)| pair.row(judgement, &settings.rules)),
        );
    }
    rows
}

/// A kernel of both sides, or of one.
struct Pair<'a> {
    kernels: [Option<&'a JoinedKernel<'a>>; 2],
    /// The kernel in the baseline, else in the candidate.
    first: &'a JoinedKernel<'a>,
    pairing: Option<Pairing>,
    shares: [f64; 2],
    waits: Option<Sides<Waits>>,
}

impl<'a> Pair<'a> {
    /// The kernels at the positions; `None` where neither side has one.
    fn new(sides: &'a [JoinedSide<'a>; 2], at: [Option<usize>; 2], pairing: Option<Pairing>) -> Option<Self> {
        let kernels = [0, 1].map(|side| at[side].map(|at| &sides[side].kernels[at]));
        let [baseline, candidate] = kernels.map(|kernel| kernel.and_then(|kernel| kernel.waits));
        Some(Self {
            kernels,
            first: kernels[0].or(kernels[1])?,
            pairing,
            shares: [0, 1].map(|side| kernels[side].map_or(0.0, |kernel| sides[side].share(kernel))),
            waits: baseline.zip(candidate).map(|(baseline, candidate)| Sides { baseline, candidate }),
        })
    }

    fn is_certain(&self) -> bool {
        self.pairing.is_some_and(|pairing| !pairing.method.is_guess())
    }

    fn change(&self, status: Status) -> Change {
        match (self.kernels, self.is_certain(), status) {
            ([Some(_), None], ..) => Change::Removed,
            ([None, _], ..) => Change::New,
            (_, false, _) => Change::Renamed,
            (.., Status::Slower) => Change::Slower,
            (.., Status::SlowerAllowed) => Change::SlowerAllowed,
            (.., Status::Faster) => Change::Faster,
            (.., Status::Unchanged) => Change::Unchanged,
            (.., Status::Undecided) => Change::Undecided,
        }
    }

    fn evidence(&self, settings: &Settings) -> KernelPair<'a> {
        let [baseline, candidate] = self.kernels.map(|kernel| kernel.map_or(&[][..], |kernel| &kernel.runs));
        KernelPair {
            name: &self.first.label,
            baseline,
            candidate,
            share: self.share(),
            gated: self.is_certain() && (!self.first.first.collective || self.waits.is_some()),
            threshold: settings.threshold_of(&self.first.first.name),
        }
    }

    fn share(&self) -> f64 {
        self.shares[0].max(self.shares[1])
    }

    fn row(&self, judgement: Judgement, rules: &Rules) -> Row {
        let last = self.kernels[1].unwrap_or(self.first).first;
        let [baseline, candidate] =
            [judgement.baseline, judgement.candidate].map(|side| Some(side).filter(|side| side.calls > 0));
        let calls = judgement.baseline.calls.min(judgement.candidate.calls);
        let is_on_both_sides = baseline.is_some() && candidate.is_some();
        // A row shows all time of a collective, its waits included.
        let average = |side: usize, total: i64, waits: Option<Waits>| {
            let all = waits.map_or(total, |waits| waits.transfer_ns.saturating_add(waits.wait_ns));
            all as f64 / self.kernels[side].map_or(1, |kernel| kernel.runs.len()) as f64
        };
        let before = average(0, judgement.baseline.total_ns, self.waits.map(|waits| waits.baseline));
        let after = average(1, judgement.candidate.total_ns, self.waits.map(|waits| waits.candidate));
        Row {
            name: last.name.clone(),
            former: self.kernels[0].map(|kernel| kernel.first.name.clone()).filter(|name| *name != last.name),
            launch: last.launch.clone(),
            change: self.change(judgement.status),
            reason: judgement.reason,
            collective: self.first.first.collective,
            waits: self.waits,
            ratio: is_on_both_sides.then_some(judgement.ratio),
            ci_low: judgement.interval.map(|interval| interval.low),
            ci_high: judgement.interval.map(|interval| interval.high),
            p: is_on_both_sides.then_some(judgement.p),
            q: is_on_both_sides.then_some(judgement.q),
            uncertainty: judgement.method,
            threshold: judgement.threshold.value,
            threshold_source: judgement.threshold.source,
            detectable: judgement.detectable,
            runs_to_decide: judgement.runs_to_decide,
            share: self.share(),
            change_ns: after - before,
            sides: Sides { baseline, candidate },
            pairing: self.pairing,
            drift: judgement.drift,
            shares: self.shares,
            is_large: self.share() >= rules.min_share && calls >= rules.min_calls,
        }
    }
}
