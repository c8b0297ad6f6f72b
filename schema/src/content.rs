//! The bytes of a file before its dialect is known: its beginning, gzip, and files that are no trace.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::gzip::Gzip;
use crate::{Error, Result};

/// Bytes of a text file that are read to recognise it.
const HEAD: u64 = 64 << 10;

/// The beginning of a SQLite file.
pub(crate) const SQLITE: &[u8] = b"SQLite format 3\0";

/// The beginning of a gzip member.
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];

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
        [] => "a SQLite database without tables".to_owned(),
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
    let found = match head {
        _ if matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) => {
            return Error::Foreign { path, found: "JSON of another tool".to_owned() };
        }
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

/// The first bytes: enough to recognise SQLite, gzip, or the writer of a text.
pub(crate) fn read_head(content: &Path, path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut read = || -> std::io::Result<()> {
        let mut file = File::open(content)?;
        (&mut file).take(SQLITE.len() as u64).read_to_end(&mut head)?;
        if !head.starts_with(SQLITE) && !head.starts_with(GZIP) {
            head.reserve_exact(HEAD as usize);
            file.take(HEAD).read_to_end(&mut head)?;
        }
        Ok(())
    };
    read().map_err(io("read", path))?;
    Ok(head)
}

/// Decompresses into a temporary file that SQLite can open; it is removed with the trace. Returns also whether other bytes
/// follow.
pub(crate) fn unpack(path: &Path) -> Result<(NamedTempFile, bool)> {
    let file = File::open(path).map_err(io("read", path))?;
    let mut target = NamedTempFile::new().map_err(io("create a temporary copy of", path))?;
    let mut reader = Gzip::new(BufReader::with_capacity(1 << 20, file));
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = reader
            .read(&mut buffer)
            .map_err(|error| Error::Damaged { path: path.to_owned(), detail: format!("gzip: {error}") })?;
        if count == 0 {
            break;
        }
        target.write_all(&buffer[..count]).map_err(io("create a temporary copy of", path))?;
    }
    Ok((target, reader.has_trailing_bytes()))
}

/// Turns an error of the operating system into one that names the file.
pub(crate) fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Io { action, path: path.to_owned(), source }
}
