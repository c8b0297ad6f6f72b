//! `rocpd_api`: calls and ranges.

use super::texts::{EMPTY, UNRECORDED};
use super::{RpdWriter, Table};
use crate::native::OpKind;
use rtl_schema::layout::tags;
use rtl_schema::table::ApiArgument;
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
            let Some(duration) = row.duration else {
                self.left_out += 1;
                ids.push(None);
                continue;
            };
            let args = if own.is_empty() || row.args.is_some() {
                self.argument(piece, row.args)?
            } else {
                self.row(Table::Ustring, &[joined(own, piece).as_str().into()])?
            };
            let name = self.name(piece, row.name)?;
            let category = self.name(piece, row.category)?;
            let domain = self.name(piece, row.domain)?;
            let (pid, tid) = (self.numbers.pid(row.process), self.numbers.tid(row.process, row.tid));
            let end = row.start.saturating_add(duration);
            let id = self.integers(Table::Api, [pid, tid, row.start, end, name, category, domain, args])?;
            ids.push(Some(id));
            self.calls.ids.push(0, row.id, id);
            if row.correlation != 0 {
                correlated.push((space(piece, row.process), row.correlation, id));
            }
        }
        self.calls.ids.sort();
        correlated.sort_by_key(|&(space, correlation, _)| (space, correlation));
        correlated.dedup_by_key(|(space, correlation, _)| (*space, *correlation));
        for (space, correlation, id) in correlated {
            self.calls.by_correlation.push(space, correlation, id);
        }
        self.asked_launches(piece, &ids)
    }

    /// Writes ranges and markers, which are calls of that name.
    pub(super) fn ranges(&mut self, piece: &Tables) -> Result<()> {
        for row in &piece.ranges {
            let duration = if row.is_marker() { Some(0) } else { row.duration };
            let Some(duration) = duration else {
                self.left_out += 1;
                continue;
            };
            let text = self.argument(piece, row.name)?;
            let category = self.name(piece, row.category)?;
            let (pid, tid) = (self.numbers.pid(row.process), self.numbers.tid(row.process, row.tid));
            // Ranges are calls of this name and domain.
            let (marker, end) = (OpKind::UserMarker.text().0, row.start.saturating_add(duration));
            self.integers(Table::Api, [pid, tid, row.start, end, marker, category, marker, text])?;
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
