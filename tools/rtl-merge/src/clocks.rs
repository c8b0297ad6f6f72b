//! What the traces' clocks need to be one.

use cli::Failure;
use rtl_analysis::align::{
    self, Alignment, AlignmentError, Clock, Group, MatchedCollective, NodeClock, Sequence, Waits,
};
use rtl_analysis::ranks::steps::{StepTotals, step_group};
use rtl_schema::{AgentId, ProcessId};
use rtl_write::ClockCorrection;
use serde_json::Value;

use crate::args;
use crate::machines::{Evidence, Machines};
use crate::survey::Survey;
use crate::target::CLOCK;

/// A larger share of violated collectives says that the clocks of their members are not one.
const CONTRADICTED: f64 = 0.01;

/// Of how many calls clocks are told at most: more of a long job make them no better.
const EVIDENCE: usize = 1 << 18;

/// How many collectives are looked at together.
const AT_ONCE: usize = 256;

/// How a trace's clock was put on the merged one.
#[derive(Debug, Clone, PartialEq)]
pub enum Method {
    /// It is the merged one: all that ran on one machine share it.
    Reference,
    /// By so many collectives that its machine has in common with others; it may be off by so many ns.
    Collectives(usize, f64),
    /// By what the machines' real-time clocks showed; why not better.
    Anchors(String),
    /// As the user said.
    Given,
    /// Not at all; why.
    Stored(String),
}

/// A GPU that a process launched collectives on: what has a rank among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The trace.
    pub input: usize,
    /// The process.
    pub process: ProcessId,
    /// The GPU.
    pub agent: AgentId,
}

/// What one group of ranks did together with one kernel, on the merged clock.
#[derive(Debug, Clone, Default)]
pub struct Together {
    /// The kernel.
    pub name: String,
    /// Its members, as positions in [`Clocks::members`].
    pub members: Vec<usize>,
    /// How many collectives.
    pub collectives: usize,
    /// Those in which a member ends before the last one starts.
    pub violations: usize,
    /// From the first arrival to the last in ns, summed, where the clocks of the members are one.
    pub spread_ns: i64,
    /// From the last arrival to the last end in ns, summed, where the clocks of the members are one.
    pub transfer_ns: i64,
    /// The shortest stays in ns, summed: transfer, told without clocks.
    pub clock_free_transfer_ns: i64,
}

/// The clocks of a merge.
#[derive(Debug, Clone, Default)]
pub struct Clocks {
    /// By input, what is added to its times.
    pub shifts: Vec<ClockCorrection>,
    /// By input, how that is known.
    pub methods: Vec<Method>,
    /// What the merged clock is known by, where it is known.
    pub reference: Option<Evidence>,
    /// The members of collectives.
    pub members: Vec<Member>,
    /// What they did together.
    pub together: Vec<Together>,
    /// By member, what all of it says.
    pub waits: Waits,
    /// The position in `together` of the group between whose collectives steps lie, and its steps.
    pub steps: Option<(usize, StepTotals)>,
    /// Calls of collectives that no other rank's could be matched with.
    pub unmatched: usize,
}

impl Together {
    /// Whether the clocks of its members are one, as far as the collectives say.
    #[must_use]
    pub fn is_on_one_clock(&self) -> bool {
        self.violations as f64 <= CONTRADICTED * self.collectives as f64
    }
}

