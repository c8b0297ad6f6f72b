use std::io::BufRead;
use std::path::Path;

use crate::{Result, Select, Tables};

pub(crate) fn recognise(_head: &[u8]) -> bool {
    false
}

pub(crate) fn read(_path: &Path, _reader: impl BufRead, _select: &Select) -> Result<Tables> {
    Ok(Tables::default())
}
