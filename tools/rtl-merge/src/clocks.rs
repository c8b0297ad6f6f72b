//! Aligns the clocks of the traces.

use std::ops::Range;

use cli::Failure;
use rtl_analysis::align::{
    self, Alignment, AlignmentError, Clock, Groups, MatchedCollective, NodeClock, Sequence,
};
use rtl_schema::{AgentId, ProcessId};
use rtl_write::ClockCorrection;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use crate::args::{Align, ClockOptions};
use crate::identity::{Evidence, Machines};
use crate::output::CLOCK;
use crate::read::Input;

/// The number of calls that alignment uses at most; more do not improve it.
const MAX_CALLS: usize = 1 << 18;

/// How the clock of a trace was aligned with the merged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// It is the merged clock: all processes of one machine share it, and so does a trace that does not name its machine
    /// where its collectives do not contradict that.
    Reference,
    /// The collectives of its machine match those of others.
    Collectives,
    /// The real-time clocks of the machines give the offset.
    Anchors,
    /// `--offset` gives it.
    Given,
    /// Times stay as the trace states them.
    Stored,
}

/// The alignment of the clock of one trace.
#[derive(Debug, Clone, Serialize)]
pub struct InputClock {
    pub method: Method,
    /// Why no better method was possible.
    pub reason: Option<String>,
    /// The offset at the first row of the trace, in ns.
    pub added_first_ns: i64,
    /// The offset at the last row, in ns.
    pub added_last_ns: i64,
    /// The error bound in ns, with 95 % confidence.
    pub error_ns: Option<f64>,
    /// The number of collectives behind `error_ns`.
    pub collectives: Option<usize>,
}

