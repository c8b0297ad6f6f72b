//! `rocpd_api`: calls and ranges.

use super::texts::{EMPTY, UNRECORDED};
use super::{RpdWriter, Table};
use crate::native::OpKind;
use rtl_schema::layout::tags;
use rtl_schema::table::{ApiArgument, ApiCall, Range};
use rtl_schema::{Result, Tables};

impl RpdWriter {
    /// Writes the calls, all of which come in the first piece.
    pub(super) fn api_calls(&mut self, piece: &Tables) -> Result<()> {
        let calls = &piece.api_calls;
        let begins = self.launches.begin(piece);
        if begins && !self.launches.are_recorded() {
            self.metadata(tags::LAUNCHES, tags::LAUNCHES_EXECUTED)?;
        }
        let mut ids = Vec::new();
        let mut correlated = Vec::new();
        let mut arguments = calls.arguments.chunk_by(|one, next| one.call == next.call).peekable();
        for (at, row) in calls.iter().enumerate() {
            let own = arguments.next_if(|own| own[0].call as usize == at).unwrap_or_default();
            // RPD has no columns for the parent, the stream and the result.
            let ApiCall {
                id: old,
                process,
                tid,
                name,
                domain,
                category,
                args,
                start,
                duration,
                correlation,
                parent: _,
                stream: _,
                result: _,
            } = row;
            let Some(duration) = duration else {
                self.left_out += 1;
                ids.push(None);
                continue;
            };
            let args = if own.is_empty() || args.is_some() {
                self.argument(piece, args)?
            } else {
                self.row(Table::Ustring, &[joined(own, piece).as_str().into()])?
            };
            let name = self.name(piece, name)?;
            let category = self.name(piece, category)?;
            let domain = self.name(piece, domain)?;
            let (pid, tid) = (self.numbers.pid(process), self.numbers.tid(process, tid));
            let end = start.saturating_add(duration);
            let id = self.integers(Table::Api, [pid, tid, start, end, name, category, domain, args])?;
            ids.push(Some(id));
            self.calls.ids.push(0, old, id);
            if correlation != 0 {
                correlated.push((space(piece, process), correlation, id));
            }
        }
        self.calls.ids.sort();
        correlated.sort_by_key(|&(space, correlation, _)| (space, correlation));
        correlated.dedup_by_key(|(space, correlation, _)| (*space, *correlation));
        for (space, correlation, id) in correlated {
            self.calls.by_correlation.push(space, correlation, id);
        }
        self.recorded_launches(piece, &ids)
    }

    /// Writes ranges and markers, which are calls of that name.
    pub(super) fn ranges(&mut self, piece: &Tables) -> Result<()> {
        for row in &piece.ranges {
            let &Range { id: _, process, tid, name, category, kind: _, start, duration, correlation: _ } =
                row;
            let duration = if row.is_marker() { Some(0) } else { duration };
            let Some(duration) = duration else {
                self.left_out += 1;
                continue;
            };
            let text = self.argument(piece, name)?;
            let category = self.name(piece, category)?;
            let (pid, tid) = (self.numbers.pid(process), self.numbers.tid(process, tid));
            // Ranges are calls of this name and domain.
            let (marker, end) = (OpKind::UserMarker.text().0, start.saturating_add(duration));
            self.integers(Table::Api, [pid, tid, start, end, marker, category, marker, text])?;
        }
        Ok(())
    }

    /// Stands in for a call that was not recorded.
    #[inline]
    pub(super) fn unrecorded_call(&mut self, pid: i64, tid: i64, start: i64) -> Result<i64> {
        self.integers(Table::Api, [pid, tid, start, start, UNRECORDED, EMPTY, EMPTY, EMPTY])
    }
}

pub(super) fn space(tables: &Tables, process: rtl_schema::ProcessId) -> u32 {
    tables.processes.get(process.index()).map_or(0, |process| process.space)
}

/// Arguments that were stored one by one, as the one text that RPD has.
fn joined(arguments: &[ApiArgument], tables: &Tables) -> String {
    let text = |name| if rtl_schema::NameId::is_some(name) { tables.strings.get(name) } else { "" };
    let each: Vec<String> =
        arguments.iter().map(|row| format!("{}={}", text(row.name), text(row.value))).collect();
    each.join(" | ")
}
