//! Sizes of collectives, from the arguments of RCCL's functions.
//!
//! A kernel has the correlation id of the call of RCCL that launched it, or, where HIP is traced too, that of a call of HIP
//! within it. Calls between `ncclGroupStart` and `ncclGroupEnd` are launched by the latter, so the kernel of a group is
//! known where the group has one collective.

use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::reading::Reading;
use crate::sqlite::scanned;
use crate::table::{ApiCall, Collective};
use crate::{CollectiveId, Id, NameId, Result, Strings};

/// The most calls between a kernel and the call of RCCL.
const MOST_CALLERS: usize = 16;

/// RCCL's functions that execute a collective, and PyTorch's names of the operations.
const FUNCTIONS: [(&str, &str); 13] = [
    ("ncclAllReduce", "allreduce"),
    ("ncclAllReduceWithBias", "allreduce"),
    ("ncclReduce", "reduce"),
    ("ncclBroadcast", "broadcast"),
    ("ncclBcast", "broadcast"),
    ("ncclAllGather", "allgather"),
    ("ncclReduceScatter", "reduce_scatter"),
    ("ncclAllToAll", "all_to_all"),
    ("ncclAlltoAll", "all_to_all"),
    ("ncclGather", "gather"),
    ("ncclScatter", "scatter"),
    ("ncclSend", "send"),
    ("ncclRecv", "recv"),
];

/// RCCL's functions that make a communicator of some of the ranks of another one; neither states how many.
const DIVIDING: [&str; 2] = ["ncclCommSplit", "ncclCommShrink"];

/// `ncclDataType_t` by its numbers, without the prefix of the names.
const TYPES: [&str; 12] = [
    "Int8",
    "Uint8",
    "Int32",
    "Uint32",
    "Int64",
    "Uint64",
    "Float16",
    "Float32",
    "Float64",
    "Bfloat16",
    "Float8e4m3",
    "Float8e5m2",
];

/// Arguments of a call that describe its collective or communicator.
#[derive(Debug, Clone, Copy, Default)]
struct Stated {
    count: Option<u64>,
    data_type: Option<NameId>,
    ranks: Option<u32>,
}

