use rustc_hash::FxHashMap;

use super::events::{is_marker, is_of_rccl};
use super::reading::Reading;
use crate::sqlite::scanned;
use crate::table::{ApiArgument, ApiCall, Range, RangeKind};
use crate::{Id, NameId, ProblemKind, Result, Tables};

/// The argument that holds the returned status, by rocprofv3's name in JSON; its databases have no column for it.
const RETURNED: &str = "retval";

/// Rows of API calls by event, where those have arguments to come.
pub(super) type Calls = FxHashMap<Id, u32>;

impl Reading<'_> {
    /// Reads regions and samples: API calls, ranges, markers. The result are the calls of RCCL.
    pub(super) fn calls(&mut self) -> Result<Calls> {
        const TABLE: &str = "rocpd_region";
        let mut calls = Calls::default();
        scanned!(columns: id, pid, tid, start, end, event_id, name_id);
        let set = self.set;
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let at = [id, pid, tid, start, end, event_id];
            let Some(timed) = self.timed(TABLE, row, at) else { return };
            let (id, problems) = (timed.id, &mut self.tables.problems);
            let range = Range {
                id,
                process: timed.process,
                tid: timed.tid,
                name: self.references.names.checked(row.int(name_id), problems, "rocpd_region.name_id", id),
                category: self.events.category(row.int(event_id)),
                kind: RangeKind::Unknown,
                start: timed.start,
                duration: timed.duration,
                correlation: timed.correlation,
            };
            self.push(range, row.int(event_id), &mut calls);
        })?;
        self.samples(&mut calls)?;
        if self.select.args && self.select.api {
            self.arguments(&calls)?;
        }
        let is_of_rccl =
            |row: u32| is_of_rccl(self.tables.strings.get(self.tables.api_calls.name[row as usize]));
        calls.retain(|_, row| is_of_rccl(*row));
        Ok(calls)
    }

    /// Instants lose their function's name: only their track remains, named after the category.
    fn samples(&mut self, calls: &mut Calls) -> Result<()> {
        const TABLE: &str = "rocpd_sample";
        let mut tracks = FxHashMap::default();
        scanned!(columns: id, pid, tid, name_id);
        let set = self.set;
        set.database.scan(&set.table("rocpd_track"), &columns, |row| {
            let (id, problems) = (row.int(id).unwrap_or(row.id()), &mut self.tables.problems);
            let process = self.references.process(problems, "rocpd_track", id, row.int(pid));
            let tid = self.references.tid(problems, "rocpd_track", id, row.int(tid));
            let name = self.references.names.checked(row.int(name_id), problems, "rocpd_track.name_id", id);
            tracks.insert(id, (process, tid, name));
        })?;
        scanned!(columns: id, track_id, timestamp, event_id);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let (id, problems) = (row.int(id).unwrap_or(row.id()), &mut self.tables.problems);
            let Some(start) = row.int(timestamp) else {
                problems.add_in(ProblemKind::MissingStart, TABLE, "timestamp", id);
                return;
            };
            let track = row.int(track_id).and_then(|track| tracks.get(&track)).copied();
            let (process, tid, name) = track.unwrap_or_else(|| {
                problems.add_in(ProblemKind::DanglingReference, TABLE, "track_id", id);
                (self.references.process(problems, TABLE, id, None), None, NameId::NONE)
            });
            let category = self.events.category(row.int(event_id));
            let range = Range {
                id,
                process,
                tid,
                name,
                category: if category == NameId::NONE { name } else { category },
                kind: RangeKind::Unknown,
                start,
                duration: Some(0),
                correlation: self.events.correlation(problems, TABLE, id, row.int(event_id)),
            };
            self.push(range, row.int(event_id), calls);
        })
    }

    /// Adds a region or sample as what it is: a call, a range or a marker.
    fn push(&mut self, range: Range, event: Option<Id>, calls: &mut Calls) {
        let (select, strings) = (self.select, &self.tables.strings);
        let range = Range { id: if select.ids { range.id } else { 0 }, ..range };
        let text = self.events.message(event);
        let kind = is_marker(strings.get(range.category))
            .then(|| kind_of(strings.get(range.name), text, range.duration == Some(0)))
            .flatten();
        match kind {
            Some(kind) if select.ranges => {
                self.tables.ranges.push(Range { name: text.unwrap_or(range.name), kind, ..range });
            }
            None if select.api => {
                let is_wanted = select.args || select.links && is_of_rccl(strings.get(range.name));
                if let Some(event) = event.filter(|_| is_wanted) {
                    calls.insert(event, self.tables.api_calls.len() as u32);
                }
                self.tables.api_calls.push(call_of(range, select.links, self.events.parent(event)));
            }
            _ => {}
        }
    }

    fn arguments(&mut self, calls: &Calls) -> Result<()> {
        scanned!(columns: event_id, position, kind = "type", name, value);
        let (set, tables) = (self.set, &mut *self.tables);
        let first = tables.api_calls.arguments.len();
        set.database.scan(&set.table("rocpd_arg"), &columns, |row| {
            let Some(&call) = row.int(event_id).and_then(|event| calls.get(&event)) else { return };
            if row.text(name).is_some_and(|name| &*name == RETURNED)
                && let Some(status) = row.text(value).and_then(|value| value.parse().ok())
            {
                tables.api_calls.result.to_mut()[call as usize] = status;
                return;
            }
            let [kind, name, value] = [kind, name, value]
                .map(|at| row.text(at).map_or(NameId::NONE, |text| tables.strings.intern(&text)));
            let position = row.unsigned(position).unwrap_or(0);
            tables.api_calls.arguments.push(ApiArgument { call, position, kind, name, value });
        })?;
        tables.api_calls.arguments[first..].sort_by_key(|argument| (argument.call, argument.position));
        join_arguments(tables, first);
        Ok(())
    }
}

