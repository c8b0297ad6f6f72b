//! Reads `rocpd_api`. Ops get process and thread from their calls, so callers are kept by id even where no call is selected.

use rustc_hash::FxHashMap;

use super::{Field, IdMap, Names, Plan, Processes, Variant};
use crate::layout::rpd::Function;
use crate::sqlite::Database;
use crate::table::{ApiCall, Distinct, Interned, Range, RangeKind};
use crate::{Id, NameId, ProblemKind, ProcessId, Result, Select, Tables};

/// The callers of `rocpd_api`, by id of the call.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    callers: Interned<Caller, u32>,
    by_id: IdMap<u32>,
    /// The row of [`crate::table::ApiCalls`] by id, where launches are read into that table.
    pub(crate) rows: IdMap<u32>,
}

/// Process, thread and kind of function of a call; few distinct ones exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Caller {
    pub(crate) process: ProcessId,
    pub(crate) tid: Option<i64>,
    pub(crate) function: Function,
}

impl Distinct for Caller {
    #[inline]
    fn slot(&self) -> usize {
        (self.tid.unwrap_or_default() as usize).wrapping_mul(7).wrapping_add(self.function as usize)
    }
}

impl Calls {
    /// The caller of the call `id`.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> Option<Caller> {
        self.by_id.get(id).map(|caller| self.callers.get(caller))
    }
}

/// Rows with references to argument texts. Those may be in a separate table, of which only the referenced rows are read.
#[derive(Default)]
struct Texts {
    of_ranges: Vec<(Id, Option<Id>)>,
    of_calls: Vec<(Id, Option<Id>)>,
}

/// Reads `rocpd_api` into the calls, ranges and processes of `tables`.
pub(crate) fn read(
    database: &Database,
    variant: &Variant,
    select: &Select,
    names: &Names,
    processes: &mut Processes,
    tables: &mut Tables,
) -> Result<Calls> {
    let mut plan = Plan::new(database, "rocpd_api")?;
    let [pid, tid, name, start, args] =
        ["pid", "tid", "apiName_id", "start", "args_id"].map(|column| plan.add(column));
    // Where there is a duration, the end is computed from it: to ask for that would leave the scan to SQLite.
    let stored = plan.add("duration");
    let end = plan.add_if(stored.position().is_none(), "end");
    let [domain, category, correlation, parent, stream, result] =
        ["domain_id", "category_id", "correlationId", "parentId", "streamId", "result"]
            .map(|column| plan.add(column));

    let mut calls = Calls::default();
    let mut functions = FxHashMap::<NameId, Function>::default();
    let mut texts = Texts::default();
    database.scan("rocpd_api", plan.columns(), |row| {
        let id = row.id();
        let stored_name = names.get(name.int(row));
        let function =
            *functions.entry(stored_name).or_insert_with(|| Function::of(tables.strings.get(stored_name)));
        let is_recorded = function != Function::Unrecorded;
        let process = match pid.int(row).filter(|&pid| !variant.cause_by_link || pid != 0) {
            Some(pid) => processes.intern(pid, &mut tables.processes),
            None => processes.unnamed(&mut tables.processes),
        };
        let tid = tid.int(row).filter(|&tid| is_recorded || tid != 0).map(|tid| processes.tid(tid));
        calls.by_id.push(id, calls.callers.intern(Caller { process, tid, function }));

        if !is_recorded {
            return;
        }
        let is_range = variant.markers_are_calls && function == Function::Marker;
        if !(if is_range { select.ranges } else { select.api }) {
            return;
        }
        // Id 0 means no text.
        let text = || (id, args.int(row).filter(|&text| text != 0));
        let Some(start) = start.int(row) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_api.start", id);
            return;
        };
        let problems = &mut tables.problems;
        let mut class = |field: Field, place| {
            let class = names.checked(field.int(row).filter(|&id| id != 0), problems, place, id);
            tables.strings.not_empty(class)
        };
        let domain = class(domain, "rocpd_api.domain_id");
        let category = class(category, "rocpd_api.category_id");
        let duration = stored.int(row).or_else(|| end.int(row)?.checked_sub(start));
        let correlation =
            if correlation.position().is_some() { correlation.int(row).unwrap_or(0) } else { id };
        if is_range {
            let kind = if duration == Some(0) { RangeKind::Marker } else { RangeKind::Thread };
            let name = NameId::NONE;
            tables.ranges.push(Range {
                id,
                process,
                tid,
                name,
                category,
                kind,
                start,
                duration,
                correlation,
            });
            texts.of_ranges.push(text());
            return;
        }
        if stored_name == NameId::DANGLING {
            problems.add(ProblemKind::DanglingName, "rocpd_api.apiName_id", id);
        }
        if select.args {
            texts.of_calls.push(text());
        }
        if select.args || select.secondary {
            calls.rows.push(id, tables.api_calls.len() as u32);
        }
        tables.api_calls.push(ApiCall {
            id: if select.ids { id } else { 0 },
            process,
            tid,
            name: stored_name,
            domain,
            category,
            args: NameId::NONE,
            start,
            duration,
            correlation,
            parent: parent.int(row).unwrap_or(0),
            stream: stream.int(row),
            result: result.int(row).unwrap_or(0),
        });
    })?;
    texts.fill(database, variant, names, tables)?;
    Ok(calls)
}

impl Texts {
    /// Reads the texts into their rows.
    fn fill(self, database: &Database, variant: &Variant, names: &Names, tables: &mut Tables) -> Result<()> {
        let own;
        let names = if variant.args_in_ustring {
            let rows = self.of_ranges.iter().chain(&self.of_calls);
            let mut wanted: Vec<Id> = rows.filter_map(|&(_, text)| text).collect();
            wanted.sort_unstable();
            let is_wanted = |id| wanted.binary_search(&id).is_ok();
            own = Names::read_where(database, "rocpd_ustring", &mut tables.strings, is_wanted)?;
            &own
        } else {
            names
        };
        let problems = &mut tables.problems;
        let mut text = |(row, text)| names.checked(text, problems, "rocpd_api.args_id", row);
        let first = tables.ranges.len() - self.of_ranges.len();
        for (range, row) in tables.ranges[first..].iter_mut().zip(self.of_ranges) {
            range.name = text(row);
        }
        if !self.of_calls.is_empty() {
            // A call without arguments stores the empty text, or NULL.
            let args = self.of_calls.into_iter().map(text).map(|name| tables.strings.not_empty(name));
            tables.api_calls.args = args.collect();
        }
        Ok(())
    }
}
