//! Aligns the clocks of the traces.

use cli::Failure;
use rtl_analysis::align::{
    self, Alignment, AlignmentError, Clock, Group, MatchedCollective, NodeClock, Sequence, Waits,
};
use rtl_analysis::ranks::steps::{StepTotals, step_group};
use rtl_schema::{AgentId, ProcessId};
use rtl_write::ClockCorrection;
use serde_json::Value;

use crate::args::ClockOptions;
use crate::input::Input;
use crate::machines::{Evidence, Machines};
use crate::output::CLOCK;

/// With a larger share of violated collectives, the clocks of their members are not aligned.
const MAX_VIOLATIONS: f64 = 0.01;

/// The number of calls that alignment uses at most; more do not improve it.
const MAX_CALLS: usize = 1 << 18;

/// The number of collectives that are in memory at a time.
const CHUNK: usize = 256;

/// How the clock of a trace was aligned with the merged one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Method {
    /// It is the merged clock: all processes of one machine share it.
    Reference,
    /// By the collectives of its machine with others: their number, and the error in ns.
    Collectives(usize, f64),
    /// By the real-time clocks of the machines; the reason for no better method.
    Anchors(String),
    /// By `--offset`.
    Offset,
    /// Not aligned, with the reason.
    Unaligned(String),
}

/// A process and a GPU that it launched collectives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) input: usize,
    pub(crate) process: ProcessId,
    pub(crate) agent: AgentId,
}

/// The collectives of one group of ranks and one kernel, on the merged clock.
#[derive(Debug, Clone, Default)]
pub(crate) struct CollectiveGroup {
    pub(crate) name: String,
    /// Its members, as positions in [`Clocks::members`].
    pub(crate) members: Vec<usize>,
    pub(crate) collectives: usize,
    /// Collectives in which a member ends before the last one starts.
    pub(crate) violations: usize,
    /// Time from the first arrival to the last in ns, summed, if the clocks of the members are aligned.
    pub(crate) spread_ns: i64,
    /// Time from the last arrival to the last end in ns, summed, if the clocks of the members are aligned.
    pub(crate) transfer_ns: i64,
    /// The shortest duration in ns, summed: the transfer estimated without clocks.
    pub(crate) clock_free_transfer_ns: i64,
}

/// The clocks of a merge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clocks {
    /// By input, the offset of its times.
    pub(crate) corrections: Vec<ClockCorrection>,
    pub(crate) methods: Vec<Method>,
    /// The machine of the merged clock, if known.
    pub(crate) reference: Option<Evidence>,
    pub(crate) members: Vec<Member>,
    pub(crate) groups: Vec<CollectiveGroup>,
    /// The waits by member.
    pub(crate) waits: Waits,
    /// The group whose collectives separate steps, as a position in `groups`, and its steps.
    pub(crate) steps: Option<(usize, StepTotals)>,
    /// Calls of collectives that were not matched with another rank's.
    pub(crate) unmatched: usize,
}

impl CollectiveGroup {
    /// Whether the clocks of its members are aligned, judged by violations.
    pub(crate) fn is_on_one_clock(&self) -> bool {
        self.violations as f64 <= MAX_VIOLATIONS * self.collectives as f64
    }
}

