//! One CSV file while it is written: texts quoted, numbers bare, unknown values empty.

use std::io;

use atomic_file::Destination;

use crate::names::RenderCache;
use crate::rocprofv3::page_file::PageFile;
use crate::text::number;

/// Cells of a row, each with a comma behind it: the values of the columns, in a header their names.
pub(super) struct Cells {
    bytes: Vec<u8>,
    is_header: bool,
}

impl Cells {
    pub(super) fn text(&mut self, name: &str, value: &str) {
        quoted(if self.is_header { name } else { value }, &mut self.bytes);
    }

    /// Empty where unknown.
    #[inline]
    pub(super) fn number(&mut self, name: &str, value: Option<impl itoa::Integer>) {
        if self.is_header {
            return quoted(name, &mut self.bytes);
        }
        if let Some(value) = value {
            number(value, &mut self.bytes);
        }
        self.bytes.push(b',');
    }

    pub(super) fn plain(&mut self, name: &str, value: &str) {
        if self.is_header {
            return quoted(name, &mut self.bytes);
        }
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(b',');
    }

    /// Columns whose values follow from `key`; rows render them once for each key.
    #[inline]
    pub(super) fn cached(&mut self, cache: &mut RenderCache, key: usize, columns: impl FnOnce(&mut Self)) {
        if self.is_header {
            return columns(self);
        }
        cache.append(key, &mut self.bytes, |bytes| {
            let mut values = Self { bytes: std::mem::take(bytes), is_header: false };
            columns(&mut values);
            *bytes = values.bytes;
        });
    }
}

/// The first row creates the file, with a header of the names of these `columns`.
#[inline]
pub(super) fn write(
    file: &mut Option<PageFile>,
    destination: &Destination,
    mut columns: impl FnMut(&mut Cells),
) -> io::Result<()> {
    let file = match file {
        Some(file) => file,
        none => {
            let file = none.insert(PageFile::create(destination)?);
            line(file, true, &mut columns);
            file
        }
    };
    line(file, false, columns);
    file.flush_if_full()
}

#[inline]
fn line(file: &mut PageFile, is_header: bool, mut columns: impl FnMut(&mut Cells)) {
    let mut cells = Cells { bytes: std::mem::take(&mut file.bytes), is_header };
    columns(&mut cells);
    if let Some(last) = cells.bytes.last_mut() {
        *last = b'\n';
    }
    file.bytes = cells.bytes;
}

/// A text as a cell. Quotes in it are doubled, which rocprofv3 forgets.
fn quoted(text: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'"');
    for (at, part) in text.split('"').enumerate() {
        if at > 0 {
            bytes.extend_from_slice(b"\"\"");
        }
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes.extend_from_slice(b"\",");
}
