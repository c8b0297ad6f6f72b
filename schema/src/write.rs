//! The one writer of native files: tracer, merge, convert, fixtures and the generator use it.
//!
//! [`Writer::tables`] writes a whole [`Tables`](crate::Tables); who produces rows one by one uses
//! [`Writer::op`], [`Writer::call`] and [`Writer::metadata`]. The file appears under its name only with
//! [`Writer::finish`]; a writer that is dropped leaves nothing behind.

mod batch;
mod metadata;
mod optional;
mod rows;
mod tables;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use rustc_hash::FxHashMap;
use tempfile::TempPath;

use crate::{Error, Result};
pub use batch::{Batch, Cell};
use optional::Optional;
pub use rows::{Call, NO_SYMBOL, Op, OpKind, TextId};

const TABLES: &str = include_str!("../../sql/tables.sql");
pub(crate) const VIEWS: &str = include_str!("../../sql/views.sql");

/// The version of the native layout, metadata tag `rtl_schema`.
pub const VERSION: &str = "1";

/// What happens to a file that already has the target's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// It stays and writing fails.
    #[default]
    Refuse,
    /// It is replaced, in one step, when the new one is complete.
    Replace,
}

/// A native file in the making. Memory is bounded by its distinct strings, never by its rows.
#[derive(Debug)]
pub struct Writer {
    // Dropped in this order: SQLite closes the file before it is removed.
    connection: Connection,
    temporary: TempPath,
    path: PathBuf,
    existing: Existing,
    texts: FxHashMap<Box<str>, TextId>,
    strings: Batch,
    metadata: Batch,
    ops: Batch,
    calls: Batch,
    optional: [Option<Batch>; Optional::COUNT],
    extras: Vec<String>,
}