impl Clocks {
    /// Aligns all clocks; takes the collectives out of the inputs.
    ///
    /// # Errors
    /// Where an offset of the user is invalid.
    pub(crate) fn of(
        inputs: &mut [Input],
        machines: &Machines,
        options: &ClockOptions,
    ) -> Result<Self, Failure> {
        let offsets = parse_offsets(inputs, &options.offset)?;
        let found = Sequences::of(inputs);
        let inputs = &*inputs;
        let groups = align::group_sequences(&found.sequences);
        // The machine of the clock of an input, if it is known and may be moved.
        let domains: Vec<Option<usize>> = (0..inputs.len())
            .map(|at| domain(inputs, machines, at).filter(|_| offsets[at].is_none() && !options.no_align))
            .collect();
        let reference = domains.iter().copied().flatten().next();
        let alignment = reference.map(|reference| {
            let domain = |member: usize| domains[found.members[member].input];
            let matched =
                groups.groups.iter().flat_map(|group| align::matched_collectives(group, &found.sequences));
            let calls: usize = groups
                .groups
                .iter()
                .flat_map(|group| &group.members)
                .map(|&at| found.sequences[at].calls.len())
                .sum();
            let known: Vec<MatchedCollective> = matched
                .step_by(calls.div_ceil(MAX_CALLS).max(1))
                .map(|collective| {
                    collective.into_iter().filter(|&(member, ..)| domain(member).is_some()).collect()
                })
                .collect();
            let machine_of: Vec<usize> =
                (0..found.members.len()).map(|member| domain(member).unwrap_or(reference)).collect();
            align::align(&known, &machine_of, machines.all.len(), reference)
        });
        let mut clocks = Self {
            reference: reference.map(|machine| machines.all[machine].evidence.clone()),
            unmatched: groups.unmatched.iter().map(|&at| found.sequences[at].calls.len()).sum(),
            ..Self::default()
        };
        for (at, input) in inputs.iter().enumerate() {
            let (correction, method) = match (offsets[at], domains[at], &alignment) {
                (Some(offset), ..) => (ClockCorrection::constant(offset), Method::Offset),
                (_, Some(domain), Some(alignment)) => {
                    let others = anchors(inputs, &domains, alignment.reference);
                    of_domain(input, domain, alignment, anchors(inputs, &domains, domain).zip(others))
                }
                _ if options.no_align => {
                    (ClockCorrection::default(), Method::Unaligned("--no-align".to_owned()))
                }
                _ => (
                    ClockCorrection::default(),
                    Method::Unaligned("its machine or boot is unknown".to_owned()),
                ),
            };
            clocks.corrections.push(correction);
            clocks.methods.push(method);
        }
        clocks.waits = align::waits(&[], found.members.len(), false);
        for group in &groups.groups {
            let group = clocks.add_waits(group, &found);
            clocks.groups.push(group);
        }
        let sizes = clocks.groups.iter();
        let sizes =
            sizes.map(|group| (group.members.len(), group.collectives, rtl_schema::identity(&group.name)));
        clocks.steps = step_group(sizes).map(|at| {
            let matched = align::matched_collectives(&groups.groups[at], &found.sequences);
            (at, StepTotals::between(matched.map(|collective| clocks.apply(collective, &found.members))))
        });
        clocks.members = found.members;
        Ok(clocks)
    }

    /// A collective on the merged clock.
    fn apply(&self, collective: MatchedCollective, members: &[Member]) -> MatchedCollective {
        let moved = |(member, start, end): (usize, i64, i64)| {
            let correction = &self.corrections[members[member].input];
            (member, correction.apply(start), correction.apply(end))
        };
        collective.into_iter().map(moved).collect()
    }

    /// Adds up the waits of a group, a few collectives at a time.
    fn add_waits(&mut self, group: &Group, found: &Sequences) -> CollectiveGroup {
        let matched = || {
            let matched = align::matched_collectives(group, &found.sequences);
            matched.map(|collective| self.apply(collective, &found.members))
        };
        let is_violated = |collective: &MatchedCollective| {
            let last_start = collective.iter().map(|&(_, start, _)| start).max();
            collective.iter().map(|&(.., end)| end).min() < last_start
        };
        let mut result = CollectiveGroup {
            name: group.members.first().map(|&at| found.names[at].clone()).unwrap_or_default(),
            members: group.members.iter().map(|&at| found.sequences[at].rank).collect(),
            collectives: matched().count(),
            violations: matched().filter(is_violated).count(),
            ..CollectiveGroup::default()
        };
        let is_on_one_clock = result.is_on_one_clock();
        let mut matched = matched();
        let mut all = align::waits(&[], found.members.len(), is_on_one_clock);
        loop {
            let some: Vec<MatchedCollective> = matched.by_ref().take(CHUNK).collect();
            if some.is_empty() {
                break;
            }
            all.append(&align::waits(&some, found.members.len(), is_on_one_clock));
        }
        drop(matched);
        (result.spread_ns, result.transfer_ns) = (all.spread_ns, all.transfer_ns);
        result.clock_free_transfer_ns = all.clock_free_transfer_ns;
        self.waits.append(&all);
        result
    }

