use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use platform::{liveness, open_files};

use crate::destination::folder;
use crate::gzip::GzipWriter;
use crate::temporary::Temporary;
use crate::{Destination, Error, IfExists, Options};

/// Bytes that are collected before the operating system gets them.
const BUFFER: usize = 1 << 18;

/// An output file that grows under a temporary name beside its own; removed on drop.
#[derive(Debug)]
pub struct AtomicFile {
    destination: Destination,
    temporary: Temporary,
}

impl AtomicFile {
    /// Fails as [`Destination::check`] does, or with [`Error::Io`] if the folder cannot be written.
    pub fn create(path: &Path, options: &Options<'_>) -> Result<Self, Error> {
        Self::start(Destination::check(path, options)?)
    }

    pub fn start(destination: Destination) -> Result<Self, Error> {
        // A stream gets the content of a temporary file at the end, unless `writer` sends it at once.
        let temporary = match &destination.real {
            Some(real) => Temporary::create(folder(real), destination.mode),
            None => Temporary::create(&std::env::temp_dir(), 0o600),
        };
        let temporary = temporary.map_err(|source| Error::io(destination.path(), source))?;
        Ok(Self { destination, temporary })
    }

    /// Moves the content to another destination in the same folder.
    pub fn redirect(self, destination: Destination) -> Self {
        Self { destination, ..self }
    }

    /// The output as the user named it.
    pub fn path(&self) -> &Path {
        self.destination.path()
    }

    /// The temporary file, for writers that open it by a path, which is valid in this process.
    pub fn place(&self) -> PathBuf {
        open_files::path(&self.temporary.file, &self.temporary.path)
    }

    /// Takes the complete file at `path`, which is in the same file system, in place of the temporary file.
    pub fn adopt(&mut self, path: &Path) -> io::Result<()> {
        let file = File::options().read(true).write(true).open(path)?;
        // Another process claims only names of temporaries, which this file does not have yet.
        let _ = liveness::mark(&file);
        fs::rename(path, &self.temporary.path)?;
        self.temporary.file = file;
        Ok(())
    }

    /// The folder of the temporary file, which has room for other temporary files as well.
    pub fn folder(&self) -> &Path {
        folder(&self.temporary.path)
    }

    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    pub fn file(&self) -> &File {
        &self.temporary.file
    }

    /// A buffered writer of the content, compressed if the name ends in `.gz`.
    pub fn writer(&self) -> io::Result<Writer> {
        let file = match self.destination.is_stream() && !self.destination.is_deferred {
            true => self.destination.open_stream()?,
            false => self.file().try_clone()?,
        };
        let is_compressed = self.path().extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        Ok(match is_compressed {
            true => Writer::Gzip(GzipWriter::new(file)),
            false => Writer::Plain(BufWriter::with_capacity(BUFFER, file)),
        })
    }

    /// Gives the complete file its name. Fails with [`Error::Exists`] if meanwhile another file has the name and must stay.
    pub fn commit(self) -> Result<(), Error> {
        let Self { destination, temporary } = self;
        destination.check_again()?;
        let path = destination.path();
        let written = match &destination.real {
            Some(real) => temporary.rename(real, destination.if_exists == IfExists::Replace),
            None => send(&temporary.file, &destination),
        };
        written.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: path.to_owned() },
            _ => Error::io(path, source),
        })
    }

    /// Writes `content` as a whole file, or through a stream.
    pub fn write(
        path: &Path,
        options: &Options<'_>,
        content: impl FnOnce(&mut Writer) -> io::Result<()>,
    ) -> Result<(), Error> {
        let file = Self::create(path, options)?;
        let write = || {
            let mut writer = file.writer()?;
            content(&mut writer)?;
            writer.finish()
        };
        write().map_err(|source| Error::io(path, source))?;
        file.commit()
    }

    /// Gives several complete files their names. Where one of them fails, those that replaced nothing are removed again.
    pub fn commit_all(files: Vec<Self>) -> Result<Vec<PathBuf>, Error> {
        files.iter().try_for_each(|file| file.destination.check_again())?;
        let mut committed: Vec<PathBuf> = Vec::with_capacity(files.len());
        let is_new = files.iter().all(|file| file.destination.if_exists == IfExists::Fail);
        for file in files {
            let path = file.path().to_owned();
            if let Err(error) = file.commit() {
                for path in committed.iter().filter(|_| is_new) {
                    // A file that stays is no worse than the error that is reported.
                    let _ = std::fs::remove_file(path);
                }
                return Err(error);
            }
            committed.push(path);
        }
        Ok(committed)
    }
}

/// Copies what was written to the temporary file, if anything, to a stream.
fn send(mut content: &File, destination: &Destination) -> io::Result<()> {
    if content.metadata()?.len() > 0 {
        content.seek(SeekFrom::Start(0))?;
        io::copy(&mut content, &mut destination.open_stream()?)?;
    }
    Ok(())
}

#[derive(Debug)]
pub enum Writer {
    Plain(BufWriter<File>),
    Gzip(GzipWriter<File>),
}

impl Writer {
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Gzip(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Writer {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }
}