/// A process and a GPU that it launched collectives on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) input: usize,
    pub(crate) process: ProcessId,
    pub(crate) agent: AgentId,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Clocks {
    /// The offsets of times, by input.
    pub(crate) corrections: Vec<ClockCorrection>,
    pub(crate) inputs: Vec<InputClock>,
    /// The machine of the merged clock as a merged trace names it, if it is known or others were aligned with it.
    pub(crate) reference: Option<(&'static str, String)>,
    /// The collectives of all inputs, on their own clocks.
    pub(crate) found: Sequences,
    pub(crate) groups: Groups,
}

impl InputClock {
    fn new(method: Method, reason: Option<String>) -> Self {
        Self { method, reason, added_first_ns: 0, added_last_ns: 0, error_ns: None, collectives: None }
    }
}

impl Clocks {
    /// Aligns all clocks; takes the collectives out of the inputs.
    ///
    /// # Errors
    /// Where an offset of the user is invalid, or with `--align require` a clock cannot be aligned.
    pub(crate) fn align(
        inputs: &mut [Input],
        machines: &Machines,
        options: &ClockOptions,
    ) -> Result<Self, Failure> {
        let offsets = parse_offsets(inputs, &options.offset)?;
        let found = Sequences::take(inputs);
        let inputs = &*inputs;
        let groups = align::group_sequences(&found.sequences);
        // The clock of an input, if it has one and may be moved: that of its machine, else one of its own.
        let domains: Vec<Option<usize>> = (0..inputs.len())
            .map(|at| domain(inputs, machines, at).or_else(|| own_domain(inputs, machines, at)))
            .zip(&offsets)
            .map(|(domain, offset)| domain.filter(|_| offset.is_none() && options.align != Align::Never))
            .collect();
        let named: Vec<bool> =
            (0..machines.all.len() + inputs.len()).map(|domain| domain < machines.all.len()).collect();
        let reference = domains.iter().copied().flatten().min_by_key(|&domain| !named[domain]);
        let alignment = reference.map(|reference| {
            let domain = |member: usize| domains[found.members[member].input];
            let calls: usize = groups
                .groups
                .iter()
                .flat_map(|group| &group.members)
                .map(|&at| found.sequences[at].calls.len())
                .sum();
            let known = |group: &align::Group| -> Vec<MatchedCollective> {
                align::matched_every(group, calls.div_ceil(MAX_CALLS).max(1), &found.sequences)
                    .map(|collective| {
                        collective.into_iter().filter(|&(member, ..)| domain(member).is_some()).collect()
                    })
                    .collect()
            };
            let known: Vec<Vec<MatchedCollective>> = threads::map(&groups.groups, known);
            let machine_of: Vec<usize> =
                (0..found.members.len()).map(|member| domain(member).unwrap_or(reference)).collect();
            align::align(&known, &machine_of, &named, reference)
        });
        let has_followers = |alignment: &&Alignment| {
            let nodes = alignment.nodes.iter().enumerate();
            named[alignment.reference] || nodes.filter(|(_, node)| node.is_ok()).count() > 1
        };
        let alignment = alignment.as_ref().filter(has_followers);
        let reference = alignment.map(|alignment| match machines.all.get(alignment.reference) {
            Some(machine) => machine.evidence.tag().map(|(field, id)| (field, id.to_owned())),
            None => Some(("common", "collectives".to_owned())),
        });
        let reference = reference.flatten();
        let anchors = anchors(inputs, &domains);
        let others = alignment.and_then(|alignment| anchors.get(&alignment.reference).copied());
        let clock_of = |at: usize| {
            let (correction, clock) = match (offsets[at], domains[at], alignment) {
                (Some(offset), ..) => {
                    (ClockCorrection::constant(offset), InputClock::new(Method::Given, None))
                }
                (_, Some(domain), Some(alignment)) => {
                    let ahead = anchors.get(&domain).copied().zip(others);
                    align_input(&inputs[at], (domain, named[domain]), alignment, ahead)
                }
                _ => {
                    let reason = if options.align == Align::Never {
                        "--align never"
                    } else {
                        "its machine or boot is unknown"
                    };
                    (ClockCorrection::default(), InputClock::new(Method::Stored, Some(reason.to_owned())))
                }
            };
            let (first, last) = inputs[at].span.unwrap_or_default();
            let added = |moment: i64| correction.apply(moment).saturating_sub(moment);
            let (added_first_ns, added_last_ns) = (added(first), added(last));
            (correction, InputClock { added_first_ns, added_last_ns, ..clock })
        };
        let (corrections, of_inputs) = threads::map(0..inputs.len(), clock_of).into_iter().unzip();
        let clocks = Self { corrections, inputs: of_inputs, reference, found, groups };
        if options.align == Align::Require {
            clocks.check_alignment(inputs)?;
        }
        Ok(clocks)
    }

    fn check_alignment(&self, inputs: &[Input]) -> Result<(), Failure> {
        let reasons = inputs
            .iter()
            .zip(&self.inputs)
            .filter_map(|(input, clock)| Some((input, clock.reason.as_ref()?)));
        let unaligned: Vec<String> =
            reasons.map(|(input, reason)| format!("{} ({reason})", input.name())).collect();
        if unaligned.is_empty() {
            return Ok(());
        }
        let (count, all, names) = (unaligned.len(), inputs.len(), unaligned.join(", "));
        Err(Failure::input(anyhow::anyhow!("{count} of {all} traces are not aligned: {names}")).with_hint(
            "--offset RANK=NS sets an offset; without `--align require` the times are merged unchanged",
        ))
    }

    /// The collectives of a group, on the merged clock. Their ranks are positions in [`Sequences::members`].
    pub(crate) fn matched<'a>(
        &'a self,
        group: &'a align::Group,
    ) -> impl Iterator<Item = MatchedCollective> + 'a {
        align::matched_collectives(group, &self.found.sequences).map(|collective| self.moved(collective))
    }

    /// As [`Self::matched`], for a part of the collectives.
    pub(crate) fn matched_within<'a>(
        &'a self,
        group: &'a align::Group,
        part: Range<usize>,
    ) -> impl Iterator<Item = MatchedCollective> + 'a {
        align::matched_within(group, part, &self.found.sequences).map(|collective| self.moved(collective))
    }

    fn moved(&self, collective: MatchedCollective) -> MatchedCollective {
        let moved = |(member, start, end): (usize, i64, i64)| {
            let correction = &self.corrections[self.found.members[member].input];
            (member, correction.apply(start), correction.apply(end))
        };
        collective.into_iter().map(moved).collect()
    }
}

/// The collectives of all inputs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sequences {
    pub(crate) members: Vec<Member>,
    pub(crate) sequences: Vec<Sequence>,
    /// The kernels, by sequence.
    pub(crate) names: Vec<String>,
}

