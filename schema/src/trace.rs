use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::content::{GZIP, SQLITE, foreign_database, not_a_trace};
use crate::data_set::{self, StoredRun};
use crate::dialect::{PreparedOps, Reader, registry};
use crate::input::Input;
use crate::layout::tags::COMPLETE;
use crate::piece_sink::{Each, PieceSink};
use crate::run_files::files_of;
use crate::sqlite::Database;
use crate::table::Process;
use crate::{Dialect, Error, Result, Select, Tables};

static LAST_OPENED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The trace that this process opened last, for messages about work on traces that has no error of its own.
pub fn last_opened() -> Option<PathBuf> {
    LAST_OPENED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// An opened trace: its dialect is known, its rows are not read yet.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    dialect: Dialect,
    /// The open database, `None` for text.
    database: Option<Database>,
    /// The content, unpacked; several files only of a dialect whose runs have several.
    inputs: Vec<Input>,
    /// The run of a data set, which has neither.
    run: Option<Box<dyn StoredRun>>,
}

impl Trace {
    /// Recognises the dialect by the file's content, never by its name; gzip is unpacked. `-` is standard input; a pipe is
    /// read once and completely, and gives the same content whenever this process opens it again. A folder stands for the
    /// files of the run in it or for the only run of a data set, and a file for those that [`crate::join_files_of_runs`] has joined to it.
    ///
    /// # Errors
    /// Any variant of [`crate::Error`]; each names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        *LAST_OPENED.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
        if let Some(run) = data_set::open(path)? {
            let dialect = run.dialect();
            return Ok(Self {
                path: path.to_owned(),
                dialect,
                database: None,
                inputs: Vec::new(),
                run: Some(run),
            });
        }
        let files = files_of(path)?;
        let mut trace: Option<Self> = None;
        for file in &files {
            let part = match Self::open_file(file) {
                // A folder may have other files with such names.
                Err(Error::Empty { .. } | Error::NotATrace { .. } | Error::Unread { .. })
                    if path.is_dir() =>
                {
                    continue;
                }
                part => part?,
            };
            let is_part = matches!(registry::reader(part.dialect), Reader::Files { .. });
            match &mut trace {
                None if !path.is_dir() && files.len() == 1 || is_part => {
                    trace = Some(Self { path: path.to_owned(), ..part })
                }
                Some(trace) if is_part && trace.dialect == part.dialect => trace.inputs.extend(part.inputs),
                _ => {
                    let found = format!("{} among files of a run", part.dialect.description());
                    return Err(Error::Ambiguous { path: file.clone(), found });
                }
            }
        }
        trace.ok_or_else(|| Error::Folder { path: path.to_owned() })
    }

    fn open_file(path: &Path) -> Result<Self> {
        let mut input = Input::open(path)?;
        let mut head = input.head()?;
        if head.starts_with(GZIP) {
            input = input.unpack(|head| head.starts_with(SQLITE) || registry::of_text(head).is_some())?;
            head = input.head()?;
        }
        if head.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let (dialect, database) = if head.starts_with(SQLITE) {
            let database = input.with_file(|content| Database::open(content, path))??;
            let dialect = registry::of_database(&database)?;
            (dialect.ok_or_else(|| foreign_database(path, database.tables()))?, Some(database))
        } else {
            (registry::of_text(&head).ok_or_else(|| not_a_trace(path, &head))?, None)
        };
        Ok(Self { path: path.to_owned(), dialect, database, inputs: vec![input], run: None })
    }

    /// The file as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The dialect; of a run of a data set that of the trace that it was made from.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// True where [`Self::stream`] gives all rows in one piece, because the format cannot be read in pieces.
    pub fn is_one_piece(&self) -> bool {
        self.run.is_some() || !matches!(registry::reader(self.dialect), Reader::Ops { .. })
    }

    /// The size in bytes: of the file, or of the files of a run of a data set.
    pub fn size(&self) -> u64 {
        let of_file = || std::fs::metadata(&self.path).map_or(0, |file| file.len());
        self.run.as_ref().map_or_else(of_file, |run| run.size())
    }

    /// The tables of the database, or of the run of a data set, and how many rows each has, by name; none for text. Every row is visited.
    ///
    /// # Errors
    /// Where the file is damaged beyond its header or cannot be read.
    pub fn row_counts(&self) -> Result<Vec<(String, u64)>> {
        if let Some(run) = &self.run {
            return Ok(run.row_counts());
        }
        let Some(database) = &self.database else { return Ok(Vec::new()) };
        let _snapshot = database.snapshot()?;
        database.row_counts()
    }

    fn has_trailing_bytes(&self) -> bool {
        self.inputs.iter().any(Input::has_trailing_bytes)
    }

    /// Reads the selected columns.
    ///
    /// # Errors
    /// Where the file is damaged beyond its header or cannot be read.
    pub fn read(&self, select: &Select) -> Result<Tables> {
        if let Some(run) = &self.run {
            return run.read(select);
        }
        let mut tables = match (registry::reader(self.dialect), &self.database) {
            (Reader::Text { read, .. }, _) => {
                read(&self.path, BufReader::with_capacity(1 << 20, self.inputs[0].reader()?), select)?
            }
            (Reader::Files { read, .. }, _) => read(&self.inputs, select)?,
            (_, None) => unreachable!("opened with its database"),
            (Reader::Ops { header, .. }, Some(database)) => {
                // A live writer must not put ops and their names into two states.
                let _snapshot = database.snapshot()?;
                PreparedOps::of(header(database, select)?, database, select)?.read(database)?
            }
            (Reader::Database { read, .. }, Some(database)) => {
                let _snapshot = database.snapshot()?;
                read(database, select)?
            }
        };
        tables.info.left_journal = self.database.as_ref().is_some_and(Database::left_journal);
        tables.info.trailing_bytes = self.has_trailing_bytes();
        tables.info.compressed_cut_off = self.inputs.iter().any(Input::is_cut_off);
        if tables.info.compressed_cut_off && tables.info.metadata.iter().all(|(tag, _)| tag != COMPLETE) {
            tables.info.metadata.push((COMPLETE.to_owned(), "0".to_owned()));
        }
        if tables.processes.is_empty() {
            tables.processes.push(Process::default());
        }
        Ok(tables)
    }

    /// Reads the selected columns piece by piece, for who cannot hold all rows. In every piece the tables of what rows
    /// refer to (strings, processes, agents, tracks, shapes, symbols) hold all that was met so far, and their ids stay;
    /// the tables of rows hold rows that no other piece holds. All API calls come in the first piece and together, all
    /// allocations, counters, monitors and stacks in the last one, which also has the final [`Tables::info`] and
    /// [`Tables::problems`]. The result is that last piece without its calls, ops and ranges.
    ///
    /// Memory is bounded by the strings, the API calls with their links, and 15,000 ops a thread. rocprofv3's and RTG's files
    /// and runs of data sets are read as a whole, and so are the ops of a file that only SQLite itself can read (content in a -wal): they
    /// come in one piece.
    ///
    /// # Errors
    /// As [`Self::read`], and whatever `each` fails with.
    pub fn stream<E: From<Error>>(
        &self,
        select: &Select,
        each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, E> {
        self.stream_filtered(select, |_| (), each)
    }

    /// As [`Self::stream`], of a part of the trace: `keep` drops rows of each piece, but nothing that rows refer to.
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub fn stream_filtered<E: From<Error>>(
        &self,
        select: &Select,
        keep: impl Fn(&mut Tables),
        mut each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, E> {
        let each = |tables: &mut Tables| {
            keep(tables);
            each(tables)
        };
        self.stream_to(select, &mut Each::new(each))
    }

    /// As [`Self::stream`], with work for each piece that all free threads share.
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub fn stream_to<S: PieceSink>(&self, select: &Select, sink: &mut S) -> Result<Tables, S::Error> {
        match (registry::reader(self.dialect), &self.database) {
            (Reader::Ops { header, .. }, Some(database)) => {
                let _snapshot = database.snapshot()?;
                let ops = PreparedOps::of(header(database, select)?, database, select)?;
                let mut last = ops.stream(database, sink)?;
                last.info.left_journal = database.left_journal();
                last.info.trailing_bytes = self.has_trailing_bytes();
                Ok(last)
            }
            _ => {
                let mut tables = self.read(select)?;
                sink.take(&mut tables)?;
                tables.clear_rows();
                Ok(tables)
            }
        }
    }
}
