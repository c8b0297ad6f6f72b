//! Utilization of each GPU in equal steps of the trace.

use rtl_analysis::launches::queued_since;
use rtl_schema::AgentId;

use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::tracks::TrackGroup;

/// The counter of the time in which a GPU ran anything.
pub const BUSY: &str = "busy";

/// Steps of a trace: more than the columns of a screen.
const STEPS: u64 = 1000;

/// Fractions of a byte, for slow copies of few bytes.
const PARTS: i128 = 1 << 20;

#[derive(Debug)]
pub struct Utilization {
    start: i64,
    /// In ns.
    step: u64,
    /// The step in which the last op started, and the end of the step from the start of the trace.
    now: (usize, u64),
    /// By agent.
    gpus: Vec<Option<Gpu>>,
}

#[derive(Debug, Default)]
struct Gpu {
    /// The latest end so far: overlapping ops count once.
    until: i64,
    busy: Amounts,
    work: Amounts,
    queued: Amounts,
    /// The time of enqueueing is known for some op.
    is_tied: bool,
    copied: Amounts,
}

/// An amount in each step. A span over whole steps is stored as its first and last step, so that the cost of an op
/// does not depend on its length. Only steps in which something begins or ends are stored: a trace may have 100,000 GPUs of
/// a few ops each.
#[derive(Debug, Default)]
struct Amounts(Vec<Change>);

/// A step in which an amount changes.
#[derive(Debug, Clone, Copy)]
struct Change {
    step: u32,
    /// The amount of spans that cover a part of the step.
    part: i128,
    /// From this step on, the rate of spans that cover whole steps grows by this.
    whole: i128,
}

impl Utilization {
    /// The first start and the last end are those of the trace.
    pub fn new((start, end): (i64, i64)) -> Self {
        let step = end.abs_diff(start).div_ceil(STEPS).max(1);
        Self { start, step, now: (0, step), gpus: Vec::new() }
    }

    /// Adds an op whose call `returned` at that time in ns; starts must ascend. Barriers, ranges and idle time are ignored.
    #[inline]
    pub fn add(&mut self, agent: AgentId, op: &Event, returned: Option<i64>) {
        if !matches!(op.kind, Kind::Kernel | Kind::Copy) {
            return;
        }
        let (start, end) = (op.start, op.start + op.duration);
        let (from, to) = (start.abs_diff(self.start), end.abs_diff(self.start));
        while self.now.1 <= from && self.now.1 < u64::MAX {
            self.now = (self.now.0 + 1, self.now.1.saturating_add(self.step));
        }
        let span = |to: u64| Span { from, to, first: self.now.0, end: self.now.1, step: self.step };
        if self.gpus.len() <= agent.index() {
            self.gpus.resize_with(agent.index() + 1, || None);
        }
        let gpu = self.gpus[agent.index()].get_or_insert_with(|| Gpu { until: i64::MIN, ..Gpu::default() });
        gpu.work.add(span(to), 1);
        let enqueued = op.detail.map(|latency| start.wrapping_sub(latency));
        match queued_since(start, enqueued, returned) {
            None => gpu.queued.add(span(to), 1),
            Some(moment) => {
                gpu.is_tied = true;
                // An op enqueued before the trace waits from the beginning of the trace.
                let from = moment.max(self.start).abs_diff(self.start);
                gpu.queued.add(Span::new(from, to, self.step), 1);
            }
        }
        if let (Kind::Copy, Some(bytes)) = (op.kind, op.bytes) {
            // A copy of length 0 takes the nanosecond in which it started.
            let to = to.max(from.saturating_add(1));
            gpu.copied.add(span(to), i128::from(bytes) * PARTS / i128::from(to - from).max(1));
        }
        if start >= gpu.until {
            gpu.busy.add(span(to), 1);
            gpu.until = end;
        } else if gpu.until < end {
            let from = gpu.until.abs_diff(self.start);
            gpu.busy.add(Span::new(from, to, self.step), 1);
            gpu.until = end;
        }
    }

