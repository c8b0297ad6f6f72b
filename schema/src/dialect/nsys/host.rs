//! Rows of the host: calls of CUDA, ranges and markers of NVTX.

use rustc_hash::FxHashMap;

use super::Reading;
use super::sources::ids;
use crate::sqlite::scanned;
use crate::table::{ApiCall, Range, RangeKind};
use crate::{NameId, ProblemKind, ProcessId, Result};

/// Kinds of NVTX events.
const MARK: i64 = 34;
const PUSH_POP: i64 = 59;
const START_END: i64 = 60;
const DOMAIN: i64 = 75;
const THREAD_NAME: i64 = 39;

impl Reading<'_> {
    pub(super) fn calls(&mut self, table: &str) -> Result<()> {
        scanned!(columns: start, end, global = "globalTid", correlation = "correlationId", name = "nameId",
            status = "returnValue");
        let database = self.database;
        database.scan(table, &columns, |row| {
            let Some(start) = row.int(start) else {
                self.tables.problems.add_in(ProblemKind::MissingStart, table, "start", row.id());
                return;
            };
            let global = row.int(global);
            let (sources, tables) = (&mut self.sources, &mut self.tables);
            let name = sources.name(tables, row.int(name), without_version);
            if name == NameId::DANGLING {
                tables.problems.add_in(ProblemKind::DanglingName, table, "nameId", row.id());
            }
            let is_runtime = tables.strings.get(name).starts_with("cuda");
            let links = self.select.links;
            let call = ApiCall {
                id: if self.select.ids { row.id() } else { 0 },
                process: sources.process(tables, global),
                tid: global.map(|global| ids(global).1).filter(|_| links),
                name,
                domain: tables.strings.intern(if is_runtime { "cuda_runtime" } else { "cuda_driver" }),
                category: NameId::NONE,
                args: NameId::NONE,
                start,
                duration: row.int(end).and_then(|end| end.checked_sub(start)),
                correlation: row.int(correlation).filter(|_| links).unwrap_or(0),
                result: row.int(status).unwrap_or(0),
                ..ApiCall::default()
            };
            tables.api_calls.push(call);
        })
    }

    /// Ranges and markers; names of threads that MPI's layer sets state the rank.
    pub(super) fn annotations(&mut self) -> Result<()> {
        const TABLE: &str = "NVTX_EVENTS";
        scanned!(columns: start, end, kind = "eventType", text, text_id = "textId", global = "globalTid",
            domain = "domainId");
        let mut domains: FxHashMap<(ProcessId, i64), NameId> = FxHashMap::default();
        let database = self.database;
        database.scan(TABLE, &columns, |row| {
            let global = row.int(global);
            let (sources, tables) = (&mut self.sources, &mut self.tables);
            let message =
                row.text(text).or_else(|| sources.text(row.int(text_id)).map(|text| text.to_owned().into()));
            let kind = match (row.int(kind), row.is_null(end)) {
                (Some(MARK), _) => RangeKind::Marker,
                (Some(START_END), _) => RangeKind::Process,
                (Some(PUSH_POP), _) => RangeKind::Thread,
                (Some(DOMAIN), _) => {
                    let process = sources.process(tables, global);
                    let name = message.map_or(NameId::NONE, |text| tables.strings.intern(&text));
                    domains.insert((process, row.int(domain).unwrap_or(0)), name);
                    return;
                }
                (Some(THREAD_NAME), _) => {
                    let rank = message.and_then(|text| text.strip_prefix("MPI Rank ")?.trim().parse().ok());
                    if rank.is_some() {
                        let process = sources.process(tables, global);
                        tables.processes[process.index()].rank = rank;
                    }
                    return;
                }
                // Files without kinds have ranges only.
                (None, false) => RangeKind::Unknown,
                _ => return,
            };
            let process = sources.process(tables, global);
            if !self.select.ranges {
                return;
            }
            let Some(start) = row.int(start) else {
                tables.problems.add_in(ProblemKind::MissingStart, TABLE, "start", row.id());
                return;
            };
            let duration = row.int(end).and_then(|end| end.checked_sub(start));
            tables.ranges.push(Range {
                id: if self.select.ids { row.id() } else { 0 },
                process,
                tid: global.map(|global| ids(global).1),
                name: message.map_or(NameId::NONE, |text| tables.strings.intern(&text)),
                category: domains
                    .get(&(process, row.int(domain).unwrap_or(0)))
                    .copied()
                    .unwrap_or(NameId::NONE),
                kind,
                start,
                duration: duration.or((kind == RangeKind::Marker).then_some(0)),
                correlation: 0,
            });
        })
    }
}

/// The name of a function without the version of its interface: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`.
fn without_version(name: &str) -> &str {
    let plain =
        name.rsplit_once("_v").filter(|(_, version)| version.bytes().all(|byte| byte.is_ascii_digit()));
    plain.filter(|(_, version)| version.len() >= 4).map_or(name, |(plain, _)| plain)
}