    /// Inputs whose clocks are not aligned, with the reasons.
    pub(crate) fn unaligned(&self) -> impl Iterator<Item = (usize, &str)> {
        self.methods.iter().enumerate().filter_map(|(at, method)| match method {
            Method::Unaligned(reason) | Method::Anchors(reason) => Some((at, reason.as_str())),
            Method::Reference | Method::Collectives(..) | Method::Offset => None,
        })
    }
}

/// The collectives of all inputs.
#[derive(Debug, Default)]
struct Sequences {
    members: Vec<Member>,
    sequences: Vec<Sequence>,
    /// The kernel of each sequence.
    names: Vec<String>,
}

impl Sequences {
    fn of(inputs: &mut [Input]) -> Self {
        let mut found = Self::default();
        for (at, input) in inputs.iter_mut().enumerate() {
            for collective in std::mem::take(&mut input.collectives) {
                let member = Member { input: at, process: collective.process, agent: collective.agent };
                // Members of one input are adjacent, at the end.
                let known = found.members.iter().rev().take_while(|known| known.input == at);
                let known = known.zip(1..).find(|(known, _)| **known == member).map(|(_, back)| back);
                let rank = known.map_or(found.members.len(), |back| found.members.len() - back);
                if known.is_none() {
                    found.members.push(member);
                }
                found.sequences.push(Sequence { rank, kind: collective.kind, calls: collective.calls });
                found.names.push(collective.name);
            }
        }
        found
    }
}

/// `--offset RANK=NS`, by input.
fn parse_offsets(inputs: &[Input], words: &[String]) -> Result<Vec<Option<i64>>, Failure> {
    let mut offsets = vec![None; inputs.len()];
    for word in words {
        let parsed = word.split_once('=').and_then(|(rank, ns)| Some((rank.parse().ok()?, ns.parse().ok()?)));
        let Some((rank, ns)) = parsed else {
            return Err(Failure::usage(format!("--offset: `{word}` is not RANK=NS"))
                .with_hint("write the ns to add to the times of that rank, for example --offset 3=-1500"));
        };
        match inputs.iter().position(|input| input.ranks().contains(&rank)) {
            Some(found) => offsets[found] = Some(ns),
            None => return Err(Failure::usage(format!("--offset: no trace has rank {rank}"))),
        }
    }
    Ok(offsets)
}

/// The machine of the clock of an input: its only machine, or that of an earlier merge.
fn domain(inputs: &[Input], machines: &Machines, at: usize) -> Option<usize> {
    let merged = || {
        let clock: Value = serde_json::from_str(inputs[at].tag(CLOCK)?).ok()?;
        let is_named = |evidence: &Evidence| {
            let (tag, id) = evidence.tag()?;
            (clock.get(tag)?.as_str()? == id).then_some(())
        };
        machines.all.iter().position(|machine| is_named(&machine.evidence).is_some())
    };
    machines.only(at).or_else(merged).filter(|&machine| machines.all[machine].has_one_clock())
}

/// The offset of the real-time clock of a machine from the clock of its traces in ns, if the traces have anchors.
fn anchors(inputs: &[Input], domains: &[Option<usize>], machine: usize) -> Option<i64> {
    let own = inputs.iter().zip(domains).filter(|(_, domain)| **domain == Some(machine));
    let mut ahead: Vec<i64> = own
        .flat_map(|(input, _)| ["clock_start", "clock_end"].map(|tag| input.tag(tag)))
        .flatten()
        .filter_map(|text| {
            let anchor: Value = serde_json::from_str(text).ok()?;
            anchor.get("realtime")?.as_i64()?.checked_sub(anchor.get("boottime")?.as_i64()?)
        })
        .collect();
    ahead.sort_unstable();
    ahead.get(ahead.len() / 2).copied()
}

