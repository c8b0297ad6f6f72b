//! Texts and numbers as RPD stores them.

use super::state::EMPTY;
use super::{RpdWriter, Table};
use crate::native::OpKind;
use rtl_schema::layout::rpd::UNRECORDED;
use rtl_schema::{NameId, Result, Tables};

/// The type and domain of ranges; ranges are calls of this name.
const MARKER: OpKind = OpKind::UserMarker;

impl RpdWriter {
    pub(super) fn first_texts(&mut self) -> Result<()> {
        self.row(Table::Ustring, &["".into()])?;
        for text in [""].into_iter().chain(OpKind::ALL.map(OpKind::label)).chain([UNRECORDED]) {
            let id = self.row(Table::String, &[text.into()])?;
            self.texts.fixed.insert(text, id);
        }
        Ok(())
    }

    /// The id of the text of an op's type.
    #[inline]
    pub(super) fn kind(&self, kind: OpKind) -> i64 {
        EMPTY + 1 + kind as i64
    }

    pub(super) fn marker(&self) -> i64 {
        self.kind(MARKER)
    }

    pub(super) fn unrecorded(&self) -> i64 {
        EMPTY + 1 + OpKind::ALL.len() as i64
    }

    /// The id of a name in `rocpd_string`; RPD has no other word for none than the empty one.
    #[inline]
    pub(super) fn name(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        match self.texts.names.get(name.index()) {
            None => Ok(EMPTY),
            Some(0) => self.new_name(tables, name),
            Some(&id) => Ok(id),
        }
    }

    #[cold]
    fn new_name(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        let text = tables.strings.get(name);
        let id = match self.texts.fixed.get(text) {
            Some(&id) => id,
            None => self.row(Table::String, &[text.into()])?,
        };
        self.texts.names[name.index()] = id;
        Ok(id)
    }

    /// The id of an argument's or range's text in `rocpd_ustring`.
    pub(super) fn argument(&mut self, tables: &Tables, name: NameId) -> Result<i64> {
        let id = match self.texts.unique.get(name.index()) {
            None => return Ok(EMPTY),
            Some(0) if tables.strings.get(name).is_empty() => EMPTY,
            Some(0) => self.row(Table::Ustring, &[tables.strings.get(name).into()])?,
            Some(&id) => return Ok(id),
        };
        self.texts.unique[name.index()] = id;
        Ok(id)
    }
}
