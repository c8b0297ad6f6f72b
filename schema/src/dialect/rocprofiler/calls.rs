use rustc_hash::FxHashMap;

use super::events::{Events, is_marker};
use super::references::References;
use super::set::Set;
use crate::table::{ApiArgument, ApiCall, Range, RangeKind};
use crate::{Id, NameId, ProblemKind, ProcessId, Result, Select, Strings, Tables};

/// The argument that holds the returned status, by rocprofv3's name in JSON; its databases have no column for it.
const RETURNED: &str = "retval";

/// A region or sample with its references resolved, not yet known to be a call or a range.
struct Span {
    id: Id,
    process: ProcessId,
    tid: Option<i64>,
    start: i64,
    duration: Option<i64>,
    name: NameId,
    category: NameId,
    event: Option<Id>,
    correlation: Id,
}

/// Reads regions and samples: API calls, ranges, markers.
pub(super) fn read(
    set: Set<'_>,
    select: &Select,
    references: &References,
    events: &Events,
    tables: &mut Tables,
) -> Result<()> {
    let mut calls = FxHashMap::default();
    let columns = ["id", "pid", "tid", "start", "end", "name_id", "event_id"];
    set.database.scan(&set.table("rocpd_region"), &columns, |row| {
        let id = row.int(0).unwrap_or(row.id());
        let Some(start) = row.int(3) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_region.start", id);
            return;
        };
        let problems = &mut tables.problems;
        let span = Span {
            id,
            process: references.process(problems, "rocpd_region.pid", id, row.int(1)),
            tid: references.tid(problems, "rocpd_region.tid", id, row.int(2)),
            start,
            duration: row.int(4).and_then(|end| end.checked_sub(start)),
            name: references.name(problems, "rocpd_region.name_id", id, row.int(5)),
            category: events.category(row.int(6)),
            event: row.int(6),
            correlation: events.correlation(problems, "rocpd_region.event_id", id, row.int(6)),
        };
        push(span, select, events, &mut calls, tables);
    })?;
    samples(set, select, references, events, &mut calls, tables)?;
    if select.args && select.api {
        arguments(set, &calls, tables)?;
    }
    Ok(())
}

/// Instants lose their function's name: only their track remains, named after the category.
fn samples(
    set: Set<'_>,
    select: &Select,
    references: &References,
    events: &Events,
    calls: &mut FxHashMap<Id, u32>,
    tables: &mut Tables,
) -> Result<()> {
    let mut tracks = FxHashMap::default();
    set.database.scan(&set.table("rocpd_track"), &["id", "pid", "tid", "name_id"], |row| {
        let id = row.int(0).unwrap_or(row.id());
        let problems = &mut tables.problems;
        let process = references.process(problems, "rocpd_track.pid", id, row.int(1));
        let tid = references.tid(problems, "rocpd_track.tid", id, row.int(2));
        let name = references.name(problems, "rocpd_track.name_id", id, row.int(3));
        tracks.insert(id, (process, tid, name));
    })?;
    let columns = ["id", "track_id", "timestamp", "event_id"];
    set.database.scan(&set.table("rocpd_sample"), &columns, |row| {
        let id = row.int(0).unwrap_or(row.id());
        let Some(start) = row.int(2) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_sample.timestamp", id);
            return;
        };
        let problems = &mut tables.problems;
        let track = row.int(1).and_then(|track| tracks.get(&track)).copied();
        let (process, tid, name) = track.unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingReference, "rocpd_sample.track_id", id);
            (references.process(problems, "rocpd_sample.pid", id, None), None, NameId::NONE)
        });
        let category = events.category(row.int(3));
        let span = Span {
            id,
            process,
            tid,
            start,
            duration: Some(0),
            name,
            category: if category == NameId::NONE { name } else { category },
            event: row.int(3),
            correlation: events.correlation(problems, "rocpd_sample.event_id", id, row.int(3)),
        };
        push(span, select, events, calls, tables);
    })
}

fn push(span: Span, select: &Select, events: &Events, calls: &mut FxHashMap<Id, u32>, tables: &mut Tables) {
    let Span { id, process, tid, start, duration, name, category, event, correlation } = span;
    let id = if select.ids { id } else { 0 };
    let text = events.message(event);
    let instant = duration == Some(0);
    if is_marker(tables.strings.get(category))
        && let Some(kind) = range_kind(&tables.strings, name, text, instant)
    {
        if select.ranges {
            let name = text.unwrap_or(name);
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
        }
    } else if select.api {
        if let Some(event) = event.filter(|_| select.args) {
            calls.insert(event, tables.api_calls.len() as u32);
        }
        let links = select.links;
        tables.api_calls.push(ApiCall {
            id,
            process,
            tid: tid.filter(|_| links),
            name,
            domain: category,
            category: NameId::NONE,
            args: NameId::NONE,
            start,
            duration,
            correlation: if links { correlation } else { 0 },
            parent: if links { events.parent(event) } else { 0 },
            ..ApiCall::default()
        });
    }
}

fn range_kind(strings: &Strings, name: NameId, text: Option<NameId>, instant: bool) -> Option<RangeKind> {
    kind_of(strings.get(name), text.is_some() || instant, instant)
}

/// The kind of a roctx record, by its function; `None` is a call that annotates nothing (pausing the profiler,
/// naming a thread). `text`: whether it carries one.
pub(crate) fn kind_of(function: &str, text: bool, instant: bool) -> Option<RangeKind> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| function.starts_with(prefix));
    if instant || starts(&["roctxMark"]) {
        Some(RangeKind::Marker)
    } else if starts(&["roctxThreadRange", "roctxRangePush"]) {
        Some(RangeKind::Thread)
    } else if starts(&["roctxProcessRange", "roctxRangeStart"]) {
        Some(RangeKind::Process)
    } else {
        text.then_some(RangeKind::Unknown)
    }
}

fn arguments(set: Set<'_>, calls: &FxHashMap<Id, u32>, tables: &mut Tables) -> Result<()> {
    let first = tables.api_calls.arguments.len();
    let columns = ["event_id", "position", "type", "name", "value"];
    set.database.scan(&set.table("rocpd_arg"), &columns, |row| {
        let Some(&call) = row.int(0).and_then(|event| calls.get(&event)) else { return };
        if row.text(3).is_some_and(|name| &*name == RETURNED)
            && let Some(status) = row.text(4).and_then(|value| value.parse().ok())
        {
            tables.api_calls.result.to_mut()[call as usize] = status;
            return;
        }
        let mut text = |at| row.text(at).map_or(NameId::NONE, |text| tables.strings.intern(&text));
        let (kind, name, value) = (text(2), text(3), text(4));
        let position = row.int(1).and_then(|position| u32::try_from(position).ok()).unwrap_or(0);
        tables.api_calls.arguments.push(ApiArgument { call, position, kind, name, value });
    })?;
    tables.api_calls.arguments[first..].sort_by_key(|argument| (argument.call, argument.position));
    join_arguments(tables, first);
    Ok(())
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
