//! What is written, and into which file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use cli::{Failure, ResultExt};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// What can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Chrome's and Perfetto's JSON (.json, .json.gz)
    #[value(alias = "json", alias = "chrome", alias = "perfetto")]
    PerfettoJson,
    /// Perfetto's own format (.pftrace, .pftrace.gz)
    #[value(alias = "perfetto-trace")]
    Pftrace,
    /// rtl's own database: every row, from any other tool's trace (.db)
    #[value(alias = "rtl")]
    Native,
    /// RPD's database, schema 3, for rocmProfileData's tools (.rpd)
    Rpd,
    /// A folder with a CSV file for each table (.csv)
    #[cfg(feature = "columns")]
    Csv,
    /// A folder with a Parquet file for each table, compressed by zstd (.parquet)
    #[cfg(feature = "columns")]
    Parquet,
    /// rocprofv3's JSON, one file per process (NAME_results.json)
    #[value(alias = "rocprofv3", alias = "rocprofiler-json")]
    Rocprofv3Json,
    /// rocprofv3's CSV files (NAME_kernel_trace.csv, NAME_kernel_stats.csv, ...), one set per process
    Rocprofv3Csv,
    /// rocprofv3's rocpd database, schema 3.0.0 (NAME_results.db)
    #[value(alias = "rocprofv3-db")]
    Rocpd,
}

impl Format {
    /// Whether viewers draw it.
    #[must_use]
    pub fn is_drawn(self) -> bool {
        matches!(self, Self::PerfettoJson | Self::Pftrace)
    }

    /// How its columns are stored, if it is a folder of them.
    #[cfg(feature = "columns")]
    #[must_use]
    pub fn columns(self) -> Option<frames::files::Kind> {
        match self {
            Self::Csv => Some(frames::files::Kind::Csv),
            Self::Parquet => Some(frames::files::Kind::Parquet),
            _ => None,
        }
    }

    /// What a file of that name holds.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        // What rocprofv3 calls its own files comes first.
        let ends = [
            ("_results.json", Self::Rocprofv3Json),
            ("_results.json.gz", Self::Rocprofv3Json),
            ("_results.db", Self::Rocpd),
            (".json", Self::PerfettoJson),
            (".json.gz", Self::PerfettoJson),
            (".pftrace", Self::Pftrace),
            (".pftrace.gz", Self::Pftrace),
            (".perfetto-trace", Self::Pftrace),
            (".perfetto-trace.gz", Self::Pftrace),
            (".db", Self::Native),
            (".rpd", Self::Rpd),
            #[cfg(feature = "columns")]
            (".csv", Self::Csv),
            #[cfg(feature = "columns")]
            (".parquet", Self::Parquet),
        ];
        ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, format)| format)
    }

    /// The file that holds a trace in this format, beside the trace; never the trace itself.
    #[must_use]
    pub fn name_after(self, trace: &Path) -> PathBuf {
        let name = trace.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let stem =
            [".db", ".rpd", ".json", ".txt"].iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        let end = match self {
            Self::PerfettoJson => ".json.gz",
            Self::Pftrace => ".pftrace",
            Self::Native => "_native.db",
            Self::Rpd => ".rpd",
            #[cfg(feature = "columns")]
            Self::Csv => ".csv",
            #[cfg(feature = "columns")]
            Self::Parquet => ".parquet",
            Self::Rocprofv3Json => "_results.json",
            Self::Rocprofv3Csv => "",
            Self::Rocpd => "_results.db",
        };
        let named = trace.with_file_name(format!("{stem}{end}"));
        if named == trace { trace.with_file_name(format!("{stem}_converted{end}")) } else { named }
    }

    /// The format that was chosen, else that of a file of this name.
    ///
    /// # Errors
    /// Where neither says one.
    pub fn choose(chosen: Option<Self>, path: &Path) -> Result<Self, Failure> {
        chosen.or_else(|| Self::of(path)).ok_or_else(|| {
            Failure::usage(format!("{} does not say what to write", path.display())).with_hint(
                "name it .json, .pftrace (or with .gz behind that), .db, .rpd, .csv or .parquet, or choose with --to",
            )
        })
    }
}

/// A file in the making, beside the place where it will be.
pub struct OutputFile {
    /// What it will hold.
    pub format: Format,
    path: PathBuf,
    force: bool,
    file: NamedTempFile,
}

impl OutputFile {
    /// Starts the file at `path`.
    ///
    /// # Errors
    /// Where the name says no format and none was chosen, the file exists and may not be replaced, it is the `input`,
    /// or its folder cannot be written.
    pub fn create(path: &Path, format: Option<Format>, force: bool, input: &Path) -> Result<Self, Failure> {
        let format = Format::choose(format, path)?;
        if let (Ok(target), Ok(source)) = (path.canonicalize(), input.canonicalize())
            && target == source
        {
            return Err(Failure::usage(format!("{} is the input", path.display()))
                .with_hint("an input is never overwritten; write to another file"));
        }
        may_be_written(path, force)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A temporary file is its owner's alone; this one becomes a file like any other.
        let file = tempfile::Builder::new()
            .prefix(".rtl-convert-")
            .permissions(std::fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .with_context(|| format!("cannot write {}", path.display()))
            .with_hint("check that the folder exists and can be written")?;
        Ok(Self { format, path: path.to_owned(), force, file })
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
pub fn may_be_written(path: &Path, force: bool) -> Result<(), Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_a_name_is_called_after_the_trace_and_never_like_it() {
        let name = |format: Format, trace: &str| format.name_after(Path::new(trace)).display().to_string();
        assert_eq!(name(Format::PerfettoJson, "runs/a.b.db"), "runs/a.b.json.gz");
        assert_eq!(name(Format::PerfettoJson, "a.json.gz"), "a_converted.json.gz");
        assert_eq!(name(Format::Rocprofv3Json, "trace.db"), "trace_results.json");
        assert_eq!(name(Format::Native, "trace.db"), "trace_native.db");
        assert_eq!(name(Format::Rpd, "trace.rpd"), "trace_converted.rpd");
        assert_eq!(name(Format::Rocprofv3Csv, "trace"), "trace_converted");
    }
}