impl Reading<'_> {
    /// Gives kernels what `calls` of RCCL, rows by their events, state. The rows of the set begin at `first`: dispatches, calls.
    pub(super) fn collectives(&mut self, calls: &Calls, first: (usize, usize)) -> Result<()> {
        if calls.is_empty() || !self.select.links {
            return Ok(());
        }
        let stated = self.stated(calls)?;
        let ranks = common_ranks(stated.values()).filter(|_| !self.divides(calls));
        let mut collectives: FxHashMap<Id, CollectiveId> = FxHashMap::default();
        for call in self.launching(calls) {
            let Some(stated) = stated.get(&call.row) else { continue };
            let collective = described(&mut self.tables.strings, call.operation, *stated, ranks);
            let collective = collective.map(|collective| self.tables.collectives.intern(collective));
            collectives.extend(collective.map(|id| (call.launched_by, id)));
        }
        let parents = self.parents(first.1);
        let tables = &mut *self.tables;
        let mut kernels: FxHashMap<Id, Vec<usize>> = FxHashMap::default();
        for row in first.0..tables.dispatches.len() {
            let mut correlation = tables.dispatches.correlation.get(row);
            for _ in 0..MOST_CALLERS {
                if correlation == 0 {
                    break;
                }
                if collectives.contains_key(&correlation) {
                    kernels.entry(correlation).or_default().push(row);
                    break;
                }
                correlation = parents.get(&correlation).copied().unwrap_or(0);
            }
        }
        for (call, rows) in kernels {
            if let ([row], Some(&collective)) = (rows.as_slice(), collectives.get(&call)) {
                tables.dispatches.collective.set(*row, Some(collective));
            }
        }
        Ok(())
    }

    /// The arguments that matter, by row of the call.
    fn stated(&mut self, calls: &Calls) -> Result<FxHashMap<u32, Stated>> {
        let mut found: FxHashMap<u32, Stated> = FxHashMap::default();
        scanned!(columns: event_id, name, value);
        let (set, strings) = (self.set, &mut self.tables.strings);
        set.database.scan(&set.table("rocpd_arg"), &columns, |row| {
            let Some(&call) = row.int(event_id).and_then(|event| calls.get(&event)) else { return };
            let stated = found.entry(call).or_default();
            match row.text(name).as_deref() {
                Some("count" | "sendcount" | "recvcount") => {
                    stated.count = row.unsigned::<i64>(value).map(i64::unsigned_abs)
                }
                Some("datatype") => {
                    let text = row.text(value).unwrap_or_default();
                    let name = text.trim().parse().ok().and_then(|number: usize| TYPES.get(number)).copied();
                    let name = name.unwrap_or_else(|| text.strip_prefix("nccl").unwrap_or(&text));
                    stated.data_type = Some(strings.intern(name));
                }
                Some("nranks" | "ndev") => stated.ranks = row.unsigned(value),
                _ => {}
            }
        })?;
        Ok(found)
    }

    /// True for calls that make a communicator of some of the ranks of another one.
    fn divides(&self, calls: &Calls) -> bool {
        let (rows, strings) = (&self.tables.api_calls, &self.tables.strings);
        calls.values().any(|&row| DIVIDING.contains(&strings.get(rows.name[row as usize])))
    }

    /// The calls of collectives, with the id of the call that launches each.
    fn launching(&self, calls: &Calls) -> Vec<Launching> {
        let (rows, strings) = (&self.tables.api_calls, &self.tables.strings);
        let mut of_rccl: Vec<(u32, ApiCall)> =
            calls.values().map(|&row| (row, rows.get(row as usize))).collect();
        of_rccl.sort_by_key(|(row, call)| (call.tid, call.start, *row));
        let mut launching = Vec::new();
        for of_thread in of_rccl.chunk_by(|one, other| one.1.tid == other.1.tid) {
            let (mut depth, mut group) = (0_usize, Vec::new());
            for (row, call) in of_thread {
                let operation = FUNCTIONS.iter().find(|(name, _)| *name == strings.get(call.name));
                let own = operation.map(|&(_, operation)| Launching {
                    row: *row,
                    operation,
                    launched_by: call.correlation,
                });
                match (strings.get(call.name), depth) {
                    ("ncclGroupStart", _) => depth += 1,
                    ("ncclGroupEnd", 1) => {
                        depth = 0;
                        if let [only] = group.as_slice() {
                            launching.push(Launching { launched_by: call.correlation, ..*only });
                        }
                        group.clear();
                    }
                    ("ncclGroupEnd", _) => depth = depth.saturating_sub(1),
                    (_, 0) => launching.extend(own),
                    _ => group.extend(own),
                }
            }
        }
        launching
    }

    /// The correlation id of the call around each call.
    fn parents(&self, first: usize) -> FxHashMap<Id, Id> {
        let calls = &self.tables.api_calls;
        let rows = (first..calls.len()).map(|row| (calls.correlation.get(row), calls.parent.get(row)));
        rows.filter(|&(_, parent)| parent != 0).collect()
    }
}

/// A call of a collective.
#[derive(Debug, Clone, Copy)]
struct Launching {
    row: u32,
    operation: &'static str,
    /// The correlation id of the call that launches its kernel.
    launched_by: Id,
}

/// The number of ranks, where all communicators have the same.
fn common_ranks<'a>(all: impl Iterator<Item = &'a Stated>) -> Option<u32> {
    let mut ranks = all.filter_map(|stated| stated.ranks);
    let first = ranks.next()?;
    ranks.all(|other| other == first).then_some(first)
}

/// The collective of a call; `None` where its size is unknown.
fn described(
    strings: &mut Strings,
    operation: &str,
    stated: Stated,
    ranks: Option<u32>,
) -> Option<Collective> {
    let count = stated.count?;
    let of_all = ranks.and_then(|ranks| count.checked_mul(u64::from(ranks)));
    // RCCL counts the elements of one rank where each rank gives or gets a part.
    let (sent, received) = match operation {
        "allgather" | "gather" => (Some(count), Some(of_all?)),
        "reduce_scatter" | "scatter" => (Some(of_all?), Some(count)),
        "all_to_all" => (Some(of_all?), of_all),
        _ => (Some(count), Some(count)),
    };
    let operation = strings.intern(operation);
    Some(Collective {
        operation,
        data_type: stated.data_type?,
        size: ranks,
        sent,
        received,
        ..Collective::default()
    })
}
