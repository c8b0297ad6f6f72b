use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::references::References;
use super::set::Set;
use crate::dialect::rocpd::IdMap;
use crate::sqlite::{Row, scanned};
use crate::{Id, NameId, ProblemKind, Problems, ProcessId, Result, Select, Tables};

/// The events of one set, by id.
#[derive(Debug, Default)]
pub(super) struct Events {
    read: bool,
    stack: IdMap<Id>,
    category: IdMap<NameId>,
    /// Only where it differs from the event's own stack id: that of a kernel is its launch twice.
    parent: FxHashMap<Id, Id>,
    message: FxHashMap<Id, NameId>,
}

/// The values that every row with a time has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    pub(super) id: Id,
    pub(super) process: ProcessId,
    pub(super) tid: Option<i64>,
    pub(super) start: i64,
    pub(super) duration: Option<i64>,
    pub(super) correlation: Id,
}

#[derive(Deserialize)]
struct ExtData {
    message: Option<String>,
}

impl Events {
    /// Reads the columns that the selection needs; marks the trace as linked if any event ties rows together.
    pub(super) fn read(
        set: Set<'_>,
        select: &Select,
        references: &References,
        tables: &mut Tables,
    ) -> Result<Self> {
        let mut events =
            Self { read: select.links || select.ranges || select.api || select.secondary, ..Self::default() };
        let table = set.table("rocpd_event");
        if !events.read {
            tables.info.linked |= linked(set, &table)?;
            return Ok(events);
        }
        scanned!(columns: id, stack_id, parent_stack_id, category_id, extdata);
        let calls = select.ranges || select.api;
        let columns = if calls { &columns[..] } else { &columns[..parent_stack_id] };
        set.database.scan(&table, columns, |row| {
            let id = row.int(id).unwrap_or(row.id());
            let stack = row.int(stack_id).unwrap_or(0);
            tables.info.linked |= stack != 0;
            events.stack.push(id, stack);
            if !calls {
                return;
            }
            let parent = row.int(parent_stack_id).unwrap_or(0);
            if parent != 0 && parent != stack {
                events.parent.insert(id, parent);
            }
            let (category, problems) = (row.int(category_id), &mut tables.problems);
            let category = references.names.checked(category, problems, "rocpd_event.category_id", id);
            events.category.push(id, category);
            if select.ranges
                && is_marker(tables.strings.get(category))
                && let Some(text) = row.text(extdata)
                && let Ok(ExtData { message: Some(message) }) = serde_json::from_str(&text)
            {
                events.message.insert(id, tables.strings.intern(&message));
            }
        })?;
        Ok(events)
    }

    /// The correlation id that rows share: the event's stack id; 0 for a row without event, and (counted)
    /// where the event is missing.
    pub(super) fn correlation(&self, problems: &mut Problems, table: &str, row: Id, event: Option<Id>) -> Id {
        let Some(event) = event.filter(|_| self.read) else { return 0 };
        self.stack.get(event).unwrap_or_else(|| {
            problems.add_in(ProblemKind::DanglingReference, table, "event_id", row);
            0
        })
    }

    /// The values of a row that has a time, from its columns `id`, `pid`, `tid`, `start`, `end` and `event_id`. A row
    /// without a start is none (and counted). Thread and correlation id are those of `links` only.
    #[inline]
    pub(super) fn timed(
        &self,
        references: &References,
        problems: &mut Problems,
        table: &str,
        row: &Row<'_>,
        [id, pid, tid, start, end, event]: [usize; 6],
        links: bool,
    ) -> Option<Timed> {
        let id = row.int(id).unwrap_or(row.id());
        let Some(start) = row.int(start) else {
            problems.add_in(ProblemKind::MissingStart, table, "start", id);
            return None;
        };
        Some(Timed {
            id,
            process: references.process(problems, table, id, row.int(pid)),
            tid: references.tid(problems, table, id, row.int(tid).filter(|_| links)),
            start,
            duration: row.int(end).and_then(|end| end.checked_sub(start)),
            correlation: self.correlation(problems, table, id, row.int(event).filter(|_| links)),
        })
    }

    /// The correlation id of the call that this one was made from; 0 is none.
    pub(super) fn parent(&self, event: Option<Id>) -> Id {
        event.and_then(|event| self.parent.get(&event)).copied().unwrap_or(0)
    }

    /// The kind of record: `HIP_RUNTIME_API_EXT`, `MARKER_CORE_RANGE_API`.
    pub(super) fn category(&self, event: Option<Id>) -> NameId {
        event.and_then(|event| self.category.get(event)).unwrap_or(NameId::NONE)
    }

    /// The text of a marker or range.
    pub(super) fn message(&self, event: Option<Id>) -> Option<NameId> {
        event.and_then(|event| self.message.get(&event)).copied()
    }
}

/// roctx has these categories.
pub(super) fn is_marker(category: &str) -> bool {
    category.starts_with("MARKER")
}

pub(super) fn is_of_rccl(function: &str) -> bool {
    function.starts_with("nccl")
}

fn linked(set: Set<'_>, table: &str) -> Result<bool> {
    if !set.database.has_column(table, "stack_id")? {
        return Ok(false);
    }
    let sql = format!("select exists (select 1 from \"{table}\" where stack_id <> 0)");
    let mut linked = false;
    set.database.query(&sql, [], |row| row.get(0).map(|found| linked = found))?;
    Ok(linked)
}