impl Writer {
    /// Starts a file that will be at `path`, in a temporary one beside it.
    ///
    /// # Errors
    /// [`Error::Refused`] if the target exists and must stay; [`Error::Io`] or [`Error::Sqlite`] if its
    /// folder cannot be written.
    pub fn create(path: impl AsRef<Path>, existing: Existing) -> Result<Self> {
        let path = path.as_ref().to_owned();
        if existing == Existing::Refuse && path.symlink_metadata().is_ok() {
            return Err(refused(&path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = tempfile::Builder::new()
            .prefix(&format!(".{name}."))
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|source| Error::Io { action: "create", path: path.clone(), source })?
            .into_temp_path();
        let connection = open(&temporary).map_err(|source| Error::Sqlite { path: path.clone(), source })?;
        let mut writer = Self {
            connection,
            temporary,
            path,
            existing,
            texts: FxHashMap::default(),
            strings: Batch::new(statement("rocpd_string"), "rocpd_string", &["string"]),
            metadata: Batch::new(statement("rocpd_metadata"), "rocpd_metadata", &["tag", "value"]),
            ops: Batch::new(&stored_columns(statement("rocpd_op")), "rocpd_op", &OP_COLUMNS),
            calls: Batch::new(statement("rocpd_api"), "rocpd_api", &CALL_COLUMNS),
            optional: [const { None }; Optional::COUNT],
            extras: Vec::new(),
        };
        writer.start().map_err(|source| sqlite(&writer.path, source))?;
        writer.text("")?;
        for kind in OpKind::ALL {
            writer.text(kind.label())?;
        }
        writer.metadata("rtl_schema", VERSION)?;
        Ok(writer)
    }

    /// Creates the tables that every file has. SQLite would compute a virtual column for each inserted row
    /// and throw it away, 40 % of the time of an insert: so this connection knows `rocpd_op` without that
    /// column, and only the file, where it takes no space, has the whole statement.
    fn start(&mut self) -> rusqlite::Result<()> {
        for batch in [&mut self.strings, &mut self.metadata, &mut self.ops] {
            batch.create(&self.connection)?;
        }
        let whole = statement("rocpd_op").trim_end_matches(';');
        self.connection.execute_batch("PRAGMA writable_schema=ON")?;
        self.connection.execute("UPDATE sqlite_master SET sql=?1 WHERE name='rocpd_op'", [whole])?;
        self.connection.execute_batch("PRAGMA writable_schema=OFF")
    }

    /// The id of `text`, which is written when it is new.
    ///
    /// # Errors
    /// [`Error::Sqlite`] if the file cannot grow; so for all that follow.
    pub fn text(&mut self, text: &str) -> Result<TextId> {
        if let Some(&id) = self.texts.get(text) {
            return Ok(id);
        }
        let row = [Cell::from(text)];
        let id = self.strings.push(&self.connection, row).map_err(|source| sqlite(&self.path, source))?;
        self.texts.insert(text.into(), TextId(id));
        Ok(TextId(id))
    }

    /// Writes a metadata row; rows keep their order and a tag may repeat.
    pub fn metadata(&mut self, tag: &str, value: &str) -> Result<()> {
        let row = [Cell::from(tag), Cell::from(value)];
        self.metadata.push(&self.connection, row).map_err(|source| sqlite(&self.path, source))?;
        Ok(())
    }

    /// Writes an op, range or marker and returns its id; ids count from 1.
    #[inline]
    pub fn op(&mut self, op: &Op) -> Result<i64> {
        self.ops
            .push(&self.connection, op_row(op).map(Cell::from))
            .map_err(|source| sqlite(&self.path, source))
    }

    /// Writes an API call and returns its id; ids count from 1.
    #[inline]
    pub fn call(&mut self, call: &Call) -> Result<i64> {
        self.calls
            .push(&self.connection, call_row(call).map(Cell::from))
            .map_err(|source| sqlite(&self.path, source))
    }

    /// Writes a row of a table that exists only with rows and returns its number.
    fn row<const N: usize>(&mut self, table: Optional, row: [Cell; N]) -> Result<i64> {
        let batch = self.optional[table as usize]
            .get_or_insert_with(|| Batch::new(statement(table.name()), table.name(), table.columns()));
        batch.push(&self.connection, row).map_err(|source| sqlite(&self.path, source))
    }

    /// Writes a table that only its own tool understands, unless one of that name is there.
    fn extra<R: Iterator<Item = Cell>>(
        &mut self,
        create: &str,
        name: &str,
        columns: &[String],
        rows: impl Iterator<Item = R>,
    ) -> Result<()> {
        if self.extras.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        self.extras.push(name.to_owned());
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut batch = Batch::new(create, name, &columns);
        let write = || {
            batch.create(&self.connection)?;
            for row in rows {
                batch.push_wide(&self.connection, row)?;
            }
            batch.flush(&self.connection)
        };
        write().map_err(|source| sqlite(&self.path, source))
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error::Refused`] if meanwhile another file has the name and must stay.
    pub fn finish(mut self) -> Result<()> {
        let optional = self.optional.iter_mut().flatten();
        let always = [&mut self.strings, &mut self.metadata, &mut self.ops, &mut self.calls];
        for batch in always.into_iter().chain(optional) {
            batch.flush(&self.connection).map_err(|source| sqlite(&self.path, source))?;
        }
        self.connection
            .execute_batch(&format!("{VIEWS}\nCOMMIT"))
            .map_err(|source| sqlite(&self.path, source))?;
        self.connection.close().map_err(|(_, source)| sqlite(&self.path, source))?;
        let named = match self.existing {
            Existing::Refuse => self.temporary.persist_noclobber(&self.path),
            Existing::Replace => self.temporary.persist(&self.path),
        };
        named.map_err(|failed| match failed.error.kind() {
            std::io::ErrorKind::AlreadyExists => refused(&self.path),
            _ => Error::Io { action: "create", path: self.path.clone(), source: failed.error },
        })
    }
}

const OP_COLUMNS: [&str; 24] = [
    "gpuId",
    "queueId",
    "start",
    "end",
    "description_id",
    "opType_id",
    "roctxId",
    "gridX",
    "workgroupX",
    "tid",
    "correlationId",
    "lds",
    "scratch",
    "gridY",
    "workgroupY",
    "gridZ",
    "workgroupZ",
    "symbol",
    "sequenceId",
    "pid",
    "streamId",
    "bytes",
    "peer",
    "category_id",
];

#[inline]
pub(crate) fn op_row(op: &Op) -> [Option<i64>; 24] {
    // Beside a known x, NULL means 1: most launches then end at their x.
    let items = |axis: usize| op.items.map(|items| items[axis] as i64).filter(|&size| axis == 0 || size != 1);
    let group =
        |axis: usize| op.workgroup.map(|group| i64::from(group[axis])).filter(|&size| axis == 0 || size != 1);
    [
        op.gpu,
        op.queue,
        Some(op.start),
        op.end,
        text(op.description),
        text(Some(op.kind.text())),
        Some(op.range),
        items(0),
        group(0),
        op.tid,
        known(op.correlation),
        op.lds.map(i64::from),
        op.scratch.map(i64::from),
        items(1),
        group(1),
        items(2),
        group(2),
        op.symbol,
        op.sequence,
        op.pid,
        op.stream,
        op.bytes.map(|bytes| bytes as i64),
        op.peer,
        text(op.category),
    ]
}

const CALL_COLUMNS: [&str; 11] = [
    "pid",
    "tid",
    "start",
    "end",
    "apiName_id",
    "args_id",
    "category_id",
    "domain_id",
    "correlationId",
    "parentId",
    "streamId",
];

#[inline]
pub(crate) fn call_row(call: &Call) -> [Option<i64>; 11] {
    [
        call.pid,
        call.tid,
        Some(call.start),
        call.end,
        text(call.name),
        text(call.args),
        text(call.category),
        text(call.domain),
        known(call.correlation),
        known(call.parent),
        call.stream,
    ]
}

fn text(text: Option<TextId>) -> Option<i64> {
    text.map(|text| text.0)
}

/// Zero is unknown, and NULL is shorter at the end of a row.
fn known(id: i64) -> Option<i64> {
    Some(id).filter(|&id| id != 0)
}

/// Journal and syncs off: nobody sees the file before it is complete, and a crash leaves only a temporary
/// name. What remains in the header is journal_mode=DELETE.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.execute_batch(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
         PRAGMA foreign_keys=OFF; PRAGMA cache_size=-8192; BEGIN",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The statement of `sql/tables.sql` that creates `table`.
pub(crate) fn statement(table: &str) -> &'static str {
    let head = format!("CREATE TABLE {table} (");
    let start = TABLES.find(&head).unwrap_or(TABLES.len());
    let end = TABLES[start..].find("\n);").map_or(TABLES.len(), |end| start + end + "\n);".len());
    &TABLES[start..end]
}

/// The same statement without its virtual column.
fn stored_columns(create: &str) -> String {
    let virtual_column = create.find("    completionSignal").zip(create.find("    start INTEGER"));
    let (from, to) = virtual_column.unwrap_or_default();
    format!("{}{}", &create[..from], &create[to..])
}

fn sqlite(path: &Path, source: rusqlite::Error) -> Error {
    Error::Sqlite { path: path.to_owned(), source }
}

fn refused(path: &Path) -> Error {
    Error::Refused { path: path.to_owned(), detail: "the file exists already".to_owned() }
}
