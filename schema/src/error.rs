use std::path::{Path, PathBuf};

/// What can go wrong between a path and its columns. Every variant names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing exists at the path.
    #[error("no such file: {}", path.display())]
    Missing {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("a folder, not a trace: {}", path.display())]
    Folder {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// The file has no bytes.
    #[error("the file is empty: {}", path.display())]
    Empty {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// Reading or writing failed in the operating system.
    #[error("cannot {action}: {}", path.display())]
    Io {
        /// What was being done: `read`, `create`, `copy`.
        action: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// The bytes are of no kind that holds a trace.
    #[error("not a trace ({found}): {}", path.display())]
    NotATrace {
        /// The path as the user gave it.
        path: PathBuf,
        /// What it looks like instead.
        found: String,
    },
    /// A SQLite file or JSON document of something else.
    #[error("{found}, but no trace that rtl knows: {}", path.display())]
    Foreign {
        /// The path as the user gave it.
        path: PathBuf,
        /// What it is instead, e.g. `a SQLite database with tables a, b`.
        found: String,
    },
    /// The file ends early or its structure is damaged.
    #[error("damaged or cut off ({detail}): {}", path.display())]
    Damaged {
        /// The path as the user gave it.
        path: PathBuf,
        /// Where and how.
        detail: String,
    },
    /// Written by a newer schema than this program knows.
    #[error("{dialect} schema {version} is newer than {known}, the newest that rtl knows: {}", path.display())]
    TooNew {
        /// The path as the user gave it.
        path: PathBuf,
        /// Whose schema.
        dialect: &'static str,
        /// The version the file states.
        version: String,
        /// The newest version that is known.
        known: &'static str,
    },
    /// SQLite refused; its message is kept as the source.
    #[error("cannot read {}", path.display())]
    Sqlite {
        /// The path as the user gave it.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
    /// A recording has as many bytes as it may have.
    #[error("{limit} bytes are reached: {}", path.display())]
    Full {
        /// The recording.
        path: PathBuf,
        /// How many bytes it may have.
        limit: u64,
    },
    /// A write that must not happen, e.g. onto an existing file.
    #[error("{detail}: {}", path.display())]
    Refused {
        /// The file that was to be written.
        path: PathBuf,
        /// Why not.
        detail: String,
    },
}

/// Shorthand for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The file the error is about.
    pub fn path(&self) -> &Path {
        match self {
            Self::Missing { path }
            | Self::Folder { path }
            | Self::Empty { path }
            | Self::Io { path, .. }
            | Self::NotATrace { path, .. }
            | Self::Foreign { path, .. }
            | Self::Damaged { path, .. }
            | Self::TooNew { path, .. }
            | Self::Sqlite { path, .. }
            | Self::Full { path, .. }
            | Self::Refused { path, .. } => path,
        }
    }

    /// What the user can try, without the `hint:` in front.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "check the path; traces of several processes are named trace_<pid>.db",
            Self::Folder { .. } => "name the files in it, e.g. `rank*.db`",
            Self::Empty { .. } => "the traced program may have ended before its tracer wrote anything",
            Self::Io { .. } => "check the permissions and the free space",
            Self::NotATrace { .. } | Self::Foreign { .. } => {
                "rtl reads traces of rtl, rocm-trace-lite, RPD, rocprofv3 (.db or .json) and RTG's HCC_PROFILE text"
            }
            Self::Damaged { .. } => "copy the file again, or recover it with `sqlite3 FILE .recover`",
            Self::TooNew { .. } => "update rtl",
            Self::Sqlite { .. } => "check the file with `sqlite3 FILE 'pragma integrity_check'`",
            Self::Full { .. } => "allow a larger file",
            Self::Refused { .. } => "name another file",
        }
    }
}
