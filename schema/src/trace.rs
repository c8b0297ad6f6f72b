use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;

use crate::dialect::{Prepared, lite, native, rocprofiler, rocprofiler_json, rpd, rtg};
use crate::sqlite::Database;
use crate::{Dialect, Error, Result, Select, Tables};

/// How much of a text file is looked at to recognise it.
const HEAD: u64 = 64 << 10;

/// How a SQLite file begins.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// How a gzip member begins.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// An opened trace: its dialect is known, its rows are not read yet.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    dialect: Dialect,
    /// The open database, `None` for text.
    database: Option<Database>,
    /// The content of a compressed file. Behind the database, so that it is closed before this vanishes.
    unpacked: Option<NamedTempFile>,
}

impl Trace {
    /// Finds out what the file is, by its content and never by its name; gzip is looked through.
    ///
    /// # Errors
    /// Any variant of [`crate::Error`]; each names the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let metadata = std::fs::metadata(path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
            _ => io("read", path)(source),
        })?;
        if metadata.is_dir() {
            return Err(Error::Folder { path: path.to_owned() });
        }
        let mut head = read_head(path, path)?;
        let mut unpacked = None;
        if head.starts_with(GZIP) {
            let file = unpack(path)?;
            head = read_head(file.path(), path)?;
            unpacked = Some(file);
        }
        if head.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let (dialect, database) = if head.starts_with(SQLITE) {
            let content = unpacked.as_ref().map_or(path, NamedTempFile::path);
            let database = Database::open(content, path)?;
            (detect(&database)?, Some(database))
        } else {
            (detect_text(path, &head)?, None)
        };
        Ok(Self { path: path.to_owned(), dialect, database, unpacked })
    }

    /// The file as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose layout it has.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The tables of the database and how many rows each has, by name; none for text. Every row is visited.
    ///
    /// # Errors
    /// Where the file is damaged beyond its header or cannot be read.
    pub fn row_counts(&self) -> Result<Vec<(String, u64)>> {
        let Some(database) = &self.database else { return Ok(Vec::new()) };
        let _snapshot = database.snapshot()?;
        database.row_counts()
    }

    /// Reads the selected columns.
    ///
    /// # Errors
    /// Where the file is damaged beyond its header or cannot be read.
    pub fn read(&self, select: &Select) -> Result<Tables> {
        if let Some(database) = &self.database {
            // A writer that goes on meanwhile must not put its ops and their names into two states.
            let _snapshot = database.snapshot()?;
            let mut tables = match self.dialect {
                Dialect::Rocprofiler => rocprofiler::read(database, select)?,
                _ => self.prepare(database, select)?.read(database, select)?,
            };
            tables.info.left_journal = database.left_journal();
            return Ok(tables);
        }
        let content = self.unpacked.as_ref().map_or(self.path.as_path(), NamedTempFile::path);
        let file = File::open(content).map_err(io("read", &self.path))?;
        let reader = BufReader::with_capacity(1 << 20, file);
        match self.dialect {
            Dialect::RocprofilerJson => rocprofiler_json::read(&self.path, reader, select),
            _ => rtg::read(&self.path, reader, select),
        }
    }

    /// Reads the selected columns piece by piece, for who cannot hold all rows. In every piece the tables of what rows
    /// refer to (strings, processes, agents, tracks, shapes, symbols) hold all that was met so far, and their ids stay;
    /// the tables of rows hold rows that no other piece holds. All API calls come in the first piece and together, all
    /// allocations, counters, monitors and stacks in the last one, which also has the final [`Tables::about`] and
    /// [`Tables::problems`]. The result is that last piece without its calls, ops and ranges.
    ///
    /// Memory is bounded by the strings, the API calls with their links, and 60,000 ops. rocprofv3's and RTG's files
    /// are read as a whole, and so are the ops of a file that only SQLite itself can read (content in a -wal): they
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

    /// As [`Self::stream`], of a part: `keep` drops the rows of each piece that do not belong to it. What rows refer to
    /// must stay.
    ///
    /// # Errors
    /// As [`Self::stream`].
    pub fn stream_filtered<E: From<Error>>(
        &self,
        select: &Select,
        keep: impl Fn(&mut Tables),
        mut each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, E> {
        match &self.database {
            Some(database) if self.dialect != Dialect::Rocprofiler => {
                let _snapshot = database.snapshot()?;
                let mut last = self.prepare(database, select)?.stream(database, select, keep, each)?;
                last.info.left_journal = database.left_journal();
                Ok(last)
            }
            _ => {
                let mut tables = self.read(select)?;
                keep(&mut tables);
                each(&tables)?;
                tables.clear_rows();
                Ok(tables)
            }
        }
    }

    /// What stands before the rows of a layout around `rocpd_op`.
    fn prepare(&self, database: &Database, select: &Select) -> Result<Prepared> {
        match self.dialect {
            Dialect::Rpd2 | Dialect::Rpd3 => rpd::prepare(database),
            Dialect::Lite => lite::prepare(database),
            _ => native::prepare(database, select),
        }
    }
}