impl Sequences {
    fn take(inputs: &mut [Input]) -> Self {
        let mut found = Self::default();
        for (at, input) in inputs.iter_mut().enumerate() {
            let members = &mut found.members;
            let mut known: FxHashMap<(ProcessId, AgentId), usize> = FxHashMap::default();
            let collectives = std::mem::take(&mut input.collectives.calls);
            let (sequences, names) = align::sequences(collectives, |process, agent| {
                Some(*known.entry((process, agent)).or_insert_with(|| {
                    members.push(Member { input: at, process, agent });
                    members.len() - 1
                }))
            });
            found.sequences.extend(sequences);
            found.names.extend(names);
        }
        found
    }
}

/// `--offset RANK=NS`, by input.
fn parse_offsets(inputs: &[Input], words: &[String]) -> Result<Vec<Option<i64>>, Failure> {
    let mut offsets = vec![None; inputs.len()];
    let mut of_rank: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, input) in inputs.iter().enumerate().filter(|_| !words.is_empty()) {
        input.ranks().into_iter().for_each(|rank| _ = of_rank.entry(rank).or_insert(at));
    }
    for word in words {
        let parsed = word.split_once('=').and_then(|(rank, ns)| Some((rank.parse().ok()?, ns.parse().ok()?)));
        let Some((rank, ns)) = parsed else {
            return Err(Failure::usage(format!("--offset: `{word}` is not RANK=NS"))
                .with_hint("write the ns to add to the times of that rank, for example --offset 3=-1500"));
        };
        match of_rank.get(&rank) {
            Some(&found) => offsets[found] = Some(ns),
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

/// The clock of an input that does not name its machine.
fn own_domain(inputs: &[Input], machines: &Machines, at: usize) -> Option<usize> {
    let is_one = machines.only(at).is_some() || inputs[at].tag(CLOCK).is_some();
    is_one.then_some(machines.all.len() + at)
}

/// By machine: the offset of its real-time clock from the clock of its traces in ns, where these have anchors.
fn anchors(inputs: &[Input], domains: &[Option<usize>]) -> FxHashMap<usize, i64> {
    let ahead = |text: &str| {
        let anchor: Value = serde_json::from_str(text).ok()?;
        anchor.get("realtime")?.as_i64()?.checked_sub(anchor.get("boottime")?.as_i64()?)
    };
    let mut all: FxHashMap<usize, Vec<i64>> = FxHashMap::default();
    for (input, domain) in inputs.iter().zip(domains) {
        let texts = ["clock_start", "clock_end"].into_iter().filter_map(|tag| input.tag(tag));
        let of_domain = domain.map(|domain| all.entry(domain).or_default());
        of_domain.into_iter().for_each(|known| known.extend(texts.clone().filter_map(ahead)));
    }
    let median = |(domain, mut ahead): (usize, Vec<i64>)| {
        ahead.sort_unstable();
        Some((domain, *ahead.get(ahead.len() / 2)?))
    };
    all.into_iter().filter_map(median).collect()
}

/// Aligns the clock of an input by that of its machine; `ahead` are the offsets of real time from it and from the reference.
fn align_input(
    input: &Input,
    (domain, is_named): (usize, bool),
    alignment: &Alignment,
    ahead: Option<(i64, i64)>,
) -> (ClockCorrection, InputClock) {
    if domain == alignment.reference {
        return (ClockCorrection::default(), InputClock::new(Method::Reference, None));
    }
    let reason = match &alignment.nodes[domain] {
        &Ok(NodeClock { ref clock, collectives, error_ns, is_shared }) => {
            let (error, collectives) = (Some(error_ns), Some(collectives));
            let (method, correction) = match is_shared {
                true => (Method::Reference, ClockCorrection::default()),
                false => (Method::Collectives, sampled(clock, input, error_ns)),
            };
            let by = InputClock::new(method, None);
            return (correction, InputClock { error_ns: error, collectives, ..by });
        }
        Err(AlignmentError::TooFew(0)) => "no collective in common with the reference".to_owned(),
        Err(AlignmentError::TooFew(count)) => format!("only {count} collectives in common with others"),
        Err(AlignmentError::Contradicted) => "the collectives contradict each other".to_owned(),
    };
    let reason = if is_named { reason } else { format!("its machine or boot is unknown, and {reason}") };
    match ahead {
        Some((own, reference)) => {
            let correction = ClockCorrection::constant(own.saturating_sub(reference));
            (correction, InputClock::new(Method::Anchors, Some(reason)))
        }
        None => (ClockCorrection::default(), InputClock::new(Method::Stored, Some(reason))),
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
