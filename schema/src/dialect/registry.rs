use super::reader::Reader;
use crate::content::BYTE_ORDER_MARK;
use crate::sqlite::Database;
use crate::{Dialect, Result};

macro_rules! register {
    ($($variant:ident: $label:literal, $description:literal, $module:ident $reader:ident;)*) => {
        /// Every dialect with its reader, in the order of recognition.
        static READERS: &[(Dialect, Reader)] = &[$((Dialect::$variant, super::$module::$reader)),*];
    };
}
with_dialects!(register);

/// The reader of a dialect.
pub(crate) fn reader(dialect: Dialect) -> &'static Reader {
    &READERS[dialect as usize].1
}

/// The dialect of a database, if any knows it.
pub(crate) fn of_database(database: &Database) -> Result<Option<Dialect>> {
    let _snapshot = database.snapshot()?;
    for (dialect, reader) in READERS {
        let (Reader::Ops { recognise, .. } | Reader::Database { recognise, .. }) = reader else { continue };
        if recognise(database)? {
            return Ok(Some(*dialect));
        }
    }
    Ok(None)
}

/// The dialect of a text with this beginning, if any knows it.
pub(crate) fn of_text(head: &[u8]) -> Option<Dialect> {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let recognises = |reader: &Reader| match reader {
        Reader::Text { recognise, .. } | Reader::Files { recognise, .. } => recognise(head),
        Reader::Ops { .. } | Reader::Database { .. } => false,
    };
    READERS.iter().find(|(_, reader)| recognises(reader)).map(|(dialect, _)| *dialect)
}
