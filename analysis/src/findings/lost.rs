//! Idle time that a rule looks at, of all GPUs.

use std::cmp::Reverse;

use rtl_schema::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::place::Part;
use super::rhythm::rhythm;
use super::words::{counted, percent, time};
use crate::base::ops::Op;
use crate::idle::LostPart;
use crate::trust::Evidence;

/// The steps of this part of the time must be known to name them.
const LISTED_PART: f64 = 0.5;

/// Losses with one remedy.
#[derive(Debug, Clone)]
pub(super) struct Lost<'a> {
    inputs: &'a Inputs<'a>,
    parts: Vec<Part<'a>>,
}

impl<'a> Lost<'a> {
    pub(super) fn new(inputs: &'a Inputs<'a>, is_taken: impl Fn(&Part<'a>) -> bool) -> Self {
        let parts = inputs.losses().iter().copied().filter(is_taken).collect();
        Self { inputs, parts }
    }

    /// Losses that were chosen already.
    pub(super) fn of_parts(inputs: &'a Inputs<'a>, parts: Vec<Part<'a>>) -> Self {
        Self { inputs, parts }
    }

    /// The losses by a key, most time first, then in the order of keys.
    pub(super) fn by_key<K: std::hash::Hash + Ord>(self, key: impl Fn(&Part<'a>) -> K) -> Vec<(K, Self)> {
        let mut groups: FxHashMap<K, Vec<Part<'a>>> = FxHashMap::default();
        for part in self.parts {
            groups.entry(key(&part)).or_default().push(part);
        }
        let inputs = self.inputs;
        let mut groups: Vec<(K, Self)> =
            groups.into_iter().map(|(key, parts)| (key, Self { inputs, parts })).collect();
        groups.sort_by(|(one, first), (other, second)| {
            (Reverse(first.total_ns()), one).cmp(&(Reverse(second.total_ns()), other))
        });
        groups
    }

    pub(super) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    pub(super) fn total_ns(&self) -> u64 {
        self.parts.iter().map(|part| part.ns).sum()
    }

    /// Idle time in ns by the position of the GPU.
    pub(super) fn by_gpu(&self) -> Vec<i64> {
        let mut times = vec![0_i64; self.inputs.idle().len()];
        for part in &self.parts {
            times[part.gpu] = times[part.gpu].saturating_add_unsigned(part.ns);
        }
        times
    }

    /// A finding of this time, with its GPUs and evidence; none where there is no such time.
    pub(super) fn finding(&self, id: &str) -> Option<Finding> {
        let finding = Finding::of_gpus(id, self.inputs, self.by_gpu());
        (finding.cost_ns > 0).then(|| Finding { evidence: self.evidence(), ..finding })
    }

    /// The parts on GPUs that a finding concerns.
    fn concerned(&self, finding: &Finding) -> impl Iterator<Item = &Part<'a>> {
        let gpus = self.inputs.idle();
        let named: FxHashSet<i64> = finding.gpus.iter().copied().collect();
        let is_concerned = move |part: &&Part<'_>| named.is_empty() || named.contains(&gpus[part.gpu].gpu);
        self.parts.iter().filter(is_concerned)
    }

    /// The idle time of one GPU of those concerned in ns.
    pub(super) fn idle_ns(&self, finding: &Finding) -> i64 {
        let total: u64 = self.concerned(finding).map(|part| part.ns).sum();
        i64::try_from(total).unwrap_or(i64::MAX) / finding.concerned(self.inputs).max(1) as i64
    }

    /// `idle for 17.6 ms in 239 gaps of 73.7 us (74.6 % of the wall time)`, for one GPU of those concerned.
    pub(super) fn idle(&self, finding: &Finding) -> String {
        self.idle_and(finding, "")
    }

    /// As [`Self::idle`], with what else the cost consists of.
    pub(super) fn idle_and(&self, finding: &Finding, other: &str) -> String {
        let concerned = finding.concerned(self.inputs).max(1) as u64;
        let gaps = self.concerned(finding).map(|part| part.loss.gaps).sum::<u64>();
        let gaps = gaps.div_ceil(concerned).max(1);
        let idle = self.idle_ns(finding);
        let size = match self.longest().map(|part| part.loss.longest.ns as i64).next() {
            _ if gaps == 1 => String::new(),
            Some(longest) if longest >= idle / 2 => format!(", one of them of {}", time(longest)),
            _ => format!(" of {}", time(idle / i64::try_from(gaps).unwrap_or(i64::MAX))),
        };
        format!(
            "idle for {}{} in {}{size}{other} ({} of the wall time)",
            time(idle),
            finding.on(self.inputs),
            counted(gaps, "gap", "gaps"),
            percent(finding.share),
        )
    }

    /// `, most at aten::item -> hipStreamSynchronize`; nothing where no place is known.
    pub(super) fn at(&self) -> String {
        let mut places: FxHashMap<Option<String>, u64> = FxHashMap::default();
        for part in &self.parts {
            *places.entry(part.places.label(part.loss.site)).or_default() += part.ns;
        }
        let most =
            places.into_iter().max_by(|(one, first), (other, second)| (first, other).cmp(&(second, one)));
        most.and_then(|(place, _)| place).map_or_else(String::new, |place| format!(", most at {place}"))
    }

    /// `, in every fourth step`; nothing where the trace has no steps.
    pub(super) fn when(&self) -> String {
        let analysis = self.inputs.analysis;
        let Some(steps) = analysis.steps() else { return String::new() };
        // Without the moments of most of the time there is no telling.
        let listed: u64 = self.parts.iter().flat_map(|part| &part.loss.moments).map(|(_, ns)| ns).sum();
        if (listed as f64) < LISTED_PART * self.total_ns() as f64 {
            return String::new();
        }
        let moments = self.parts.iter().flat_map(|part| {
            let process = part.loss.longest.thread.map_or(ProcessId(0), |(process, _)| process);
            part.loss.moments.iter().map(move |&(start, ns)| (process, start, ns))
        });
        rhythm(analysis.tables, steps, moments).map_or_else(String::new, |rhythm| format!(", {rhythm}"))
    }

    /// `, after gemm and before softmax`: the ops around the longest gap.
    pub(super) fn between(&self) -> String {
        let tables = self.inputs.analysis.tables;
        let Some(LostPart { before, after, .. }) = self.longest().next().map(|part| part.loss.longest) else {
            return String::new();
        };
        let name = |op: Op| self.inputs.display(op.name(tables));
        match before.map(name) {
            Some(before) => format!(", after {before} and before {}", name(after)),
            None => format!(", before {}", name(after)),
        }
    }

    /// `, in thread 12`, where several threads of its process launch.
    pub(super) fn thread(&self) -> String {
        let thread = |part: &Part<'_>| part.loss.longest.thread;
        let Some((process, tid)) = self.longest().next().and_then(thread) else { return String::new() };
        let mut others = self.inputs.losses().iter().filter_map(thread);
        match tid.filter(|tid| others.any(|(of, other)| of == process && other != Some(*tid))) {
            Some(tid) => format!(", in thread {tid}"),
            None => String::new(),
        }
    }

    /// The parts with the longest pieces first.
    fn longest(&self) -> impl Iterator<Item = &Part<'a>> {
        let mut parts: Vec<&Part<'a>> = self.parts.iter().collect();
        parts.sort_by_key(|part| (Reverse(part.loss.longest.ns), part.loss.longest.start, part.gpu));
        parts.into_iter()
    }

    /// The longest gaps.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let tables = self.inputs.analysis.tables;
        let mut gaps: Vec<Evidence> = Vec::new();
        for part in self.longest() {
            let LostPart { gap_start, gap_ns, after, .. } = part.loss.longest;
            let gap = Evidence {
                name: after.name(tables).to_owned(),
                start_ns: gap_start,
                end_ns: Some(gap_start.saturating_add_unsigned(gap_ns)),
                correlation: after.correlation(tables),
            };
            if gaps.len() < PLACES && !gaps.contains(&gap) {
                gaps.push(gap);
            }
        }
        gaps
    }
}
