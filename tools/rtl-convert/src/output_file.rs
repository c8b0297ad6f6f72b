//! One output file, published when it is complete.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cli::{Failure, ResultExt};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

use crate::format::Job;

/// A file in the making, beside the place where it will be.
pub struct OutputFile {
    path: PathBuf,
    force: bool,
    file: NamedTempFile,
}

impl OutputFile {
    /// Starts the output of a job as a temporary file beside it.
    ///
    /// # Errors
    /// The output exists and may not be replaced, is the input, or its folder cannot be written.
    pub fn create(job: &Job<'_>) -> Result<Self, Failure> {
        let Job { output: path, force, trace: input, .. } = *job;
        if let (Ok(target), Ok(source)) = (path.canonicalize(), input.canonicalize())
            && target == source
        {
            return Err(Failure::usage(format!("{} is the input", path.display()))
                .with_hint("an input is never overwritten; write to another file"));
        }
        check_free(path, force)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A temporary file is its owner's alone; this one becomes a file like any other.
        let file = tempfile::Builder::new()
            .prefix(".rtl-convert-")
            .permissions(std::fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write {}", path.display()))
            .with_hint("check that the folder exists and can be written")?;
        Ok(Self { path: path.to_owned(), force, file })
    }

    /// The folder of the output: where there is room for it there is room for temporary files.
    pub fn folder(&self) -> &Path {
        self.file.path().parent().unwrap_or(Path::new("."))
    }

    /// The file as it grows, for who opens it by its name.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Where the content goes, compressed if the name asks for that.
    ///
    /// # Errors
    /// Where the operating system gives no second handle of the file.
    pub fn writer(&self) -> io::Result<OutputWriter> {
        let file = self.file.as_file().try_clone()?;
        let compressed = self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        Ok(match compressed {
            true => OutputWriter::Gzip(Box::new(GzEncoder::new(file, LEVEL))),
            false => OutputWriter::Plain(BufWriter::with_capacity(BUFFER, file)),
        })
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Where meanwhile another file got the name and may not be replaced, or the folder cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        let named = match self.force {
            true => self.file.persist(&self.path),
            false => self.file.persist_noclobber(&self.path),
        };
        match named {
            Ok(_) => Ok(()),
            Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(&self.path)),
            Err(failed) => {
                Err(Failure::input(failed.error).context(format!("cannot write {}", self.path.display())))
            }
        }
    }
}

/// Whether there may be a new file at `path`.
///
/// # Errors
/// Where there is one that may not be replaced.
pub fn check_free(path: &Path, force: bool) -> Result<(), Failure> {
    if !force && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Ok(())
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("{} exists", path.display())).with_hint("--force replaces it")
}

/// What is collected before the operating system gets it.
pub const BUFFER: usize = 1 << 18;
/// Repetitive text shrinks twelvefold at this level; higher ones cost twice the time for a tenth of the size.
const LEVEL: Compression = Compression::new(1);

/// The content of a file, on its way there.
pub enum OutputWriter {
    /// As it is.
    Plain(BufWriter<File>),
    /// Through gzip.
    Gzip(Box<GzEncoder<File>>),
}

impl OutputWriter {
    /// Writes what is left.
    ///
    /// # Errors
    /// Where the file cannot grow.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Gzip(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for OutputWriter {
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
