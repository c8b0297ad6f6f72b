//! A native file that is a valid database at every moment: the tracer records into it.
//!
//! [`Recording`] makes the same rows as [`NativeWriter`], byte for byte. It only appends, and it never changes a page that
//! the file refers to, with one exception: the first page. That page holds the number of pages, the list of unused ones and
//! the root of the schema, whose rows hold the roots of all tables; so writing it publishes everything that was written
//! before. After every single write the file is a valid database with all that was published so far, whenever the process is
//! killed. There is no journal, no lock and no sync, so a file system where those hang or fail is as good as any other.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::layout::{Table, views};
use super::writer::NativeWriter;
use crate::btree::{Datum, Target};
use crate::output::OutputFile;
use rtl_schema::layout::tags::COMPLETE;
use rtl_schema::{Error, Result};

/// The smallest size limit of a file, in bytes.
const MIN_LIMIT: u64 = 256 << 10;

/// A [`NativeWriter`] with publication.
///
/// [`Recording::publish`] makes all added rows part of the file, together with metadata rows that describe its state; they
/// replace those of the publication before. An I/O error drops the rows that were added since: the file stays as it is, no
/// row can be added, and one more publication may still give the reason.
#[derive(Debug)]
pub struct Recording<T = File>(NativeWriter<T>);

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
    /// As [`Recording::create`], into what `target` makes of the new file.
    ///
    /// # Errors
    /// As [`Recording::create`]; an error of `target` is [`Error::Io`].
    pub fn create_in(
        path: &Path,
        limit: Option<u64>,
        target: impl FnOnce(File) -> io::Result<T>,
    ) -> Result<Self> {
        if let Some(limit) = limit.filter(|&limit| limit < MIN_LIMIT) {
            let detail = format!("{limit} bytes are too few for a recording, {MIN_LIMIT} are the least");
            return Err(Error::Refused { path: path.to_owned(), detail });
        }
        let failed = |source| Error::Io { action: "create", path: path.to_owned(), source };
        let file = File::create_new(path).map_err(failed)?;
        let target = target(file).map_err(failed);
        // The empty file of a full disk is useless.
        let recording = target.and_then(|target| Self::start(target, path, limit));
        recording.inspect_err(|_| drop(std::fs::remove_file(path)))
    }

    /// Starts a recording in an empty target, which messages call `path`.
    ///
    /// # Errors
    /// As [`Recording::create`].
    pub fn start(target: T, path: &Path, limit: Option<u64>) -> Result<Self> {
        let mut recording = Self(NativeWriter::start(OutputFile::new(path, path), target, limit)?);
        // From the first moment the file says that its writer has not finished.
        recording.publish(&[(COMPLETE, "0".to_owned())])?;
        Ok(recording)
    }

    /// Makes everything added so far part of the file, with `closing` as its last metadata rows.
    pub fn publish(&mut self, closing: &[(&str, String)]) -> Result<()> {
        let rows: Vec<[Datum<'_>; 2]> =
            closing.iter().map(|(tag, value)| [(*tag).into(), value.as_str().into()]).collect();
        let table = self.table(Table::Metadata);
        self.database.publish(views(), Some((table, &rows)))
    }

    /// Ends the recording, with everything published in the file, and returns the target.
    ///
    /// # Errors
    /// [`Error::Io`] if someone else has removed the file or made it shorter.
    pub fn finish(self) -> Result<T> {
        self.0.database.finish()
    }

    /// Drops the rows since the last publication, as after an error.
    pub fn rollback(&mut self) {
        self.0.database.rollback();
    }
}

impl<T> Deref for Recording<T> {
    type Target = NativeWriter<T>;

    fn deref(&self) -> &NativeWriter<T> {
        &self.0
    }
}

impl<T> DerefMut for Recording<T> {
    fn deref_mut(&mut self) -> &mut NativeWriter<T> {
        &mut self.0
    }
}
