//! The report of waits in collectives.

use std::convert::Infallible;
use std::ops::Range;

use rtl_analysis::align::{self, RankWaits};
use rtl_analysis::ranks::steps::{StepTotals, step_group};
use rtl_analysis::ranks::{StepMethod, Steps};
use rtl_schema::identity;
use serde::Serialize;

use super::members::Members;
use crate::clocks::Clocks;

/// Calls of the collectives that a thread adds up at a time.
const PART: usize = 50_000;

/// The collectives of one group of ranks with one kernel.
#[derive(Debug, Clone, Serialize)]
pub struct Group {
    pub kernel: String,
    pub members: Vec<String>,
    pub collectives: u64,
    /// The collectives that lack the calls of members, so that times leave them out: a recording begins and ends elsewhere on each rank.
    pub incomplete: u64,
    /// The collectives in which a member ends before the last one starts.
    pub violations: u64,
    /// The clocks of its members agree; the next two are unknown where they do not.
    pub on_one_clock: bool,
    /// From the first arrival to the last in ns, summed.
    pub arrival_spread_ns: Option<i64>,
    /// From the last arrival to the last end in ns, summed.
    pub transfer_ns: Option<i64>,
    /// The sum of the shortest durations in ns: transfer, computed without clocks.
    pub clock_free_transfer_ns: i64,
}

/// The waits of one rank in collectives.
#[derive(Debug, Clone, Serialize)]
pub struct Rank {
    /// The rank, or the trace where that is unknown.
    pub member: String,
    #[serde(flatten)]
    pub waits: RankWaits,
}

/// The waits of all ranks.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Waits {
    pub groups: Vec<Group>,
    pub ranks: Vec<Rank>,
    /// The rank that the others waited for, computed without clocks, where one is an outlier.
    pub straggler: Option<String>,
    /// Ranks of whose collectives none could be matched: no verdict covers them.
    pub missing: Vec<String>,
    /// The steps between the collectives of the largest group, where it has enough.
    #[serde(skip)]
    pub(crate) steps: Option<Steps>,
    /// The ns that each member waited, computed without clocks, and in how many collectives.
    #[serde(skip)]
    pub(crate) by_member: Vec<(i64, u64)>,
}

impl Waits {
    pub(crate) fn new(clocks: &Clocks, members: &Members) -> Self {
        let places = &clocks.found.members;
        let positions: Vec<Option<usize>> =
            places.iter().map(|place| members.position(place.input, place.process, place.agent)).collect();
        let name = |place: usize| positions[place].map(|member| members.all[member].name.clone());
        let matched = &clocks.groups.groups;
        let parts = |(at, group): (usize, &align::Group)| group.parts(PART).map(move |part| (at, part));
        let parts: Vec<(usize, Range<usize>)> = matched.iter().enumerate().flat_map(parts).collect();
        let mut violations = vec![0; matched.len()];
        let found = threads::map(&parts, |(at, part)| {
            align::violations(clocks.matched_within(&matched[*at], part.clone()))
        });
        parts.iter().zip(found).for_each(|((at, _), found)| violations[*at] += found);
        let are_on_one_clock = |(group, &violations): (&align::Group, &u64)| {
            align::are_on_one_clock(violations, group.matched() as u64)
        };
        let on_one_clock: Vec<bool> = matched.iter().zip(&violations).map(are_on_one_clock).collect();
        let ranks_of = |group: &align::Group| -> Vec<usize> {
            group.members.iter().map(|&at| clocks.found.sequences[at].rank).collect()
        };
        let waits = |(at, part): &(usize, Range<usize>)| {
            let group = &matched[*at];
            let ranks = ranks_of(group);
            let all = clocks.matched_within(group, part.clone());
            let whole = all.filter(|collective| group.is_whole(collective));
            let positions = whole.map(|collective| align::by_position(&collective, &ranks));
            (*at, align::waits(positions, ranks.len(), on_one_clock[*at]))
        };
        // Of all groups, and of each one without its ranks.
        let mut sums = align::Waits::none(places.len());
        let mut of_groups = vec![align::Waits::none(0); matched.len()];
        let Ok(()) = threads::in_order(&parts, waits, |(at, waits)| {
            sums.append(&waits, &ranks_of(&matched[at]));
            of_groups[at].append_sums(&waits);
            Ok::<(), Infallible>(())
        });
        let group = |at: usize| {
            let (group, waits, on_one_clock) = (&matched[at], &of_groups[at], on_one_clock[at]);
            let sequences = group.members.iter().map(|&at| &clocks.found.sequences[at]);
            let all = group.matched() as u64;
            Group {
                kernel: clocks.found.names[group.members[0]].clone(),
                members: sequences.map(|sequence| name(sequence.rank).unwrap_or_default()).collect(),
                collectives: all,
                incomplete: all - waits.collectives,
                violations: violations[at],
                on_one_clock,
                arrival_spread_ns: on_one_clock.then_some(waits.spread_ns),
                transfer_ns: on_one_clock.then_some(waits.transfer_ns),
                clock_free_transfer_ns: waits.clock_free_transfer_ns,
            }
        };
        let groups: Vec<Group> = (0..matched.len()).map(group).collect();
        let sizes = groups.iter();
        let sizes =
            sizes.map(|group| (group.members.len(), group.collectives as usize, identity(&group.kernel)));
        let steps = step_group(sizes).map(|at| {
            let names: Vec<&str> = groups[at].members.iter().map(String::as_str).collect();
            let group = &clocks.groups.groups[at];
            let totals = StepTotals::between(clocks.matched(group), &ranks_of(group));
            totals.steps(StepMethod::Collectives, identity(&groups[at].kernel), &names)
        });
        let mut by_member = vec![(0_i64, 0); members.all.len()];
        for (position, own) in positions.iter().zip(&sums.ranks) {
            if let Some((wait_ns, collectives)) = position.map(|position| &mut by_member[position]) {
                *wait_ns = wait_ns.saturating_add(own.clock_free_wait_ns);
                *collectives += own.collectives;
            }
        }
        let ranks = sums.ranks.iter().enumerate().filter(|(_, waits)| waits.collectives > 0);
        let ranks = ranks.map(|(at, &waits)| Rank { member: name(at).unwrap_or_default(), waits }).collect();
        let missing = clocks.groups.unmatched(&clocks.found.sequences).ranks;
        let missing = missing.into_iter().map(|at| name(at).unwrap_or_default()).collect();
        Self { ranks, missing, straggler: sums.straggler().and_then(name), groups, steps, by_member }
    }
}
