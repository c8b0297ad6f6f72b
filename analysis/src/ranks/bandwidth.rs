//! The bandwidth of collectives whose sizes the trace states, as nccl-tests defines it.

use std::collections::BTreeMap;

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::Categories;
use crate::base::stats::CallTotal;
use crate::names::categories::COLLECTIVE;
use crate::ranks::align::{self, Groups, Sequence};
use crate::ranks::collective_sizes::{CallsBySize, CollectiveSizes};

/// The collectives of one operation in one communicator, of sizes within a factor of two.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The operation as the framework calls it.
    pub operation: String,
    /// The name of the communicator.
    pub communicator: String,
    /// The ranks of the communicator as the framework writes them.
    pub ranks: String,
    /// How many they are.
    pub members: Option<u32>,
    /// The smallest size of the bucket in bytes, a power of two; 0 for collectives without elements.
    pub from_bytes: u64,
    /// The time that is meant.
    pub timing: Timing,
    /// How many collectives; of [`Timing::Call`], how many calls.
    pub count: u64,
    /// The sizes in bytes, summed.
    pub bytes: u64,
    /// The times in ns, summed.
    pub time_ns: i64,
    /// Bytes over time, whatever the links carry.
    pub algorithm_bytes_per_second: Option<f64>,
    /// Load of the slowest link if the algorithm is optimal; unknown for other operations than those of nccl-tests.
    pub bus_bytes_per_second: Option<f64>,
}

/// The time of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// From the last arrival to the last end.
    Transfer,
    /// The shortest call of its members: no common clock of them is known.
    Shortest,
    /// The whole call of one rank, waiting included: other ranks have no matching calls.
    #[default]
    Call,
}

/// Calls and times of collectives by size, of one or several traces.
#[derive(Debug, Default)]
pub struct BandwidthSums<'a> {
    /// Indexed by trace: the sizes that numbers refer to.
    sizes: Vec<&'a CollectiveSizes>,
    /// Keyed by trace, number of the size and timing.
    sums: BTreeMap<(usize, u32, Timing), Sum>,
    unsized_calls: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    total: CallTotal,
    /// How many ranks were seen in one.
    members: u32,
}

/// The collectives of all ranks, matched.
pub struct MatchedCalls<'a, T> {
    /// The calls of each rank on each queue.
    pub sequences: &'a [Sequence],
    /// Which of them are the same collectives.
    pub groups: &'a Groups,
    /// Indexed by group: whether its members are on one clock.
    pub on_one_clock: &'a [bool],
    /// The trace of the sequence.
    pub trace: T,
}

impl<'a> BandwidthSums<'a> {
    /// Nothing yet of traces with these sizes.
    #[must_use]
    pub fn new(sizes: impl IntoIterator<Item = &'a CollectiveSizes>) -> Self {
        Self { sizes: sizes.into_iter().collect(), ..Self::default() }
    }

    /// Returns whether any trace states a size: else there is nothing to report.
    fn are_known(&self) -> bool {
        self.sizes.iter().any(|sizes| sizes.are_any())
    }

    /// Adds calls of a trace that no other rank's are matched with.
    pub fn add_calls(&mut self, trace: usize, calls: &CallsBySize) {
        for (number, total) in calls.totals() {
            self.call(trace, number, total);
        }
    }

    /// Adds matched collectives; `moved` puts the start and end of a sequence's call on the common clock.
    pub fn add_matched<T: Fn(usize) -> usize>(
        &mut self,
        calls: &MatchedCalls<'_, T>,
        moved: impl Fn(usize, (i64, i64)) -> (i64, i64),
    ) {
        if !self.are_known() {
            return;
        }
        let MatchedCalls { sequences, groups, on_one_clock, trace } = calls;
        for (group, &on_one_clock) in groups.groups.iter().zip(*on_one_clock) {
            for collective in align::collective_calls(group) {
                let number = |&(sequence, call): &(usize, usize)| {
                    let number = sequences[sequence].sizes.get(call).copied().unwrap_or(0);
                    (trace(sequence), number)
                };
                // Where an exchange gives ranks different sizes, the largest one decides how long it takes.
                let bytes = |known: &(usize, u32)| self.sizes[known.0].get(known.1).map(|size| size.bytes);
                let known = collective.iter().map(number).max_by_key(bytes).filter(|known| known.1 > 0);
                let is_whole = collective.len() > 1 && align::is_whole(collective.len(), group.members.len());
                match known.filter(|_| is_whole) {
                    Some((trace, number)) => {
                        let times = collective
                            .iter()
                            .map(|&(sequence, call)| moved(sequence, sequences[sequence].calls[call]));
                        let (timing, time) = transfer(times, on_one_clock);
                        let sum = self.sums.entry((trace, number, timing)).or_default();
                        sum.total.add(time);
                        sum.members = sum.members.max(collective.len() as u32);
                    }
                    None => collective.iter().for_each(|&(sequence, call)| {
                        self.one(trace(sequence), &sequences[sequence], call);
                    }),
                }
            }
        }
        for &sequence in &groups.unmatched {
            let own = &sequences[sequence];
            (0..own.calls.len()).for_each(|call| self.one(trace(sequence), own, call));
        }
    }

    /// Adds a call that no other rank's is matched with.
    fn one(&mut self, trace: usize, sequence: &Sequence, call: usize) {
        let (start, end) = sequence.calls[call];
        let mut total = CallTotal::default();
        total.add(end.saturating_sub(start));
        self.call(trace, sequence.sizes.get(call).copied().unwrap_or(0), total);
    }