fn detect(database: &Database) -> Result<Dialect> {
    let _snapshot = database.snapshot()?;
    if rocprofiler::recognise(database)? {
        Ok(Dialect::Rocprofiler)
    } else if native::recognise(database)? {
        Ok(Dialect::Native)
    } else if let Some(dialect) = rpd::recognise(database)? {
        Ok(dialect)
    } else if lite::recognise(database)? {
        Ok(Dialect::Lite)
    } else {
        Err(Error::Foreign { path: database.path().to_owned(), found: describe(database.tables()) })
    }
}

/// What a database is that no dialect recognised, by the names of its tables.
fn describe(tables: &[String]) -> String {
    match tables {
        [] => "a SQLite database without tables".to_owned(),
        few if few.len() <= 4 => format!("a SQLite database with {}", few.join(", ")),
        [first, second, third, rest @ ..] => {
            format!("a SQLite database with {first}, {second}, {third} and {} more", rest.len())
        }
        _ => "a SQLite database".to_owned(),
    }
}

fn detect_text(path: &Path, head: &[u8]) -> Result<Dialect> {
    if rocprofiler_json::recognise(head) {
        return Ok(Dialect::RocprofilerJson);
    }
    if rtg::recognise(head) {
        return Ok(Dialect::Rtg);
    }
    if matches!(head.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Err(Error::Foreign { path: path.to_owned(), found: "JSON of another tool".to_owned() });
    }
    let found = match head {
        _ if SQLITE.starts_with(head) => {
            let detail = "it ends within the header of a SQLite database".to_owned();
            return Err(Error::Damaged { path: path.to_owned(), detail });
        }
        [0x37, 0x7f, 0x06, 0x82 | 0x83, ..] => "the -wal of a SQLite database; name the database",
        [b'P', b'K', 3, 4, ..] => "a zip archive; unpack it",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "compressed by zstd; unpack it",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "compressed by xz; unpack it",
        _ if head.contains(&0) => "binary, not SQLite",
        _ => "neither SQLite nor JSON",
    };
    Err(Error::NotATrace { path: path.to_owned(), found: found.to_owned() })
}

/// The first bytes: enough to tell SQLite and gzip, and of a text enough to recognise its writer.
fn read_head(content: &Path, path: &Path) -> Result<Vec<u8>> {
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

/// Decompresses into a temporary file of its own, which SQLite can open and which vanishes with the trace.
fn unpack(path: &Path) -> Result<NamedTempFile> {
    let file = File::open(path).map_err(io("read", path))?;
    let mut target = NamedTempFile::new().map_err(io("create a temporary copy of", path))?;
    let mut reader = MultiGzDecoder::new(BufReader::with_capacity(1 << 20, file));
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
    target.seek(SeekFrom::Start(0)).map_err(io("create a temporary copy of", path))?;
    Ok(target)
}

fn io(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |source| Error::Io { action, path: path.to_owned(), source }
}
