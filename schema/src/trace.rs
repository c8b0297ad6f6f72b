use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;

use crate::dialect::{lite, native, rocprofiler, rocprofiler_json, rpd, rtg};
use crate::sqlite::Database;
use crate::{Dialect, Error, Result, Select, Tables};

/// How much of a text file is looked at to recognise it.
const HEAD: u64 = 64 << 10;

/// An opened trace: its dialect is known, its rows are not read yet.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    dialect: Dialect,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Sqlite(Box<Database>, Option<NamedTempFile>),
    Text(Option<NamedTempFile>),
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
        if head.is_empty() {
            return Err(Error::Empty { path: path.to_owned() });
        }
        let mut unpacked = None;
        if head.starts_with(&[0x1f, 0x8b]) {
            let file = unpack(path)?;
            head = read_head(file.path(), path)?;
            unpacked = Some(file);
        }
        let (dialect, source) = if head.starts_with(b"SQLite format 3\0") {
            let content = unpacked.as_ref().map_or(path, NamedTempFile::path);
            let database = Database::open(content, path)?;
            (detect(&database)?, Source::Sqlite(Box::new(database), unpacked))
        } else {
            (detect_text(path, &head)?, Source::Text(unpacked))
        };
        Ok(Self { path: path.to_owned(), dialect, source })
    }

    /// The file as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose layout it has.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Reads the selected columns.
    ///
    /// # Errors
    /// Where the file is damaged beyond its header or cannot be read.
    pub fn read(&self, select: &Select) -> Result<Tables> {
        match &self.source {
            Source::Sqlite(database, _) => match self.dialect {
                Dialect::Rocprofiler => rocprofiler::read(database, select),
                Dialect::Rpd2 | Dialect::Rpd3 => rpd::read(database, select),
                Dialect::Lite => lite::read(database, select),
                _ => native::read(database, select),
            },
            Source::Text(unpacked) => {
                let content = unpacked.as_ref().map_or(self.path.as_path(), NamedTempFile::path);
                let file = File::open(content).map_err(io("read", &self.path))?;
                let reader = BufReader::with_capacity(1 << 20, file);
                match self.dialect {
                    Dialect::RocprofilerJson => rocprofiler_json::read(&self.path, reader, select),
                    _ => rtg::read(&self.path, reader, select),
                }
            }
        }
    }
}

fn detect(database: &Database) -> Result<Dialect> {
    if rocprofiler::recognise(database)? {
        Ok(Dialect::Rocprofiler)
    } else if native::recognise(database)? {
        Ok(Dialect::Native)
    } else if let Some(dialect) = rpd::recognise(database)? {
        Ok(dialect)
    } else if lite::recognise(database)? {
        Ok(Dialect::Lite)
    } else {
        let tables = database.tables();
        let found = match tables {
            [] => "a SQLite database without tables".to_owned(),
            [few @ ..] if few.len() <= 4 => format!("a SQLite database with {}", few.join(", ")),
            [a, b, c, rest @ ..] => format!("a SQLite database with {a}, {b}, {c} and {} more", rest.len()),
            _ => "a SQLite database".to_owned(),
        };
        Err(Error::Foreign { path: database.path().to_owned(), found })
    }
}

fn detect_text(path: &Path, head: &[u8]) -> Result<Dialect> {
    if rocprofiler_json::recognise(head) {
        return Ok(Dialect::RocprofilerJson);
    }
    if rtg::recognise(head) {
        return Ok(Dialect::Rtg);
    }
    let first = head.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    match first {
        Some(b'{' | b'[') => {
            Err(Error::Foreign { path: path.to_owned(), found: "JSON of another tool".to_owned() })
        }
        _ if head.iter().any(|&byte| byte == 0) => {
            Err(Error::NotATrace { path: path.to_owned(), found: "binary, not SQLite".to_owned() })
        }
        _ => Err(Error::NotATrace { path: path.to_owned(), found: "neither SQLite nor JSON".to_owned() }),
    }
}

fn read_head(content: &Path, path: &Path) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(content).and_then(|file| file.take(HEAD).read_to_end(&mut head)).map_err(io("read", path))?;
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
