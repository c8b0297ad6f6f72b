//! Files by their first bytes: SQLite, gzip, and files that are no trace.

use std::io::BufRead;
use std::path::Path;

use crate::Error;
use crate::foreign::{Format, format};

/// The beginning of a SQLite file.
pub(crate) const SQLITE: &[u8] = b"SQLite format 3\0";

/// The beginning of a gzip member.
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];

/// The beginning of a message of Protocol Buffers whose first field is a message too, such as planes of XLA.
pub(crate) const MESSAGE: &[u8] = &[0x0a];

/// The bytes that some programs put before a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// Skips a byte order mark at the beginning of a text.
pub(crate) fn skip_byte_order_mark(reader: &mut impl BufRead) -> std::io::Result<()> {
    if reader.fill_buf()?.starts_with(BYTE_ORDER_MARK) {
        reader.consume(BYTE_ORDER_MARK.len());
    }
    Ok(())
}

/// The error for a database that no dialect recognises, described by the names of its tables.
pub(crate) fn foreign_database(path: &Path, tables: &[String]) -> Error {
    let found = match tables {
        [] => return Error::NoTables { path: path.to_owned() },
        few if few.len() <= 4 => format!("a SQLite database with {}", few.join(", ")),
        [first, second, third, rest @ ..] => {
            format!("a SQLite database with {first}, {second}, {third} and {} more", rest.len())
        }
        _ => "a SQLite database".to_owned(),
    };
    Error::Foreign { path: path.to_owned(), found }
}

/// The error for a file with this beginning that no dialect recognises.
pub(crate) fn not_a_trace(path: &Path, head: &[u8]) -> Error {
    let path = path.to_owned();
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    if let Some(Format { found, hint, .. }) = format(head) {
        return Error::Unread { path, found, hint };
    }
    let found = match head {
        _ if SQLITE.starts_with(head) => {
            let detail = "it ends within the header of a SQLite database".to_owned();
            return Error::Damaged { path, detail };
        }
        [0x37, 0x7f, 0x06, 0x82 | 0x83, ..] => "the -wal of a SQLite database; name the database",
        [b'P', b'K', 3, 4, ..] => "a zip archive; unpack it",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed by zstd; unpack it",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "compressed by xz; unpack it",
        _ if head.contains(&0) => "binary, not SQLite",
        _ => "neither SQLite nor JSON",
    };
    Error::NotATrace { path, found: found.to_owned() }
}

/// Turns an error of the operating system into one that names the file.
pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Io { action, path: path.to_owned(), source }
}
