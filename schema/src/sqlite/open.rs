//! Opening a database so that nothing is created, left or changed beside it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use atomic_file::PrivateDir;
use platform::permissions::create_private;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::budget::Budget;
use super::header::{self, HEADER, is_recording};
use super::image::{IMAGE, Image};
use super::pages::stated_length;
use super::state::state;
use crate::content::io as io_error;
use crate::spool::{COPY, Room};
use crate::{Error, Result};

/// How long a writer may hold the file before reading gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before another look at a file that a writer is changing.
pub(super) const PAUSE: Duration = Duration::from_millis(5);
/// How often the index of a -wal is looked at before it counts as left by a killed writer.
const LOOKS: usize = 5;
/// The number of attempts to copy a file that changes.
const COPIES: usize = 3;

/// An open database. The order of the fields is the order in which they are dropped: closing `file`
/// before `connection` would release the connection's POSIX locks.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) budget: Budget,
    /// Names of all tables and views.
    pub(super) tables: Vec<String>,
    /// The main file, if it alone holds all that is committed.
    pub(super) file: Option<Arc<File>>,
    /// The pages of one state, where `file` is a recording that its writer may be extending.
    pub(super) image: Option<Arc<Image>>,
    /// True if the connection reads a private copy, which SQLite had to recover.
    pub(super) is_recovered: bool,
}

/// Opens `content`, which the user knows as `path`.
pub(super) fn open(content: &Path, path: &Path) -> Result<Opened> {
    let fail = |error| describe(error, content, path);
    // SQLite follows links before it looks for the files beside.
    let content = &content.canonicalize().map_err(io_error("read", path))?;
    let header = read_header(content, path)?;
    check_files_beside(content, path)?;
    let wal = fs::metadata(beside(content, "-wal"));
    let has_frames = wal.as_ref().is_ok_and(|wal| wal.len() > 0);
    let has_index = wal.is_ok() && beside(content, "-shm").exists();
    let stated_wal = header[18] == 2 || header[19] == 2;

    if has_frames || (stated_wal && has_index) {
        // A writer is alive only if its index is usable as it is. Otherwise it was killed, and taking its
        // frames into account needs an index that must not be built beside the trace.
        return match connect_live(content) {
            Ok(connected) => Ok(connected.opened(None)),
            Err(error) if needs_writing(&error) && has_frames => open_copy(content, path, "-wal"),
            Err(error) if needs_writing(&error) => open_plain(content, path, "immutable=1"),
            Err(error) => Err(fail(error)),
        };
    }
    if stated_wal {
        return open_plain(content, path, "immutable=1");
    }
    let opened = open_plain(content, path, "mode=ro");
    // What was read before the next publication is of one state.
    let is_ended = opened.as_ref().is_ok_and(is_complete) && read_header(content, path)? == header;
    match opened {
        opened if is_recording(&header) && !is_ended => {
            // Its writer takes no lock. Where there is no image, the file is damaged as SQLite says.
            Ok(open_image(content, path)?.map_or(opened, Ok)?)
        }
        Err(Error::Sqlite { source, .. })
            if needs_writing(&source) && beside(content, "-journal").exists() =>
        {
            open_copy(content, path, "-journal")
        }
        opened => opened,
    }
}

/// SQLite's error as one of this file's: a damaged file is said to be one, with where it ends.
pub(super) fn describe(source: rusqlite::Error, content: &Path, path: &Path) -> Error {
    if let rusqlite::Error::Utf8Error(..) | rusqlite::Error::FromSqlConversionFailure(..) = source {
        return Error::Damaged { path: path.to_owned(), detail: "a name in it is not UTF-8".to_owned() };
    }
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            let short = File::open(content).ok().and_then(|file| cut_off(&file));
            let detail = short.unwrap_or_else(|| source.to_string());
            Error::Damaged { path: path.to_owned(), detail }
        }
        Some(ErrorCode::OperationInterrupted) => exceeded(path, "a statement takes too many steps"),
        Some(ErrorCode::TooBig) => exceeded(path, "a value is longer than the file"),
        _ => Error::Sqlite { path: path.to_owned(), source: without_place(source) },
    }
}

/// The error without the name of the file that SQLite was given, which may be that of a private copy.
fn without_place(source: rusqlite::Error) -> rusqlite::Error {
    match source {
        rusqlite::Error::SqliteFailure(error, Some(message)) if error.code == ErrorCode::CannotOpen => {
            let message = message.split(": ").next().map(str::to_owned);
            rusqlite::Error::SqliteFailure(error, message)
        }
        other => other,
    }
}