/// A record as a call whose domain is the record's category.
pub(crate) fn call_of(record: Range, links: bool, parent: Id) -> ApiCall {
    let Range { id, process, tid, name, category: domain, kind: _, start, duration, correlation } = record;
    let (category, args) = (NameId::NONE, NameId::NONE);
    let call = ApiCall { id, process, name, domain, category, args, start, duration, ..ApiCall::default() };
    if links { ApiCall { tid, correlation, parent, ..call } } else { call }
}

/// The kind of a roctx record, by its function; `None` is a call that annotates nothing (pausing the profiler,
/// naming a thread).
pub(crate) fn kind_of(function: &str, text: Option<NameId>, instant: bool) -> Option<RangeKind> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| function.starts_with(prefix));
    if instant || starts(&["roctxMark"]) {
        Some(RangeKind::Marker)
    } else if starts(&["roctxThreadRange", "roctxRangePush"]) {
        Some(RangeKind::Thread)
    } else if starts(&["roctxProcessRange", "roctxRangeStart"]) {
        Some(RangeKind::Process)
    } else {
        text.map(|_| RangeKind::Unknown)
    }
}

/// Gives each call its arguments as one text, `name=value, name=value`, from row `first` of the arguments.
pub(crate) fn join_arguments(tables: &mut Tables, first: usize) {
    let (calls, strings) = (&mut tables.api_calls, &mut tables.strings);
    if calls.arguments.len() == first {
        return;
    }
    let args = calls.args.to_mut();
    for arguments in calls.arguments[first..].chunk_by(|one, other| one.call == other.call) {
        let parts: Vec<String> = arguments
            .iter()
            .map(|argument| match argument.value {
                NameId::NONE => strings.get(argument.name).to_owned(),
                value => format!("{}={}", strings.get(argument.name), strings.get(value)),
            })
            .collect();
        args[arguments[0].call as usize] = strings.intern(&parts.join(", "));
    }
}
