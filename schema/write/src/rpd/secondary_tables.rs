//! Counters, monitors, call stacks, and what the source says of itself.

use super::calls::space;
use super::{RpdWriter, Table};
use crate::btree::Datum;
use rtl_schema::layout::tags;
use rtl_schema::table::{Counter, Monitor, StackFrame};
use rtl_schema::{Dialect, NameId, Result, Tables};

/// Tags that every file has of its own.
const OWN: [&str; 5] =
    [tags::GPU_STRIDE, tags::PID_STRIDE, tags::SCHEMA_VERSION, "session_count", tags::LAUNCHES];

impl RpdWriter {
    pub(super) fn secondary_tables(&mut self, piece: &Tables) -> Result<()> {
        for &Counter { dispatch, process, agent: _, name, value } in &piece.counters {
            if let Some(op) = self.ops.dispatches.get(space(piece, process), dispatch) {
                let name = self.name(piece, name)?;
                self.row(Table::Counter, &[value.into(), op.into(), name.into()])?;
            }
        }
        for &Monitor { id: _, device_kind, device, name, start, end, value } in &piece.monitors {
            let words = |name: NameId| Datum::Text(if name.is_some() { piece.strings.get(name) } else { "" });
            let cells =
                [words(device_kind), device.into(), words(name), start.into(), end.into(), words(value)];
            self.row(Table::Monitor, &cells)?;
        }
        for &StackFrame { call, depth, name } in &piece.stack_frames {
            if let Some(call) = self.calls.ids.get(0, call) {
                let name = self.name(piece, name)?;
                self.integers(Table::Stackframe, [call, depth, name])?;
            }
        }
        Ok(())
    }

    /// Writes the metadata of the source: RPD's own as it was, that of others under names which RPD does not know.
    pub(super) fn source(&mut self, last: &Tables) -> Result<()> {
        let info = &last.info;
        let stated =
            |tag: &str| info.metadata.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str());
        let own = matches!(info.dialect, Dialect::Rpd2 | Dialect::Rpd3);
        let was_rpd = stated(tags::SOURCE_DIALECT).is_some_and(|dialect| dialect.starts_with("rpd-"));
        if !own && !was_rpd {
            self.metadata(tags::SOURCE_DIALECT, info.dialect.label())?;
        }
        for (tag, value) in &info.metadata {
            let tag = match tag.strip_prefix(tags::SOURCE_PREFIX) {
                _ if own => tag.clone(),
                Some(original) if was_rpd => original.to_owned(),
                _ if was_rpd => continue,
                _ => format!("source:{tag}"),
            };
            if !OWN.contains(&tag.as_str()) {
                self.metadata(&tag, value)?;
            }
        }
        Ok(())
    }
}