    /// The counter tracks of all GPUs, made one by one because together they may be large.
    pub fn counter_tracks(&self) -> impl Iterator<Item = CounterTrack> + '_ {
        let step = self.step as f64;
        let gpus = (0..).map(AgentId).zip(&self.gpus).filter_map(|(agent, gpu)| Some((agent, gpu.as_ref()?)));
        let amounts = gpus.flat_map(|(agent, gpu)| {
            let group = TrackGroup::Agent(agent);
            // Bytes per nanosecond are gigabytes per second.
            let copied = ("copied", "GB/s", &gpu.copied, 1.0 / PARTS as f64);
            let queued = gpu.is_tied.then_some(("queue depth", "mean", &gpu.queued, 1.0));
            let of_ops = [(BUSY, "%", &gpu.busy, 100.0), ("ops in flight", "mean", &gpu.work, 1.0)];
            of_ops.into_iter().chain(queued).chain([copied]).map(move |amounts| (group, amounts))
        });
        let amounts = amounts.filter(|(_, (_, _, amounts, _))| !amounts.0.is_empty());
        amounts.map(move |(group, (name, unit, amounts, scale))| {
            let samples = amounts.totals(self.step).into_iter().map(|(number, total)| {
                let time = self.start.saturating_add_unsigned(self.step.saturating_mul(number));
                (time, hundredths(total as f64 * scale / step))
            });
            CounterTrack { group, name: name.to_owned(), unit, samples: samples.collect() }
        })
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A span of time, from the start of the trace, and its first step.
#[derive(Clone, Copy)]
struct Span {
    from: u64,
    to: u64,
    first: usize,
    end: u64,
    step: u64,
}

impl Span {
    fn new(from: u64, to: u64, step: u64) -> Self {
        let first = from / step;
        Self { from, to, first: first as usize, end: (first + 1).saturating_mul(step), step }
    }
}

impl Amounts {
    /// Adds `rate` for each nanosecond of a span.
    #[inline]
    fn add(&mut self, Span { from, to, first, end, step }: Span, rate: i128) {
        if to <= from {
            return;
        }
        let last = if to <= end { first } else { ((to - 1) / step) as usize };
        if first == last {
            self.at(first).part += i128::from(to - from) * rate;
            return;
        }
        self.at(first).part += i128::from(end - from) * rate;
        self.at(first + 1).whole += rate;
        let change = self.at(last);
        change.part += i128::from(to - last as u64 * step) * rate;
        change.whole -= rate;
    }

    /// The change in a step. Ops come by start, so that it is among the last ones.
    #[inline]
    fn at(&mut self, step: usize) -> &mut Change {
        let step = step as u32;
        let before = self.0.iter().rposition(|change| change.step <= step);
        let at = before.map_or(0, |before| before + usize::from(self.0[before].step < step));
        if self.0.get(at).is_none_or(|change| change.step != step) {
            if self.0.is_empty() {
                // Room for more would be most of the memory of a trace with very many GPUs.
                self.0.reserve_exact(1);
            }
            self.0.insert(at, Change { step, part: 0, whole: 0 });
        }
        &mut self.0[at]
    }

