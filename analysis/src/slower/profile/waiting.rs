//! The calls of collectives split into waiting for the last rank and transfer.
//!
//! Computed without clocks ([`crate::ranks::align::waits()`]), so that ranks of several machines need no alignment: the member with the
//! shortest duration came last, its duration is the transfer, and the others waited for the rest of theirs.

use rtl_schema::Tables;
use rtl_schema::table::{AgentKind, Track};
use rustc_hash::FxHashMap;

use super::strata::{Group, Groups, Strata};
use super::types::CollectiveWaits;
use super::warmup::Warmup;
use crate::Stats;
use crate::names::kernel_names::KernelNames;
use crate::ranks::align::{self, MatchedCollective, Sequence, Waits, synchronises};
use crate::ranks::members::Members;
use crate::slower::run::Run;
use crate::slower::run::mix::Calls;

#[derive(Debug, Default)]
pub(super) struct CollectiveFigures {
    /// Indexed by group, for those whose calls were matched.
    pub(super) waiting: Vec<Option<CollectiveWaits>>,
    /// The rank that the others waited for, where one stands out.
    pub(super) straggler: Option<String>,
}

/// Matches the collectives of all ranks. Where there are none, or one rank only, no row is looked at.
pub(super) fn match_collectives(
    tables: &Tables,
    names: &KernelNames,
    strata: &Strata,
    groups: &Groups,
    warmup: Warmup,
) -> CollectiveFigures {
    let label = |stratum: usize| names.kernels[groups.all[groups.of_stratum[stratum]].kernel].label.as_ref();
    let meets: Vec<bool> = (0..strata.len()).map(|stratum| synchronises(label(stratum))).collect();
    let tracks = tables.tracks.rows();
    let is_alone =
        tracks.windows(2).all(|pair| (pair[0].process, pair[0].agent) == (pair[1].process, pair[1].agent));
    if is_alone || !meets.contains(&true) {
        return CollectiveFigures::default();
    }
    let mut calls = calls(tables, strata, &meets);
    // The numbers of strata and tracks depend on the order of rows, and what is found must not.
    calls.sort_by(|one, other| {
        let key = |calls: &LaneCalls| (label(calls.stratum), strata.shape(calls.stratum));
        key(one).cmp(&key(other)).then_with(|| one.calls.cmp(&other.calls))
    });
    let mut used = vec![false; tracks.len()];
    calls.iter().for_each(|calls| used[calls.track] = true);
    let members = Members::of_tracks(tables, &used);
    let mut of_kind: Vec<usize> = Vec::new();
    let mut sequences = Vec::with_capacity(calls.len());
    for LaneCalls { track, stratum, calls } in calls {
        if of_kind.last() != Some(&stratum) {
            of_kind.push(stratum);
        }
        if let Some(rank) = members.of_place(tracks[track].process, tracks[track].agent) {
            let kind = of_kind.len() as u64 - 1;
            sequences.push(Sequence { rank, kind, calls, ..Sequence::default() });
        }
    }
    let mut waits = Waits::none(members.all.len());
    let mut collected: Vec<Collected> = vec![Collected::default(); groups.len()];
    for group in &align::group_sequences(&sequences).groups {
        let matched = align::matched_collectives(group, &sequences);
        let matched: Vec<MatchedCollective> =
            matched.filter(|collective| group.is_whole(collective)).collect();
        let stratum = of_kind[sequences[group.members[0]].kind as usize];
        collected[groups.of_stratum[stratum]].add(&matched, groups.shape_of_stratum[stratum], warmup);
        let ranks: Vec<usize> = group.members.iter().map(|&at| sequences[at].rank).collect();
        let positions = matched.iter().map(|collective| align::by_position(collective, &ranks));
        waits.append(&align::waits(positions, ranks.len(), false), &ranks);
    }
    let straggler = waits.straggler();
    CollectiveFigures {
        waiting: collected.into_iter().zip(&groups.all).map(|(one, about)| one.finish(about)).collect(),
        straggler: straggler.map(|member| members.all[member].name.clone()),
    }
}

/// Start and end in ns of the calls of one stratum on one track, by end.
struct LaneCalls {
    track: usize,
    stratum: usize,
    calls: Vec<(i64, i64)>,
}

/// One pass over the dispatches, for the strata that all members leave together.
fn calls(tables: &Tables, strata: &Strata, meets: &[bool]) -> Vec<LaneCalls> {
    let dispatches = &tables.dispatches;
    let is_cpu = |track: &Track| {
        tables.agents.get(track.agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu)
    };
    let counts: Vec<bool> = tables.tracks.rows().iter().map(|track| !is_cpu(track)).collect();
    let stratum_of_cell: Vec<usize> = strata.cells().map(|cell| cell.stratum as usize).collect();
    let meets_in_cell: Vec<bool> = stratum_of_cell.iter().map(|&stratum| meets[stratum]).collect();
    let mut found: FxHashMap<(usize, usize), Vec<(i64, i64)>> = FxHashMap::default();
    for row in 0..dispatches.len() {
        let cell = strata.cell_of_row(row as u32);
        if !meets_in_cell[cell] {
            continue;
        }
        let stratum = stratum_of_cell[cell];
        // The stratum of a row that is in no figure may be any.
        let track = dispatches.track[row].index();
        if let Some(duration) = dispatches.duration.valid(row).filter(|_| counts[track]) {
            let start = dispatches.start[row];
            let calls = found.entry((track, stratum)).or_default();
            calls.push((start, start.saturating_add(duration)));
        }
    }
    let sorted = |((track, stratum), mut calls): ((usize, usize), Vec<(i64, i64)>)| {
        calls.sort_unstable_by_key(|&(start, end)| (end, start));
        LaneCalls { track, stratum, calls }
    };
    found.into_iter().map(sorted).collect()
}

#[derive(Clone, Default)]
struct Collected {
    transfers: Vec<i64>,
    shapes: Vec<u32>,
    calls: u64,
    transfer_ns: i64,
    wait_ns: i64,
}

impl Collected {
    fn add(&mut self, matched: &[MatchedCollective], shape: u32, warmup: Warmup) {
        let stay = |&(_, start, end): &(usize, i64, i64)| end.saturating_sub(start).max(0);
        let transfer = |collective: &MatchedCollective| collective.iter().map(stay).min().unwrap_or(0);
        let transfers: Vec<i64> = matched.iter().map(transfer).collect();
        let skip = warmup.calls(&transfers);
        for (collective, &transfer) in matched.iter().zip(&transfers).skip(skip) {
            self.transfers.push(transfer);
            self.shapes.push(shape);
            self.calls += collective.len() as u64;
            for member in collective {
                self.transfer_ns = self.transfer_ns.saturating_add(transfer);
                self.wait_ns = self.wait_ns.saturating_add(stay(member) - transfer);
            }
        }
    }

    fn finish(self, about: &Group) -> Option<CollectiveWaits> {
        if self.calls == 0 {
            return None;
        }
        let Self { transfers, shapes, calls, transfer_ns, wait_ns } = self;
        let run = Run::of(&transfers);
        let deviation_ns = Stats::of_durations(transfers.iter().copied()).stddev_ns;
        let mix = about.mix(|| Calls { durations: transfers.into(), shapes: shapes.into() });
        Some(CollectiveWaits { run, deviation_ns, mix, calls, transfer_ns, wait_ns })
    }
}
