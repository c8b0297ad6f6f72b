//! The bandwidth of collectives whose sizes the trace states, as nccl-tests defines it.

use std::collections::BTreeMap;

use rtl_schema::table::Collective;
use rtl_schema::{CollectiveId, NameId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::collectives::GroupInstances;
use super::members::Members;
use crate::align::{self, MatchedCollective};
use crate::kernel_names::KernelNames;

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
    /// Bytes by time.
    pub algorithm_bytes_per_second: Option<f64>,
    /// What the slowest link carries if the algorithm is optimal; unknown for other operations than those of nccl-tests.
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

/// The collectives with a known size, and how many calls of collectives have none.
pub(super) fn bandwidths(
    tables: &Tables,
    members: &Members,
    names: &KernelNames,
    instances: &[GroupInstances],
) -> (Vec<Bandwidth>, u64) {
    if tables.collectives.rows().is_empty() {
        return (Vec::new(), 0);
    }
    let mut sums = Sums { tables, rows: BTreeMap::new() };
    let stated = stated(tables, members);
    let mut covered: FxHashSet<Call> = FxHashSet::default();
    for group in instances {
        for collective in &group.all {
            if !align::is_whole(collective.len(), group.members.len()) {
                continue;
            }
            // Where an exchange gives ranks different sizes, the largest one decides how long it takes.
            let known = collective.iter().filter_map(|call| {
                let id = *stated.get(call)?;
                Some((size(tables, tables.collectives.get(id))?, id))
            });
            let Some((bytes, id)) = known.max_by_key(|known| known.0) else { continue };
            let (timing, time) = transfer(collective, group.on_one_clock);
            sums.add(id, bytes, timing, time, collective.len() as u32);
            covered.extend(collective);
        }
    }
    let mut unknown = 0;
    for row in 0..tables.dispatches.len() {
        let Some(call) = call(tables, members, row) else { continue };
        if covered.contains(&call) {
            continue;
        }
        let id = tables.dispatches.collective.get(row);
        match id.and_then(|id| Some((id, size(tables, tables.collectives.get(id))?))) {
            Some((id, bytes)) => sums.add(id, bytes, Timing::Call, call.2.saturating_sub(call.1), 0),
            None => unknown += u64::from(names.is_collective(tables.dispatches.name[row])),
        }
    }
    (sums.rows.into_values().map(Bandwidth::finish).collect(), unknown)
}

/// Member, start and end.
type Call = (usize, i64, i64);

/// What the trace states, by call.
fn stated(tables: &Tables, members: &Members) -> FxHashMap<Call, CollectiveId> {
    let stated = tables.dispatches.collective.iter().enumerate();
    stated.filter_map(|(row, id)| Some((call(tables, members, row)?, id?))).collect()
}

fn call(tables: &Tables, members: &Members, row: usize) -> Option<Call> {
    let (start, duration) = (tables.dispatches.start[row], tables.dispatches.duration.valid(row)?);
    Some((members.of_track(tables.dispatches.track[row])?, start, start.saturating_add(duration)))
}

/// The time in ns that is left when the last member has come.
fn transfer(collective: &MatchedCollective, on_one_clock: bool) -> (Timing, i64) {
    if on_one_clock {
        let arrived = collective.iter().map(|call| call.1).max().unwrap_or_default();
        let ended = collective.iter().map(|call| call.2).max().unwrap_or_default();
        return (Timing::Transfer, ended.saturating_sub(arrived).max(0));
    }
    let durations = collective.iter().map(|call| call.2.saturating_sub(call.1).max(0));
    (Timing::Shortest, durations.min().unwrap_or_default())
}

/// Rows by operation, communicator, ranks, timing and size.
struct Sums<'a> {
    tables: &'a Tables,
    rows: BTreeMap<(&'a str, &'a str, &'a str, Timing, u64), Bandwidth>,
}

impl Sums<'_> {
    /// `met` is the number of ranks that were seen in it.
    fn add(&mut self, id: CollectiveId, bytes: u64, timing: Timing, time: i64, met: u32) {
        let collective = self.tables.collectives.get(id);
        let [operation, communicator, ranks] =
            [collective.operation, collective.communicator, collective.ranks]
                .map(|name| text(self.tables, name));
        let from_bytes = bytes.checked_ilog2().map_or(0, |power| 1 << power);
        let row =
            self.rows.entry((operation, communicator, ranks, timing, from_bytes)).or_insert_with(|| {
                let members = collective.size.or(Some(met).filter(|&met| met > 0));
                let [operation, communicator, ranks] = [operation, communicator, ranks].map(str::to_owned);
                Bandwidth {
                    operation,
                    communicator,
                    ranks,
                    members,
                    from_bytes,
                    timing,
                    ..Bandwidth::default()
                }
            });
        row.count += 1;
        row.bytes = row.bytes.saturating_add(bytes);
        row.time_ns = row.time_ns.saturating_add(time);
    }
}

impl Bandwidth {
    fn finish(self) -> Self {
        let known = (self.time_ns > 0).then(|| self.bytes as f64 / self.time_ns as f64 * 1e9);
        let factor = bus_factor(&self.operation, self.members);
        let bus = known.zip(factor).map(|(rate, factor)| rate * factor);
        Self { algorithm_bytes_per_second: known, bus_bytes_per_second: bus, ..self }
    }
}

fn text(tables: &Tables, name: NameId) -> &str {
    if name.is_some() { tables.strings.get(name) } else { "" }
}

/// The size in bytes: of a gather or a scatter that of all ranks together, which one of its two sides has.
fn size(tables: &Tables, collective: Collective) -> Option<u64> {
    let elements = collective.sent.max(collective.received)?;
    elements.checked_mul(type_bytes(text(tables, collective.data_type))?)
}

/// The bytes of an element of a type that PyTorch, or a collective library, calls so.
fn type_bytes(name: &str) -> Option<u64> {
    Some(match name.to_ascii_lowercase().as_str() {
        "char" | "byte" | "bool" | "int8" | "uint8" => 1,
        name if name.starts_with("float8") => 1,
        "half" | "bfloat16" | "float16" | "short" | "int16" | "uint16" => 2,
        "float" | "float32" | "int" | "int32" | "uint32" | "complexhalf" => 4,
        "double" | "float64" | "long" | "int64" | "uint64" | "complexfloat" => 8,
        "complexdouble" => 16,
        _ => return None,
    })
}

/// What each byte costs the slowest link, by nccl-tests' `doc/PERFORMANCE.md`.
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

    #[test]
    fn sizes_need_a_type_that_is_known() {
        let mut tables = Tables::default();
        let mut of = |data_type: &str, sent, received| {
            let data_type = tables.strings.intern(data_type);
            size(&tables, Collective { data_type, sent, received, ..Collective::default() })
        };
        assert_eq!(of("BFloat16", Some(10), Some(40)), Some(80));
        assert_eq!(of("Float8_e4m3fn", Some(40), Some(10)), Some(40));
        assert_eq!(of("Long", None, Some(2)), Some(16));
        assert_eq!([of("ShortStrings", Some(1), None), of("Int", None, None)], [None, None]);
        assert_eq!(of("Int", Some(u64::MAX), None), None);
    }
}
