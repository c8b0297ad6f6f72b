use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::database::{Database, LEAST, Refusal, Table};
use super::strings::Strings;
use super::template::{CallDelta, CallTemplate, RowDelta, RowTemplate};
use crate::btree::{Datum, Record, Target};
use crate::write::{Call, Op, OpKind, StringId, VERSION, call_row, op_row};
use crate::{Error, Result};

/// The tag of the metadata row that says whether the writer has finished, `1`, or has not, `0`.
pub const COMPLETE: &str = "complete";

/// The tag of the metadata rows, a JSON object each, that tell of calls without a row of their own: those that threads were
/// in for a while when the file was brought up to date. A reader adds them to the calls.
pub const OPEN_CALL: &str = "open_call";

/// A native file that is a whole one at every moment while it grows.
///
/// [`Recording::publish`] makes what was added part of the file, together with metadata rows that say how far it is;
/// they replace those of the publication before. An I/O error drops what was added since: what is in the file stays,
/// nothing more can be added, and one more publication may still say why.
#[derive(Debug)]
pub struct Recording<T = File> {
    path: PathBuf,
    limit: u64,
    database: Database<T>,
    record: Record,
    strings: Strings,
}

impl Recording {
    /// Creates a file, which must not exist, of at most `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Io`], with `AlreadyExists` too; [`Error::Refused`] if the limit is below 256 KiB.
    pub fn create(path: &Path, limit: Option<u64>) -> Result<Self> {
        Self::create_in(path, limit, Ok)
    }
}

impl<T: Target> Recording<T> {
    /// The same, into what `target` makes of the new file.
    ///
    /// # Errors
    /// As [`Recording::create`], and what `target` fails with.
    pub fn create_in(
        path: &Path,
        limit: Option<u64>,
        target: impl FnOnce(File) -> io::Result<T>,
    ) -> Result<Self> {
        if let Some(limit) = limit.filter(|&limit| limit < LEAST) {
            let detail = format!("{limit} bytes are too few for a recording, {LEAST} are the least");
            return Err(Error::Refused { path: path.to_owned(), detail });
        }
        let file = File::create_new(path).map_err(|source| failed("create", path, source))?;
        let target = target(file).map_err(|source| failed("create", path, source));
        // Nobody wants the empty file of a full disk.
        let recording = target.and_then(|target| Self::start(target, path, limit));
        recording.inspect_err(|_| drop(std::fs::remove_file(path)))
    }

    /// Starts a recording in an empty target; `path` is what messages call it.
    ///
    /// # Errors
    /// As [`Recording::create`].
    pub fn start(target: T, path: &Path, limit: Option<u64>) -> Result<Self> {
        let limit = limit.unwrap_or(u64::MAX);
        let database = Database::create(target, limit).map_err(|source| failed("write", path, source))?;
        let mut recording = Self {
            path: path.to_owned(),
            limit,
            database,
            record: Record::new(),
            strings: Strings::default(),
        };
        recording.intern("")?;
        for kind in OpKind::ALL {
            recording.intern(kind.label())?;
        }
        recording.push_metadata("rtl_schema", VERSION)?;
        // So it says from the first moment that its writer has not finished.
        recording.publish(&[(COMPLETE, "0".to_owned())])?;
        Ok(recording)
    }

    /// The id of `text`, which is added when it is new. Memory grows with the distinct texts.
    ///
    /// # Errors
    /// [`Error::Full`] if the row has no room within the limit; [`Error::Io`] if the file cannot grow, and from then
    /// on. So for all that follow.
    pub fn intern(&mut self, text: &str) -> Result<StringId> {
        if let Some(id) = self.strings.permanent(text) {
            return Ok(id);
        }
        let id = self.push_string(text)?;
        self.strings.insert_permanent(text, id);
        Ok(id)
    }

    /// The id of a text that may be one of millions, as the arguments of calls are. It is remembered for as long as it comes
    /// again soon: memory does not grow, and a text can be in the file more than once.
    pub fn intern_transient(&mut self, text: &str) -> Result<StringId> {
        if let Some(id) = self.strings.transient(text) {
            return Ok(id);
        }
        let id = self.push_string(text)?;
        self.strings.insert_transient(text.into(), id);
        Ok(id)
    }