    /// The steps in which the total is another one than in the step before, with the total; the last one is 0.
    fn totals(&self, step: u64) -> Vec<(u64, i128)> {
        let mut totals = Vec::with_capacity(self.0.len() + 2);
        let mut open = 0;
        if self.0.first().is_some_and(|change| change.step > 0) {
            totals.push((0, 0));
        }
        for (change, next) in self.0.iter().zip(self.0.iter().skip(1).map(Some).chain([None])) {
            let at = u64::from(change.step);
            open += change.whole;
            totals.push((at, change.part + open * i128::from(step)));
            if next.is_none_or(|next| u64::from(next.step) > at + 1) {
                totals.push((at + 1, open * i128::from(step)));
            }
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use rtl_schema::NameId;

    use super::*;

    fn op(start: i64, end: i64, bytes: Option<u64>) -> Event {
        let kind = if bytes.is_some() { Kind::Copy } else { Kind::Kernel };
        Event { duration: end - start, bytes, ..Event::bare(kind, NameId(0), start) }
    }

    fn values_of(counters: &Utilization) -> Vec<Vec<f64>> {
        let values =
            |counter_track: CounterTrack| counter_track.samples.into_iter().map(|(_, value)| value).collect();
        counters.counter_tracks().map(values).collect()
    }

    fn values(end: i64, ops: &[(i64, i64, Option<u64>)]) -> Vec<Vec<f64>> {
        let mut counters = Utilization::new((0, end));
        for &(start, end, bytes) in ops {
            counters.add(AgentId(0), &op(start, end, bytes), None);
        }
        values_of(&counters)
    }

    #[test]
    fn an_op_is_queued_from_its_enqueueing_or_the_return_of_its_call_to_its_end() {
        // Steps of 10 ns.
        let mut counters = Utilization::new((0, 10_000));
        // Enqueued at 2; its call returned at 4, which says less.
        let enqueued = Event { detail: Some(10), ..op(12, 15, None) };
        counters.add(AgentId(0), &enqueued, Some(4));
        // Its call returned at 13, another one's while it ran already, and of the last nothing is known.
        counters.add(AgentId(0), &op(22, 24, None), Some(13));
        counters.add(AgentId(0), &op(30, 40, None), Some(35));
        counters.add(AgentId(0), &op(40, 45, None), None);
        let [_busy, running, queued] = values_of(&counters).try_into().unwrap();
        assert_eq!(running, [0.0, 0.3, 0.2, 1.0, 0.5, 0.0]);
        assert_eq!(queued, [0.8, 0.5 + 0.7, 0.4, 1.0, 0.5, 0.0]);
        assert!(counters.counter_tracks().any(|counter_track| counter_track.name == "queue depth"));
    }

    #[test]
    fn only_steps_with_another_value_are_stored() {
        // Steps of 10 ns.
        let mut counters = Utilization::new((0, 10_000));
        counters.add(AgentId(0), &op(30, 5_000, None), None);
        counters.add(AgentId(0), &op(9_000, 9_010, None), None);
        let busy = counters.counter_tracks().next().map(|counter_track| counter_track.samples);
        let changes = [
            (0, 0.0),
            (30, 100.0),
            (40, 100.0),
            (50, 100.0),
            (4_990, 100.0),
            (5_000, 0.0),
            (9_000, 100.0),
            (9_010, 0.0),
        ];
        assert_eq!(busy, Some(changes.to_vec()));
    }

    #[test]
    fn what_was_enqueued_before_the_trace_waits_from_its_beginning() {
        let mut counters = Utilization::new((1_000, 11_000));
        counters.add(AgentId(0), &Event { detail: Some(500), ..op(1_010, 1_020, None) }, None);
        assert_eq!(values_of(&counters)[2], [1.0, 1.0, 0.0]);
    }

    #[test]
    fn what_overlaps_counts_once_for_busy_and_twice_for_depth() {
        // Steps of 10 ns.
        let values = values(10_000, &[(0, 10, None), (5, 10, None), (12, 15, None)]);
        assert_eq!(values, [[100.0, 30.0, 0.0], [1.5, 0.3, 0.0]]);
    }

    #[test]
    fn a_long_op_fills_every_step_that_it_covers() {
        let values = values(10_000, &[(5, 38, None)]);
        assert_eq!(values, [[50.0, 100.0, 100.0, 80.0, 0.0], [0.5, 1.0, 1.0, 0.8, 0.0]]);
    }

    #[test]
    fn the_bytes_of_a_copy_are_spread_over_its_time() {
        let copied = |ops: &[_]| values(10_000, ops).pop();
        assert_eq!(copied(&[(5, 25, Some(40))]), Some(vec![1.0, 2.0, 1.0, 0.0]));
        assert_eq!(copied(&[(0, 10, Some(20)), (5, 10, Some(10))]), Some(vec![3.0, 0.0]));
        assert_eq!(copied(&[(3, 3, Some(50))]), Some(vec![5.0, 0.0]), "in no time");
    }
}