    fn call(&mut self, trace: usize, number: u32, total: CallTotal) {
        match number {
            0 => self.unsized_calls += total.calls,
            _ => self.sums.entry((trace, number, Timing::Call)).or_default().total.append(total),
        }
    }

    /// The bandwidth by operation, communicator and size, and the number of calls without a size where others have one.
    #[must_use]
    pub fn finish(self) -> (Vec<Bandwidth>, u64) {
        if !self.are_known() {
            return (Vec::new(), 0);
        }
        let mut rows: BTreeMap<(&str, &str, &str, Timing, u64), Bandwidth> = BTreeMap::new();
        for (&(trace, number, timing), sum) in &self.sums {
            let Some(stated) = self.sizes[trace].get(number) else { continue };
            let from_bytes = stated.bytes.checked_ilog2().map_or(0, |power| 1 << power);
            let names = [&stated.operation, &stated.communicator, &stated.ranks];
            let [operation, communicator, ranks] = names.map(String::as_str);
            let row = rows.entry((operation, communicator, ranks, timing, from_bytes)).or_insert_with(|| {
                let [operation, communicator, ranks] = names.map(String::clone);
                Bandwidth { operation, communicator, ranks, from_bytes, timing, ..Bandwidth::default() }
            });
            row.members = row.members.max(stated.members.or(Some(sum.members).filter(|&met| met > 0)));
            row.count += sum.total.calls;
            row.bytes = row.bytes.saturating_add(stated.bytes.saturating_mul(sum.total.calls));
            row.time_ns = row.time_ns.saturating_add(sum.total.total_ns);
        }
        (rows.into_values().map(Bandwidth::finish).collect(), self.unsized_calls)
    }
}

/// The collectives of a trace that arrives in chunks, none of them matched: memory does not grow with them.
#[derive(Debug, Default)]
pub struct SizedCalls {
    categories: Categories,
    sizes: CollectiveSizes,
    calls: CallsBySize,
    /// Collected when a dispatch carries the name: whether it is that of a collective.
    names: FxHashMap<NameId, bool>,
}

impl SizedCalls {
    /// Nothing yet of a trace whose kernels have these categories.
    #[must_use]
    pub fn new(categories: &Categories) -> Self {
        Self { categories: categories.clone(), ..Self::default() }
    }

    /// Adds the rows of a chunk of a trace whose collectives were selected.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        self.sizes.add_chunk(chunk);
        if !self.sizes.are_any() {
            return;
        }
        let (dispatches, categories) = (&chunk.dispatches, &self.categories);
        for row in 0..dispatches.len() {
            let number = self.sizes.number(dispatches.collective.get(row));
            let name = dispatches.name[row];
            let is_collective = self.names.entry(name).or_insert_with(|| {
                categories.of(rtl_schema::identity(chunk.strings.get(name))) == COLLECTIVE
            });
            if let Some(duration) = dispatches.duration.valid(row)
                && (number > 0 || *is_collective)
            {
                self.calls.add(number, duration);
            }
        }
    }

    /// The bandwidth of the collectives of several traces, and the calls without a size.
    #[must_use]
    pub fn bandwidth(traces: &[Self]) -> (Vec<Bandwidth>, u64) {
        let mut sums = BandwidthSums::new(traces.iter().map(|trace| &trace.sizes));
        for (at, trace) in traces.iter().enumerate() {
            sums.add_calls(at, &trace.calls);
        }
        sums.finish()
    }
}

/// The time in ns that is left of a collective when its last member has come.
fn transfer(times: impl Iterator<Item = (i64, i64)> + Clone, on_one_clock: bool) -> (Timing, i64) {
    if on_one_clock {
        let arrived = times.clone().map(|(start, _)| start).max().unwrap_or_default();
        let ended = times.map(|(_, end)| end).max().unwrap_or_default();
        return (Timing::Transfer, ended.saturating_sub(arrived).max(0));
    }
    let durations = times.map(|(start, end)| end.saturating_sub(start).max(0));
    (Timing::Shortest, durations.min().unwrap_or_default())
}

impl Bandwidth {
    fn finish(self) -> Self {
        let known = (self.time_ns > 0).then(|| self.bytes as f64 / self.time_ns as f64 * 1e9);
        let factor = bus_factor(&self.operation, self.members);
        let bus = known.zip(factor).map(|(rate, factor)| rate * factor);
        Self { algorithm_bytes_per_second: known, bus_bytes_per_second: bus, ..self }
    }
}

/// Returns what each byte costs the slowest link, by nccl-tests' `doc/PERFORMANCE.md`.
fn bus_factor(operation: &str, members: Option<u32>) -> Option<f64> {
    let others = || members.filter(|&n| n > 0).map(|n| f64::from(n - 1) / f64::from(n));
    let operation: String =
        operation.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let is = |word| operation.contains(word);
    if is("allreduce") {
        return others().map(|share| 2.0 * share);
    }
    if is("alltoall") || is("gather") || is("scatter") {
        return others();
    }
    (is("broadcast") || is("reduce") || is("send") || is("recv")).then_some(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_bandwidth_follows_nccl_tests() {
        for (operation, factor) in [
            ("allreduce", 1.5),
            ("_allgather_base", 0.75),
            ("all_gather_into_tensor", 0.75),
            ("_reduce_scatter_base", 0.75),
            ("all_to_allv", 0.75),
            ("scatter", 0.75),
            ("broadcast", 1.0),
            ("reduce", 1.0),
            ("send", 1.0),
            ("recv", 1.0),
        ] {
            assert_eq!(bus_factor(operation, Some(4)), Some(factor), "{operation}");
        }
        assert_eq!([bus_factor("allreduce", None), bus_factor("barrier", Some(4))], [None, None]);
    }
}