    fn push_string(&mut self, text: &str) -> Result<StringId> {
        let record = self.record.row(&[text.into()]);
        self.database.add(Table::Strings, record).map(StringId).map_err(|why| self.error(why))
    }

    /// Adds a metadata row; rows keep their order and a tag may repeat.
    pub fn push_metadata(&mut self, tag: &str, value: &str) -> Result<()> {
        let record = self.record.row(&metadata(tag, value));
        self.database.add(Table::Metadata, record).map_err(|why| self.error(why))?;
        Ok(())
    }

    /// Adds an op, range or marker and returns its id; ids count from 1.
    #[inline]
    pub fn push_op(&mut self, op: &Op) -> Result<i64> {
        let record = self.record.integers(&op_row(op));
        self.database.add(Table::Ops, record).map_err(|why| self.error(why))
    }

    /// Adds an op like others, as [`Self::push_op`] would and at a fraction of its cost. None, and nothing is added, where it is
    /// not `alike`.
    #[inline]
    pub fn push_op_templated(&mut self, alike: &RowTemplate, own: RowDelta) -> Result<Option<i64>> {
        let numbers = own.numbers();
        if !alike.0.fits(&numbers) {
            return Ok(None);
        }
        let added = self.database.add_like(Table::Ops, &alike.0, &numbers);
        added.map(Some).map_err(|why| self.error(why))
    }

    /// Adds an API call and returns its id; ids count from 1.
    #[inline]
    pub fn push_call(&mut self, call: &Call) -> Result<i64> {
        let record = self.record.integers(&call_row(call));
        self.database.add(Table::Calls, record).map_err(|why| self.error(why))
    }

    /// Adds a call like others, as [`Self::push_op_templated`] an op.
    #[inline]
    pub fn push_call_templated(&mut self, alike: &CallTemplate, own: CallDelta) -> Result<Option<i64>> {
        let numbers = own.numbers();
        let Some(pattern) = alike.pattern(&numbers) else { return Ok(None) };
        let added = self.database.add_like(Table::Calls, pattern, &numbers);
        added.map(Some).map_err(|why| self.error(why))
    }

    pub(super) fn add(&mut self, table: Table, cells: &[Datum<'_>]) -> Result<()> {
        let record = self.record.row(cells);
        self.database.add(table, record).map_err(|why| self.error(why))?;
        Ok(())
    }

    pub(super) fn add_at(&mut self, table: Table, row: i64, cells: &[Datum<'_>]) -> Result<()> {
        let record = self.record.row(cells);
        self.database.add_at(table, row, record).map_err(|why| self.error(why))
    }

    /// Makes everything added so far part of the file, with `closing` as its last metadata rows.
    pub fn publish(&mut self, closing: &[(&str, String)]) -> Result<()> {
        let record = &mut self.record;
        let rows = closing.iter().map(|(tag, value)| record.row(&metadata(tag, value)).to_vec());
        self.database.publish(rows).map_err(|source| failed("write", &self.path, source))
    }

    /// Takes leave of the file, in which everything published is, and gives back what was written to.
    ///
    /// # Errors
    /// [`Error::Io`] if someone else has removed the file or made it shorter.
    pub fn finish(self) -> Result<T> {
        let path = self.path;
        self.database.finish().map_err(|source| failed("finish", &path, source))
    }

    /// Drops what was added since the last publication, as after an error.
    pub fn rollback(&mut self) {
        self.database.rollback();
    }

    /// How many ops the file holds, as last published.
    pub fn published_ops(&self) -> i64 {
        self.database.published_rows(Table::Ops)
    }

    /// How many API calls the file holds, as last published.
    pub fn published_calls(&self) -> i64 {
        self.database.published_rows(Table::Calls)
    }

    #[cold]
    fn error(&self, why: Refusal) -> Error {
        match why {
            Refusal::Full => Error::Full { path: self.path.clone(), limit: self.limit },
            Refusal::Io(source) => failed("write", &self.path, source),
        }
    }
}

fn metadata<'a>(tag: &'a str, value: &'a str) -> [Datum<'a>; 2] {
    [tag.into(), value.into()]
}

fn failed(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { action, path: path.to_owned(), source }
}
