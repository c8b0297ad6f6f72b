use crate::sqlite::Database;
use crate::{Dialect, Result, Select, Tables};

pub(crate) fn recognise(_database: &Database) -> Result<Option<Dialect>> {
    Ok(None)
}

pub(crate) fn read(_database: &Database, _select: &Select) -> Result<Tables> {
    Ok(Tables::default())
}
