//! Idle time that a rule looks at, of all GPUs.

use std::cmp::Reverse;

use rtl_schema::ProcessId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::before_first::BeforeFirst;
use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::place::{OUTSIDE, Part, begins_capture};
use super::rhythm::Rhythm;
use super::words::{counted, percent, time, whole_percent};
use crate::base::ops::Op;
use crate::gpu_time::ranges::Repeated;
use crate::idle::{Losses, LostPart, SpanKind, innermost_of_most, says_where};
use crate::names::span_names::span_name;
use crate::trust::Evidence;

/// Gaps with this part of the time say when and how long the GPU is idle.
const LISTED_PART: f64 = 0.5;

/// Linux numbers no more threads.
const MOST_THREADS: i64 = 1 << 22;

/// From this part of the time on a function is around all of it, and says less than places within it.
const NEARLY: f64 = 0.9;

/// A place within another is named where this many times its time are all of it.
const SOME: u64 = 5;

/// A number of calls a step differs by at most this part of it from a whole one.
const NEARLY_WHOLE: f64 = 0.05;

/// The ops before and after a gap.
type Neighbours = (Option<Op>, Op);

/// Long gaps are few where this many times as many hold the rest of the time.
const FEW: u64 = 4;

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

    pub(super) fn add(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    pub(super) fn parts(&self) -> &[Part<'a>] {
        &self.parts
    }

    pub(super) fn total_ns(&self) -> u64 {
        self.parts.iter().map(|part| part.ns).sum()
    }

    /// Idle time in ns by the position of the GPU.
    pub(super) fn by_gpu(&self) -> Vec<i64> {
        self.by_gpu_of(|_| true)
    }

    fn by_gpu_of(&self, is_taken: impl Fn(&Part<'a>) -> bool) -> Vec<i64> {
        let mut times = vec![0_i64; self.inputs.idle().len()];
        for part in self.parts.iter().filter(|part| is_taken(part)) {
            times[part.gpu] = times[part.gpu].saturating_add_unsigned(part.ns);
        }
        times
    }

    /// A finding of this time, with its GPUs and evidence; none where there is no such time.
    pub(super) fn finding(&self, id: &str) -> Option<Finding> {
        let before = self.by_gpu_of(|part| part.is_before);
        let finding = Finding::of_gpus_and(id, self.inputs, self.by_gpu(), &before);
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
        let is_mostly_before = finding.before_ns > finding.cost_ns / 2;
        let before = match finding.before_ns {
            0 => String::new(),
            ns if is_mostly_before => format!(
                "idle for {}{} before the first op{} (outside of the wall time)",
                time(ns),
                finding.on(self.inputs),
                self.step_part(ns),
            ),
            ns => format!(" and for {} before the first op, outside of it", time(ns)),
        };
        if finding.before_ns > 0 && finding.before_ns == finding.cost_ns {
            return before;
        }
        let gpus = finding.concerned(self.inputs).max(1) as u64;
        let within = || self.concerned(finding).filter(|part| !part.is_before);
        let long = self.long_gaps(within());
        let gaps: u64 = within().map(|part| part.loss.gaps).sum();
        // A gap in which something else takes more time is listed where it is long.
        let gaps = gaps.max(long.len() as u64).div_ceil(gpus).max(1);
        let idle = self.idle_ns(finding) - finding.before_ns;
        let mean = |ns: u64, count: u64| time(i64::try_from(ns / count.max(1)).unwrap_or(i64::MAX));
        let (in_long, long_gaps) = (long.values().sum::<u64>() / gpus, (long.len() as u64).div_ceil(gpus));
        let are_few = long_gaps * FEW <= gaps && in_long as f64 >= LISTED_PART * idle as f64;
        let longest = long.values().copied().max().unwrap_or(0);
        let size = match () {
            () if gaps == 1 => String::new(),
            () if longest as f64 >= LISTED_PART * idle as f64 => {
                format!(", one of them of {}", mean(longest, 1))
            }
            () if are_few => format!(", {long_gaps} of them with {}", mean(in_long, 1)),
            () => format!(" of {}", mean(idle.unsigned_abs(), gaps)),
        };
        let (idle, gaps) = (time(idle), counted(gaps, "gap", "gaps"));
        let share = percent(finding.share_of_wall());
        match is_mostly_before {
            true => format!("{before} and for {idle} in {gaps}{size}{other} ({share} of the wall time)"),
            false => {
                let on = finding.on(self.inputs);
                format!("idle for {idle}{on} in {gaps}{size}{other} ({share} of the wall time){before}")
            }
        }
    }

    /// `, 57.0 % of ProfilerStep#6`, of a time in ns before the first op.
    fn step_part(&self, ns: i64) -> String {
        let step = BeforeFirst::of(self.inputs).filter(|before| before.share > 0.0);
        let part = |step: BeforeFirst| {
            let length = step.ns as f64 / step.share;
            step.within.map(|within| format!(", {} of {within}", percent(ns as f64 / length)))
        };
        step.and_then(part).unwrap_or_default()
    }

    /// The time of long gaps in ns, by the position of the GPU and the start.
    pub(super) fn long_gaps<'b>(
        &self,
        parts: impl Iterator<Item = &'b Part<'a>>,
    ) -> FxHashMap<(usize, i64), u64>
    where
        'a: 'b,
    {
        let mut long = FxHashMap::default();
        for part in parts {
            for moment in &part.loss.moments {
                *long.entry((part.gpu, moment.gap_start)).or_default() += moment.ns;
            }
        }
        long
    }

    /// `, most at aten::item -> hipStreamSynchronize`, or at what is around several places with half of the time; nothing where no
    /// place has half of it.
    pub(super) fn at(&self) -> String {
        let mut places: FxHashMap<Option<String>, u64> = FxHashMap::default();
        for part in &self.parts {
            *places.entry(part.places.label(part.loss.site)).or_default() += part.ns;
        }
        let most =
            places.into_iter().max_by(|(one, first), (other, second)| (first, other).cmp(&(second, one)));
        let half = self.total_ns().div_ceil(2);
        match most {
            Some((Some(place), ns)) if ns >= half && place == OUTSIDE => {
                ", most of it outside of operators and calls".to_owned()
            }
            Some((Some(place), ns)) if ns >= half => format!(", most at {place}"),
            Some((None, ns)) if ns >= half => String::new(),
            _ => self.call().or_else(|| self.around()).unwrap_or_default(),
        }
    }

    /// `, most at cudaFree`: the call with at least half of the time, wherever it is.
    fn call(&self) -> Option<String> {
        let mut times: FxHashMap<&str, u64> = FxHashMap::default();
        for part in self.parts.iter().filter(|part| part.loss.site.call.is_some()) {
            *times.entry(part.places.tables.strings.get(part.loss.site.call)).or_default() += part.ns;
        }
        let most = times.into_iter().find(|&(call, ns)| ns * 2 > self.total_ns() && !begins_capture(call));
        most.map(|(call, _)| format!(", most at {call}"))
    }

    /// `, most at step`: the innermost span around at least half of the time; of a function around nearly all of it, `, 49 % of it at
    /// Optimizer.step, 29 % at run_backward`.
    fn around(&self) -> Option<String> {
        let chains = || self.parts.iter().map(|part| (part.places.spans(part.loss.site.path), part.ns));
        let around = innermost_of_most(chains(), self.total_ns(), |(name, _)| says_where(name))?;
        let mut chains: Vec<(Vec<&str>, u64)> = chains()
            .filter(|(spans, _)| spans.clone().any(|span| span == around))
            .map(|(spans, ns)| (spans.take_while(|span| *span != around).map(|(name, _)| name).collect(), ns))
            .collect();
        let mut within = Vec::new();
        let held: u64 = chains.iter().map(|(_, ns)| ns).sum();
        let holds_all = around.1 == SpanKind::OwnPython && held as f64 >= NEARLY * self.total_ns() as f64;
        while holds_all && within.len() < PLACES {
            // A function that calls itself counts once: the number of the last chain with it says so.
            let mut times: FxHashMap<&str, (u64, usize, usize)> = FxHashMap::default();
            for (number, (names, ns)) in chains.iter().enumerate() {
                for (depth, name) in names.iter().rev().enumerate() {
                    let (sum, deepest, last) = times.entry(name).or_insert((0, 0, usize::MAX));
                    *sum += if *last == number { 0 } else { *ns };
                    (*deepest, *last) = (depth.max(*deepest), number);
                }
            }
            let most = times.into_iter().filter(|(name, _)| says_where(name));
            let most = most.map(|(name, (ns, depth, _))| (name, (ns, depth)));
            let most = most.max_by_key(|&(name, (ns, depth))| (ns, depth, Reverse(name)));
            let Some((name, (ns, _))) = most.filter(|(_, (ns, _))| ns * SOME >= self.total_ns()) else {
                break;
            };
            chains.retain(|(names, _)| !names.contains(&name));
            within.push(format!("{} at {}", whole_percent(ns, self.total_ns()), span_name(name)));
        }
        match &mut within[..] {
            [] => Some(format!(", most at {}", span_name(around.0))),
            [first, ..] => {
                *first = first.replacen(" at ", " of it at ", 1);
                Some(format!(", {}", within.join(", ")))
            }
        }
    }

    /// The steps that have it; `None` where the trace has no steps.
    pub(super) fn rhythm(&self) -> Option<Rhythm> {
        let analysis = self.inputs.analysis;
        let steps =
            analysis.steps().filter(|steps| steps.are_steps(analysis.tables) && self.has_several(steps))?;
        // Without the moments of most of the time there is no telling.
        let listed: u64 = self.parts.iter().flat_map(|part| &part.loss.moments).map(|moment| moment.ns).sum();
        if (listed as f64) < LISTED_PART * self.total_ns() as f64 {
            return None;
        }
        let moments = self.parts.iter().flat_map(|part| {
            let process = part.loss.longest.thread.map_or(ProcessId(0), |(process, _)| process);
            part.loss.moments.iter().map(move |moment| (process, moment.start, moment.ns))
        });
        Rhythm::new(analysis.tables, steps, moments)
    }

    /// Returns whether several steps have time between the first and the last op of the GPUs: else naming one says nothing.
    fn has_several(&self, steps: &Repeated) -> bool {
        let gpus = self.inputs.gpus();
        let first = gpus.iter().map(|gpu| gpu.start_ns).min().unwrap_or(0);
        let last = gpus.iter().map(|gpu| gpu.end_ns).max().unwrap_or(0);
        self.inputs.analysis.processes().iter().any(|&process| {
            let spans = (0..steps.count(process)).filter_map(|number| steps.span(process, number));
            spans.filter(|&(start, end)| start < last && end > first).nth(1).is_some()
        })
    }

    /// `, in every fourth step`; nothing where the trace has no steps.
    pub(super) fn when(&self) -> String {
        self.rhythm().map_or_else(String::new, |rhythm| format!(", {rhythm}"))
    }

    /// `, in step 1 only`: when the host is slower than the GPU; nothing where that is regular.
    pub(super) fn when_slow(&self) -> String {
        let steps = self.inputs.analysis.steps().filter(|steps| self.has_several(steps));
        let Some(steps) = steps else { return String::new() };
        let rhythm = self.rhythm_of(steps, Losses::pace).filter(|rhythm| !rhythm.is_regular());
        rhythm.map_or_else(String::new, |rhythm| format!(", {rhythm}"))
    }

    /// How many calls bear idle time of one GPU of those concerned.
    pub(super) fn calls(&self, finding: &Finding) -> u64 {
        let gpus = finding.concerned(self.inputs).max(1) as u64;
        self.concerned(finding).map(|part| part.loss.calls).sum::<u64>().div_ceil(gpus)
    }

    /// `576 waits, 72 a step`; where steps differ, `3 waits in ProfilerStep#5 only`: the calls of one GPU of those concerned that bear
    /// the time, which waited for the GPU.
    pub(super) fn waits(&self, finding: &Finding) -> String {
        let waits = counted(self.calls(finding), "wait", "waits");
        match (self.calls_a_step(finding), self.rhythm_of_waits()) {
            (Some(each), _) if each > 1 => format!("{waits}, {each} a step"),
            (_, Some((rhythm, _))) => format!("{waits}, {rhythm}"),
            _ => waits,
        }
    }

    /// How many calls of each step bear idle time, if all steps have about as many.
    pub(super) fn calls_a_step(&self, finding: &Finding) -> Option<u64> {
        let (rhythm, steps) = self.rhythm_of_waits()?;
        let each = self.calls(finding) as f64 / steps.max(1) as f64;
        let is_whole = (each - each.round()).abs() <= NEARLY_WHOLE * each;
        (rhythm == Rhythm::Always && is_whole).then_some(each.round() as u64)
    }

    /// The steps in which waiting for the GPU leads to idle time, and how many steps there are.
    fn rhythm_of_waits(&self) -> Option<(Rhythm, usize)> {
        let analysis = self.inputs.analysis;
        let steps = analysis.steps().filter(|steps| steps.are_steps(analysis.tables))?;
        let processes = (0..analysis.tables.processes.len()).map(|process| ProcessId(process as u32));
        let count = processes.map(|process| steps.count(process)).max()?;
        Some((self.rhythm_of(steps, Losses::waits)?, count))
    }

    /// The steps with times that the losses of all GPUs have.
    fn rhythm_of(&self, steps: &Repeated, times: impl Fn(&'a Losses) -> &'a [(i64, u64)]) -> Option<Rhythm> {
        let moments = self.inputs.idle().iter().flat_map(|gpu| {
            let thread = gpu.losses.iter().find_map(|loss| loss.longest.thread);
            let process = thread.map_or(ProcessId(0), |(process, _)| process);
            times(&gpu.losses).iter().map(move |&(start, ns)| (process, start, ns))
        });
        Rhythm::new(self.inputs.analysis.tables, steps, moments)
    }

    /// `, after gemm and before softmax`: the ops around most of the time, else `, the longest of 3.10 ms after gemm and before softmax`.
    pub(super) fn between(&self) -> String {
        let tables = self.inputs.analysis.tables;
        let names = |(before, after): Neighbours| (before.map(|op| op.name(tables)), after.name(tables));
        let mut times: FxHashMap<(Option<&str>, &str), u64> = FxHashMap::default();
        let mut gaps: FxHashMap<(usize, i64), (u64, Neighbours)> = FxHashMap::default();
        for part in &self.parts {
            for moment in &part.loss.moments {
                *times.entry(names(moment.ops)).or_default() += moment.ns;
                gaps.entry((part.gpu, moment.gap_start)).or_insert((0, moment.ops)).0 += moment.ns;
            }
        }
        let listed: u64 = times.values().sum();
        let most = times.into_iter().max_by_key(|&(ops, ns)| (ns, Reverse(ops)));
        let longest = gaps.into_iter().max_by_key(|&((gpu, start), (ns, _))| (ns, Reverse((start, gpu))));
        // Time that is lost in short pieces has no moments.
        let parts = self.parts.iter().map(|part| part.loss.longest);
        let of_pieces = || parts.max_by_key(|longest| (longest.gap_ns, Reverse(longest.gap_start)));
        let (which, (before, after)) = match (most, longest) {
            (Some((ops, ns)), _) if ns * 2 >= self.total_ns() => (String::new(), ops),
            (_, Some((_, (ns, ops)))) if listed * 2 >= self.total_ns() => {
                (format!(" the longest of {}", time(i64::try_from(ns).unwrap_or(i64::MAX))), names(ops))
            }
            _ => match of_pieces() {
                Some(LostPart { before, after, .. }) => (" one of them".to_owned(), names((before, after))),
                None => return String::new(),
            },
        };
        let after = self.inputs.display(after);
        match before.map(|before| self.inputs.display(before)) {
            Some(before) => format!(",{which} after {before} and before {after}"),
            None => format!(",{which} before {after}"),
        }
    }

    /// `, in thread 12`, where several threads of its process launch and this one has most of the time.
    pub(super) fn thread(&self) -> String {
        let thread = |part: &Part<'_>| part.loss.longest.thread;
        let mut times: FxHashMap<_, u64> = FxHashMap::default();
        for part in &self.parts {
            if let Some(thread) = thread(part) {
                *times.entry(thread).or_default() += part.ns;
            }
        }
        let most = times.into_iter().find(|(_, ns)| ns * 2 > self.total_ns());
        let Some(((process, tid), _)) = most else { return String::new() };
        // GPUs with a thread each wait for no single one.
        if self.parts.iter().any(|part| part.gpu != self.parts[0].gpu && thread(part) != Some((process, tid)))
        {
            return String::new();
        }
        let mut others = self.inputs.losses().iter().filter_map(thread);
        // Other numbers are handles of a runtime, not threads that a user finds; the main thread is the one that he expects.
        let pid = self.inputs.analysis.tables.processes.get(process.index()).and_then(|process| process.pid);
        let tid = tid.filter(|tid| (1..=MOST_THREADS).contains(tid) && Some(*tid) != pid);
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