/// The error of a file that asks for more than its budget.
pub(super) fn exceeded(path: &Path, detail: &str) -> Error {
    Error::Excessive { path: path.to_owned(), detail: detail.to_owned() }
}

fn open_plain(content: &Path, path: &Path, how: &str) -> Result<Opened> {
    let file = File::open(content).map_err(io_error("read", path))?;
    let connected = connect(content, how, OpenFlags::SQLITE_OPEN_READ_ONLY, size(&file))
        .map_err(|error| describe(error, content, path))?;
    // SQLite reads missing bytes of the last page as zeros.
    if let Some(detail) = cut_off(&file) {
        // Closing `file` first would release the connection's locks.
        drop(connected);
        return Err(Error::Damaged { path: path.to_owned(), detail });
    }
    Ok(connected.opened(Some(file)))
}

/// The size of a file in bytes, 0 where it is unknown.
fn size(file: &File) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

/// True if the writer has ended the file for good. One that is writing may make it look like anything else.
fn is_complete(opened: &Opened) -> bool {
    let complete = "select value from rocpd_metadata where tag = 'complete' order by rowid desc limit 1";
    let complete = || opened.connection.query_row(complete, [], |row| row.get::<_, String>(0));
    !opened.tables.iter().any(|name| name == "rocpd_metadata") || complete().is_ok_and(|value| value == "1")
}

fn open_image(content: &Path, path: &Path) -> Result<Option<Opened>> {
    let file = File::open(content).map_err(io_error("read", path))?;
    let Some(state) = state(&file, PATIENCE) else { return Ok(None) };
    let image = Image::new(state);
    let place = image.write(&file).map_err(io_error("create a temporary image of", path))?;
    // The connection keeps the file when its name is gone.
    let connected =
        connect(&place.name().join(IMAGE), "immutable=1", OpenFlags::SQLITE_OPEN_READ_ONLY, size(&file))
            .map_err(|error| describe(error, content, path))?;
    Ok(Some(Opened { image: Some(Arc::new(image)), ..connected.opened(Some(file)) }))
}

/// Refuses what SQLite would open and wait for: a FIFO or a device in place of a file beside the database.
fn check_files_beside(content: &Path, path: &Path) -> Result<()> {
    for suffix in ["-wal", "-shm", "-journal"] {
        if fs::metadata(beside(content, suffix)).is_ok_and(|found| !found.is_file()) {
            let detail = format!("the {suffix} beside it is not a regular file");
            return Err(Error::Damaged { path: path.to_owned(), detail });
        }
    }
    Ok(())
}

/// Copies the file with the one `beside` it into a folder of our own, where SQLite may recover it. The copy loses its name
/// when it is open.
fn open_copy(content: &Path, path: &Path, suffix: &str) -> Result<Opened> {
    let failed = io_error(COPY, path);
    let folder = PrivateDir::create_in(&std::env::temp_dir()).map_err(&failed)?;
    let copy = folder.name().join("trace.db");
    for _ in 0..COPIES {
        let before = stamp(content, suffix);
        let mut room = Room::new();
        for (from, to) in
            [(content.to_owned(), copy.clone()), (beside(content, suffix), beside(&copy, suffix))]
        {
            let _ = fs::remove_file(&to);
            // Without the permissions of the original: it may be read-only.
            let mut to = create_private(&to).map_err(&failed)?;
            room.copy(File::open(from).map_err(&failed)?, &mut to, path, io_error("read", path))?;
        }
        if stamp(content, suffix) == before {
            break;
        }
    }
    let fail = |error| describe(error, &copy, path);
    let bytes = [copy.clone(), beside(&copy, suffix)].into_iter().filter_map(|file| fs::metadata(file).ok());
    let bytes = bytes.map(|file| file.len()).sum();
    let recovered = connect(&copy, "mode=rw", OpenFlags::SQLITE_OPEN_READ_WRITE, bytes).map_err(fail)?;
    recovered.connection.pragma_update(None, "journal_mode", "delete").map_err(fail)?;
    drop(recovered);
    Ok(Opened { is_recovered: true, ..open_plain(&copy, path, "mode=ro")? })
}

/// Sizes and times of a database and a file beside it, to see whether they change.
fn stamp(content: &Path, suffix: &str) -> [Option<(u64, Option<SystemTime>)>; 2] {
    [content.to_owned(), beside(content, suffix)].map(|file| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.len(), metadata.modified().ok()))
    })
}

