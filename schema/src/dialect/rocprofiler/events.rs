use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::by_id::ById;
use super::references::References;
use super::set::Set;
use crate::{Id, NameId, ProblemKind, Problems, Result, Select, Tables};

/// The events of one set, by id.
#[derive(Debug)]
pub(super) struct Events {
    read: bool,
    stack: ById<Id>,
    category: ById<NameId>,
    /// Only where it differs from the event's own stack id: that of a kernel is its launch twice.
    parent: FxHashMap<Id, Id>,
    message: FxHashMap<Id, NameId>,
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
        let mut events = Self {
            read: select.links || select.ranges || select.api || select.secondary,
            stack: ById::new(Id::MIN),
            category: ById::new(NameId(u32::MAX - 2)),
            parent: FxHashMap::default(),
            message: FxHashMap::default(),
        };
        let table = set.table("rocpd_event");
        if !events.read {
            tables.info.linked |= linked(set, &table)?;
            return Ok(events);
        }
        let columns = ["id", "stack_id", "parent_stack_id", "category_id", "extdata"];
        let calls = select.ranges || select.api;
        let columns = if calls { &columns[..] } else { &columns[..2] };
        set.database.scan(&table, columns, |row| {
            let id = row.int(0).unwrap_or(row.id());
            let stack = row.int(1).unwrap_or(0);
            tables.info.linked |= stack != 0;
            events.stack.set(id, stack);
            if !calls {
                return;
            }
            let parent = row.int(2).unwrap_or(0);
            if parent != 0 && parent != stack {
                events.parent.insert(id, parent);
            }
            let category = references.name(&mut tables.problems, "rocpd_event.category_id", id, row.int(3));
            events.category.set(id, category);
            if select.ranges
                && is_marker(tables.strings.get(category))
                && let Some(text) = row.text(4)
                && let Ok(ExtData { message: Some(message) }) = serde_json::from_str(&text)
            {
                events.message.insert(id, tables.strings.intern(&message));
            }
        })?;
        Ok(events)
    }

    /// The correlation id that rows share: the event's stack id; 0 for a row without event, and (counted)
    /// where the event is missing.
    pub(super) fn correlation(&self, problems: &mut Problems, place: &str, row: Id, event: Option<Id>) -> Id {
        let Some(event) = event.filter(|_| self.read) else { return 0 };
        self.stack.get(event).unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingReference, place, row);
            0
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

/// Whether a category is one of roctx.
pub(super) fn is_marker(category: &str) -> bool {
    category.starts_with("MARKER")
}

fn linked(set: Set<'_>, table: &str) -> Result<bool> {
    if !set.database.columns(table)?.iter().any(|column| column == "stack_id") {
        return Ok(false);
    }
    let sql = format!("select exists (select 1 from \"{table}\" where stack_id <> 0)");
    set.database
        .connection()
        .query_row(&sql, [], |row| row.get(0))
        .map_err(|source| set.database.error(source))
}
