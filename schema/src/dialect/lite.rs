use crate::sqlite::Database;
use crate::{Result, Select, Tables};

pub(crate) fn recognise(_database: &Database) -> Result<bool> {
    Ok(false)
}

pub(crate) fn read(_database: &Database, _select: &Select) -> Result<Tables> {
    Ok(Tables::default())
}