/// The offset of the clock of an input; `ahead` are the offsets of real time from it and from the reference.
fn of_domain(
    input: &Input,
    domain: usize,
    alignment: &Alignment,
    ahead: Option<(i64, i64)>,
) -> (ClockCorrection, Method) {
    if domain == alignment.reference {
        return (ClockCorrection::default(), Method::Reference);
    }
    let reason = match &alignment.nodes[domain] {
        Ok(NodeClock { clock, collectives, error_ns }) => {
            return (sampled(clock, input, *error_ns), Method::Collectives(*collectives, *error_ns));
        }
        Err(AlignmentError::TooFew(0)) => "no collective in common with the reference".to_owned(),
        Err(AlignmentError::TooFew(count)) => format!("only {count} collectives in common with others"),
        Err(AlignmentError::Contradicted) => "the collectives contradict each other".to_owned(),
    };
    match ahead {
        Some((own, reference)) => {
            (ClockCorrection::constant(own.saturating_sub(reference)), Method::Anchors(reason))
        }
        None => (ClockCorrection::default(), Method::Unaligned(reason)),
    }
}

/// The part of the error of a clock that thinning its knots may add.
const THINNING_ERROR: f64 = 0.01;

/// A clock for the time of an input as straight lines between few knots.
fn sampled(clock: &Clock, input: &Input, error_ns: f64) -> ClockCorrection {
    let (first, last) = input.span.unwrap_or_default();
    let moments = clock.moments().filter(|moment| (first..=last).contains(moment));
    let mut moments: Vec<i64> = moments.chain([first, last]).collect();
    moments.sort_unstable();
    moments.dedup();
    let knots: Vec<(i64, i64)> =
        moments.into_iter().map(|moment| (moment, clock.offset(moment).round() as i64)).collect();
    ClockCorrection::new(thinned(&knots, (error_ns * THINNING_ERROR).max(1.0)))
}

/// Greedily drops knots that lie within `tolerance` ns of a straight line between their neighbours.
fn thinned(knots: &[(i64, i64)], tolerance: f64) -> Vec<(i64, i64)> {
    let Some(&first) = knots.first() else { return Vec::new() };
    let (mut kept, mut last) = (vec![first], first);
    // The range of slopes of lines from the last kept knot that pass within the tolerance.
    let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
    for &knot in &knots[1..] {
        let from = kept[kept.len() - 1];
        let slope = |off: f64| ((knot.1 - from.1) as f64 + off) / (knot.0 - from.0) as f64;
        if !(least..=most).contains(&slope(0.0)) {
            kept.push(last);
            (least, most) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        let from = kept[kept.len() - 1];
        let slope = |off: f64| ((knot.1 - from.1) as f64 + off) / (knot.0 - from.0) as f64;
        (least, most) = (least.max(slope(-tolerance)), most.min(slope(tolerance)));
        last = knot;
    }
    kept.extend((last != first).then_some(last));
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_straight_line_needs_its_ends_and_a_bend_one_more_knot() {
        let line: Vec<(i64, i64)> = (0..100).map(|at| (at * 1_000, 7 + at * 3)).collect();
        assert_eq!(thinned(&line, 1.0), [line[0], line[99]]);
        let bend: Vec<(i64, i64)> = (0..100).map(|at| (at * 1_000, (at - 60).max(0) * 500)).collect();
        assert_eq!(thinned(&bend, 1.0), [bend[0], bend[60], bend[99]]);
        assert_eq!(thinned(&line[..1], 1.0), line[..1]);
        assert_eq!(thinned(&[], 1.0), []);
    }

    proptest! {
        #[test]
        fn no_knot_that_was_traces_is_far_from_the_line(
            steps in prop::collection::vec((1_i64..1_000, -40_i64..40), 1..200),
            tolerance in 1_u8..30,
        ) {
            let tolerance = f64::from(tolerance);
            let mut knots = vec![(0, 0)];
            for (time, change) in steps {
                let (at, offset) = knots[knots.len() - 1];
                knots.push((at + time, offset + change));
            }
            let correction = ClockCorrection::new(thinned(&knots, tolerance));
            for (at, offset) in knots {
                let off = (correction.apply(at) - at - offset).abs();
                prop_assert!(off as f64 <= tolerance + 1.0, "{off} at {at}");
            }
        }
    }
}