/// Connects by the index of a -wal as it is. A living writer may be changing it just now, a killed one will not.
fn connect_live(content: &Path) -> rusqlite::Result<Connected> {
    let size =
        [content.to_owned(), beside(content, "-wal")].into_iter().filter_map(|file| fs::metadata(file).ok());
    let size = size.map(|file| file.len()).sum();
    let look = || connect(content, "mode=ro&readonly_shm=1", OpenFlags::SQLITE_OPEN_READ_ONLY, size);
    for _ in 1..LOOKS {
        match look() {
            Err(error) if needs_writing(&error) => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
    look()
}

/// A connection whose schema is read.
struct Connected {
    connection: Connection,
    budget: Budget,
    tables: Vec<String>,
}

impl Connected {
    fn opened(self, file: Option<File>) -> Opened {
        let Self { connection, budget, tables } = self;
        Opened { connection, budget, tables, file: file.map(Arc::new), image: None, is_recovered: false }
    }
}

/// Connects and reads the schema, which is where SQLite first looks into the file of `size` bytes.
fn connect(content: &Path, how: &str, flags: OpenFlags, size: u64) -> rusqlite::Result<Connected> {
    let flags = flags | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri(content, how), flags)?;
    connection.busy_timeout(PATIENCE)?;
    let budget = Budget::impose(&mut connection, size)?;
    // A trace is someone else's file: its views must not call what can do harm, and a damaged cell must be
    // found before SQLite reads past the end of its page.
    connection.execute_batch(
        "pragma foreign_keys = off; pragma trusted_schema = off; pragma cell_size_check = on",
    )?;
    let tables = tables(&connection)?;
    Ok(Connected { connection, budget, tables })
}

/// The names of all tables and views. Names of columns are text too: the budget is asked by name.
fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement =
        connection.prepare("select type, name, tbl_name, sql from sqlite_master order by name")?;
    let mut rows = statement.query([])?;
    let mut tables = Vec::new();
    while let Some(row) = rows.next()? {
        let text = |column| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(column)?.as_str_or_null()?) };
        let [kind, name, ..]: [Option<&str>; 4] = [text(0)?, text(1)?, text(2)?, text(3)?];
        if let (Some("table" | "view"), Some(name)) = (kind, name) {
            tables.push(name.to_owned());
        }
    }
    Ok(tables)
}

/// True if SQLite would have to write something to go on.
pub(super) fn needs_writing(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

fn cut_off(file: &File) -> Option<String> {
    let stated = stated_length(&header::read_header(file)?)?;
    let length = file.metadata().ok()?.len();
    (length < stated).then(|| format!("the file ends at byte {length} of {stated}"))
}

fn read_header(content: &Path, path: &Path) -> Result<[u8; HEADER]> {
    let mut bytes = Vec::with_capacity(HEADER);
    let file = File::open(content).map_err(io_error("read", path))?;
    file.take(HEADER as u64).read_to_end(&mut bytes).map_err(io_error("read", path))?;
    bytes.as_slice().try_into().map_err(|_| Error::Damaged {
        path: path.to_owned(),
        detail: format!("the file ends at byte {} of its header", bytes.len()),
    })
}

/// The name of a file for SQLite: bytes that are no letters or digits of ASCII may have a meaning in it, or be no text.
fn uri(content: &Path, parameters: &str) -> String {
    let byte = |&byte: &u8| match byte {
        b'/' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02x}"),
    };
    let name: String = content.as_os_str().as_encoded_bytes().iter().map(byte).collect();
    format!("file:{name}?{parameters}")
}

fn beside(content: &Path, suffix: &str) -> PathBuf {
    let mut name = content.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_with_a_name_that_is_no_text_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("create table t(first, second)").unwrap();
        drop(connection);
        let mut bytes = fs::read(&path).unwrap();
        let name = bytes.windows(6).position(|bytes| bytes == b"second").unwrap();
        bytes[name] = 0xff;
        fs::write(&path, bytes).unwrap();
        let error = open(&path, &path).unwrap_err();
        assert!(matches!(&error, Error::Damaged { .. }) && error.to_string().contains("UTF-8"), "{error}");
    }

    #[test]
    fn an_error_of_a_private_copy_names_the_file_of_the_user_only() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("trace.db");
        let open = |flags| connect(&copy, "mode=ro", flags, 0).map(|_| ()).unwrap_err();
        let error = describe(open(OpenFlags::SQLITE_OPEN_READ_ONLY), &copy, Path::new("mine.db"));
        let mut text = error.to_string();
        let mut cause: Option<&dyn std::error::Error> = Some(&error);
        while let Some(found) = cause {
            text += &format!(": {found}");
            cause = found.source();
        }
        assert!(text.contains("mine.db") && !text.contains(folder.path().to_str().unwrap()), "{text}");
    }
}