impl Clocks {
    /// Finds out what each clock needs; the collectives of the inputs go into it.
    ///
    /// # Errors
    /// Where the user's offsets make no sense.
    pub fn of(inputs: &mut [Survey], machines: &Machines, wanted: &args::Clock) -> Result<Self, Failure> {
        let given = given(inputs, wanted)?;
        let found = Found::of(inputs);
        let inputs = &*inputs;
        let groups = align::group_sequences(&found.sequences);
        // The machine whose clock an input has, where that is known and something may be done to it.
        let domains: Vec<Option<usize>> = (0..inputs.len())
            .map(|at| domain(inputs, machines, at).filter(|_| given[at].is_none() && !wanted.no_align))
            .collect();
        let reference = domains.iter().copied().flatten().next();
        let alignment = reference.map(|reference| {
            let domain = |member: usize| domains[found.members[member].input];
            let meetings =
                groups.groups.iter().flat_map(|group| align::matched_collectives(group, &found.sequences));
            let calls: usize = groups
                .groups
                .iter()
                .flat_map(|group| &group.members)
                .map(|&at| found.sequences[at].calls.len())
                .sum();
            let known: Vec<MatchedCollective> = meetings
                .step_by(calls.div_ceil(EVIDENCE).max(1))
                .map(|meeting| meeting.into_iter().filter(|&(member, ..)| domain(member).is_some()).collect())
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
            let (shift, method) = match (given[at], domains[at], &alignment) {
                (Some(offset), ..) => (ClockCorrection::constant(offset), Method::Given),
                (_, Some(domain), Some(alignment)) => {
                    let others = anchors(inputs, &domains, alignment.reference);
                    of_domain(input, domain, alignment, anchors(inputs, &domains, domain).zip(others))
                }
                _ if wanted.no_align => (ClockCorrection::default(), Method::Stored("--no-align".to_owned())),
                _ => {
                    (ClockCorrection::default(), Method::Stored("its machine or boot is unknown".to_owned()))
                }
            };
            clocks.shifts.push(shift);
            clocks.methods.push(method);
        }
        clocks.waits = align::waits(&[], found.members.len(), false);
        for group in &groups.groups {
            let together = clocks.together(group, &found);
            clocks.together.push(together);
        }
        let sizes = clocks.together.iter().map(|together| {
            (together.members.len(), together.collectives, rtl_schema::identity(&together.name))
        });
        clocks.steps = step_group(sizes).map(|at| {
            let meetings = align::matched_collectives(&groups.groups[at], &found.sequences);
            (at, StepTotals::between(meetings.map(|meeting| clocks.apply(meeting, &found.members))))
        });
        clocks.members = found.members;
        Ok(clocks)
    }

    /// A collective on the merged clock.
    fn apply(&self, meeting: MatchedCollective, members: &[Member]) -> MatchedCollective {
        let moved = |(member, start, end): (usize, i64, i64)| {
            let shift = &self.shifts[members[member].input];
            (member, shift.apply(start), shift.apply(end))
        };
        meeting.into_iter().map(moved).collect()
    }

    /// Tells of a group, a few collectives at a time.
    fn together(&mut self, group: &Group, found: &Found) -> Together {
        let meetings = || {
            let meetings = align::matched_collectives(group, &found.sequences);
            meetings.map(|meeting| self.apply(meeting, &found.members))
        };
        let is_violated = |meeting: &MatchedCollective| {
            let last_start = meeting.iter().map(|&(_, start, _)| start).max();
            meeting.iter().map(|&(.., end)| end).min() < last_start
        };
        let mut together = Together {
            name: group.members.first().map(|&at| found.names[at].clone()).unwrap_or_default(),
            members: group.members.iter().map(|&at| found.sequences[at].rank).collect(),
            collectives: meetings().count(),
            violations: meetings().filter(is_violated).count(),
            ..Together::default()
        };
        let is_on_one_clock = together.is_on_one_clock();
        let mut meetings = meetings();
        let mut all = align::waits(&[], found.members.len(), is_on_one_clock);
        loop {
            let some: Vec<MatchedCollective> = meetings.by_ref().take(AT_ONCE).collect();
            if some.is_empty() {
                break;
            }
            all.append(&align::waits(&some, found.members.len(), is_on_one_clock));
        }
        drop(meetings);
        (together.spread_ns, together.transfer_ns) = (all.spread_ns, all.transfer_ns);
        together.clock_free_transfer_ns = all.clock_free_transfer_ns;
        self.waits.append(&all);
        together
    }

    /// Inputs whose clocks are not known to be the merged one, with the reasons.
    pub fn unaligned(&self) -> impl Iterator<Item = (usize, &str)> {
        self.methods.iter().enumerate().filter_map(|(at, method)| match method {
            Method::Stored(why) | Method::Anchors(why) => Some((at, why.as_str())),
            Method::Reference | Method::Collectives(..) | Method::Given => None,
        })
    }
}

/// The collectives of all inputs.
#[derive(Debug, Default)]
struct Found {
    members: Vec<Member>,
    sequences: Vec<Sequence>,
    /// The kernel of each sequence.
    names: Vec<String>,
}

impl Found {
    fn of(inputs: &mut [Survey]) -> Self {
        let mut found = Self::default();
        for (input, survey) in inputs.iter_mut().enumerate() {
            for collective in std::mem::take(&mut survey.collectives) {
                let member = Member { input, process: collective.process, agent: collective.agent };
                // Those of one input stand together at the end.
                let known = found.members.iter().rev().take_while(|known| known.input == input);
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
fn given(inputs: &[Survey], wanted: &args::Clock) -> Result<Vec<Option<i64>>, Failure> {
    let mut offsets = vec![None; inputs.len()];
    for word in &wanted.offset {
        let parsed = word.split_once('=').and_then(|(rank, ns)| Some((rank.parse().ok()?, ns.parse().ok()?)));
        let Some((rank, ns)) = parsed else {
            return Err(Failure::usage(format!("--offset: {word} is not RANK=NS"))
                .with_hint("what is added to the times of that rank, for example --offset 3=-1500"));
        };
        match inputs.iter().position(|input| input.ranks().contains(&rank)) {
            Some(found) => offsets[found] = Some(ns),
            None => return Err(Failure::usage(format!("--offset: no trace is rank {rank}"))),
        }
    }
    Ok(offsets)
}

/// The machine whose clock an input has: its only one, or that of a trace that was merged before.
fn domain(inputs: &[Survey], machines: &Machines, at: usize) -> Option<usize> {
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

/// What a machine's real-time clock was ahead of the clock of its traces, in ns, where those say.
fn anchors(inputs: &[Survey], domains: &[Option<usize>], machine: usize) -> Option<i64> {
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

/// What an input's clock needs; `ahead` is by how much real time is ahead of it, and of the reference.
fn of_domain(
    input: &Survey,
    domain: usize,
    alignment: &Alignment,
    ahead: Option<(i64, i64)>,
) -> (ClockCorrection, Method) {
    if domain == alignment.reference {
        return (ClockCorrection::default(), Method::Reference);
    }
    let why = match &alignment.nodes[domain] {
        Ok(NodeClock { clock, collectives, error_ns }) => {
            return (sampled(clock, input, *error_ns), Method::Collectives(*collectives, *error_ns));
        }
        Err(AlignmentError::TooFew(0)) => "no collective in common with the reference".to_owned(),
        Err(AlignmentError::TooFew(count)) => format!("only {count} collectives in common with others"),
        Err(AlignmentError::Contradicted) => "the collectives contradict each other".to_owned(),
    };
    match ahead {
        Some((own, reference)) => {
            (ClockCorrection::constant(own.saturating_sub(reference)), Method::Anchors(why))
        }
        None => (ClockCorrection::default(), Method::Stored(why)),
    }
}

/// How much of its own error a clock may be off by for being told by few knots.
const THINNED: f64 = 0.01;

/// A clock for the time of an input: a straight line between few knots, off by no more than rounding and a small part of
/// the clock's own error.
fn sampled(clock: &Clock, input: &Survey, error_ns: f64) -> ClockCorrection {
    let (first, last) = input.span.unwrap_or_default();
    let moments = clock.moments().filter(|moment| (first..=last).contains(moment));
    let mut moments: Vec<i64> = moments.chain([first, last]).collect();
    moments.sort_unstable();
    moments.dedup();
    let knots: Vec<(i64, i64)> =
        moments.into_iter().map(|moment| (moment, clock.offset(moment).round() as i64)).collect();
    ClockCorrection::new(thinned(&knots, (error_ns * THINNED).max(1.0)))
}

/// As few of the knots as a walk needs that goes on from each as far as a straight line passes all those between by no
/// more than `tolerance` ns.
fn thinned(knots: &[(i64, i64)], tolerance: f64) -> Vec<(i64, i64)> {
    let Some(&first) = knots.first() else { return Vec::new() };
    let (mut kept, mut last) = (vec![first], first);
    // The slopes of all lines from the last one that was kept which pass near enough.
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
    fn a_straight_line_is_told_by_its_ends_and_a_bend_by_one_more() {
        let line: Vec<(i64, i64)> = (0..100).map(|at| (at * 1_000, 7 + at * 3)).collect();
        assert_eq!(thinned(&line, 1.0), [line[0], line[99]]);
        let bend: Vec<(i64, i64)> = (0..100).map(|at| (at * 1_000, (at - 60).max(0) * 500)).collect();
        assert_eq!(thinned(&bend, 1.0), [bend[0], bend[60], bend[99]]);
        assert_eq!(thinned(&line[..1], 1.0), line[..1]);
        assert_eq!(thinned(&[], 1.0), []);
    }

    proptest! {
        #[test]
        fn no_knot_that_was_left_out_is_far_from_the_line(
            steps in prop::collection::vec((1_i64..1_000, -40_i64..40), 1..200),
            tolerance in 1_u8..30,
        ) {
            let tolerance = f64::from(tolerance);
            let mut knots = vec![(0, 0)];
            for (time, change) in steps {
                let (at, offset) = knots[knots.len() - 1];
                knots.push((at + time, offset + change));
            }
            let shift = ClockCorrection::new(thinned(&knots, tolerance));
            for (at, offset) in knots {
                let off = (shift.apply(at) - at - offset).abs();
                prop_assert!(off as f64 <= tolerance + 1.0, "{off} at {at}");
            }
        }
    }
}
