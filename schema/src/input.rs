use std::fs::{self, File};
use std::io::{self, Cursor, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use platform::identity::FileId;
use platform::streams;

use crate::content::{GZIP, MESSAGE, SQLITE, io as io_error};
use crate::gzip::Gzip;
use crate::spool::Spool;
use crate::{Error, Result};

/// Bytes that are read to recognise an input.
const HEAD: u64 = 64 << 10;

/// The name of standard input.
const STANDARD: &str = "-";

/// Copies of the inputs that cannot be read again, such as pipes; `None` is standard input, where that has no path.
static STREAMS: Mutex<Vec<(Option<FileId>, Arc<Spool>)>> = Mutex::new(Vec::new());

/// The bytes that a user names: a file, or anything that can be read once, such as a pipe. `-` is standard input.
///
/// A pipe is read once and completely into a temporary copy. Opening it again in this process gives the copy.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    content: Content,
    has_trailing_bytes: bool,
    is_cut_off: bool,
}

#[derive(Debug)]
enum Content {
    File(PathBuf),
    Copy(Arc<Spool>),
}

impl Content {
    /// The content of what is at `place`, which the user knows as `path`.
    fn of(path: &Path, place: &Path, is_standard: bool) -> Result<Self> {
        let failed = io_error("read", path);
        let found = fs::metadata(place).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
            _ => failed(source),
        })?;
        if found.is_dir() {
            return Err(Error::Folder { path: path.to_owned() });
        }
        let id = FileId::of(place).map_err(&failed)?;
        // A file that is open but removed has no name by which SQLite finds it.
        let is_named = |name: &PathBuf| FileId::of(name).is_ok_and(|named| named == id);
        if found.is_file()
            && let Some(name) = place.canonicalize().ok().filter(is_named)
        {
            return Ok(Self::File(if is_standard { name } else { path.to_owned() }));
        }
        Self::copy(path, Some(id), || match is_standard && !found.is_file() {
            true => standard_input(path),
            false => File::open(place).map_err(&failed),
        })
    }

    /// The copy of a stream, which `open` opens the first time.
    fn copy(path: &Path, id: Option<FileId>, open: impl FnOnce() -> Result<File>) -> Result<Self> {
        let failed = io_error("read", path);
        let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, copy)) = streams.iter().find(|(stream, _)| *stream == id) {
            return Ok(Self::Copy(Arc::clone(copy)));
        }
        let mut stream = open()?;
        let head = read_head(&mut stream).map_err(&failed)?;
        // The rest of what is no trace need not have an end.
        let is_known = [SQLITE, GZIP, MESSAGE].iter().any(|begin| head.starts_with(begin));
        let is_binary = head.contains(&0) && !is_known;
        let rest = stream.take(if is_binary { 0 } else { u64::MAX });
        let copy = Arc::new(Spool::new(Cursor::new(head).chain(rest), path, &failed)?);
        streams.push((id, Arc::clone(&copy)));
        Ok(Self::Copy(copy))
    }
}

/// Standard input, unless it is a terminal.
fn standard_input(path: &Path) -> Result<File> {
    if io::stdin().is_terminal() {
        return Err(Error::NotATrace { path: path.to_owned(), found: "a terminal".to_owned() });
    }
    streams::stdin().map_err(io_error("read", path))
}

impl Input {
    /// Opens the input that the user knows as `path`.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Folder`], [`Error::TooLarge`], or [`Error::Io`].
    pub fn open(path: &Path) -> Result<Self> {
        let is_standard = path == Path::new(STANDARD);
        let place = if is_standard { streams::STDIN.map(Path::new) } else { Some(path) };
        let content = match place {
            Some(place) => Content::of(path, place, is_standard)?,
            None => Content::copy(path, None, || standard_input(path))?,
        };
        Ok(Self { path: path.to_owned(), content, has_trailing_bytes: false, is_cut_off: false })
    }

    /// The input as the user named it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True where an input of this name exists.
    #[must_use]
    pub fn exists(path: &Path) -> bool {
        path == Path::new(STANDARD) || path.exists()
    }

    /// True for standard input, a pipe and anything else that is no regular file.
    #[must_use]
    pub fn is_stream(path: &Path) -> bool {
        path == Path::new(STANDARD)
            || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
    }

    /// The content from its start.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn reader(&self) -> Result<File> {
        let opened = match &self.content {
            Content::File(place) => File::open(place),
            Content::Copy(copy) => copy.reader(),
        };
        opened.map_err(io_error("read", &self.path))
    }

    /// The first bytes: enough to recognise SQLite, gzip, or the writer of a text.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn head(&self) -> Result<Vec<u8>> {
        read_head(&mut self.reader()?).map_err(io_error("read", &self.path))
    }

    /// Calls `open` with a file that has the content, and that may have no name afterwards.
    pub(crate) fn with_file<T>(&self, open: impl FnOnce(&Path) -> T) -> Result<T> {
        match &self.content {
            Content::File(place) => Ok(open(place)),
            Content::Copy(copy) => copy.with_name(open).map_err(io_error("read", &self.path)),
        }
    }

    /// True where bytes behind the members of a gzip input were ignored.
    pub(crate) fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }

    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Unpacks a gzip input; only its beginning, where that is none that `is_known`. A text that was cut off is read up to
    /// there.
    pub(crate) fn unpack(&self, is_known: impl Fn(&[u8]) -> bool) -> Result<Self> {
        let damaged =
            |error: io::Error| Error::Damaged { path: self.path.clone(), detail: format!("gzip: {error}") };
        let mut unpacked = Gzip::new(io::BufReader::with_capacity(1 << 20, self.reader()?));
        let head = read_head(&mut unpacked).map_err(damaged)?;
        let rest = (&mut unpacked).take(if is_known(&head) { u64::MAX } else { 0 });
        let is_text = !head.is_empty() && !head.starts_with(SQLITE);
        let copy = Spool::new(Cursor::new(head).chain(rest), &self.path, damaged)?;
        if unpacked.is_cut_off() && !is_text {
            return Err(damaged(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends early")));
        }
        Ok(Self {
            path: self.path.clone(),
            content: Content::Copy(Arc::new(copy)),
            has_trailing_bytes: unpacked.has_trailing_bytes(),
            is_cut_off: unpacked.is_cut_off(),
        })
    }
}

fn read_head(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    from.take(SQLITE.len() as u64).read_to_end(&mut head)?;
    if !head.starts_with(SQLITE) && !head.starts_with(GZIP) {
        head.reserve_exact(HEAD as usize);
        from.take(HEAD).read_to_end(&mut head)?;
    }
    Ok(head)
}
