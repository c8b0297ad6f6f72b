use std::path::{Path, PathBuf};

use crate::dialect::READABLE_HINT;

/// Errors of opening, reading and writing traces. Every variant names the file.
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
        /// The action: `read`, `create`, `copy`.
        action: &'static str,
        /// The file it was done to.
        path: PathBuf,
        /// The error that the operating system reports.
        source: std::io::Error,
    },
    /// The bytes are of no kind that holds a trace.
    #[error("not a trace ({found}): {}", path.display())]
    NotATrace {
        /// The path as the user gave it.
        path: PathBuf,
        /// A description of the content.
        found: String,
    },
    /// A SQLite file without tables: its writer has not begun to write, or removed them.
    #[error("a SQLite database without tables, but no trace that rtl knows: {}", path.display())]
    NoTables {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// A SQLite file or JSON document of something else.
    #[error("{found}, but no trace that rtl knows: {}", path.display())]
    Foreign {
        /// The path as the user gave it.
        path: PathBuf,
        /// A description of the content, e.g. `a SQLite database with tables a, b`.
        found: String,
    },
    /// A file of a known format that is no trace, or not one that is read.
    #[error("{found}, which rtl does not read: {}", path.display())]
    Unread {
        /// The path as the user gave it.
        path: PathBuf,
        /// The format, e.g. `a PyTorch memory snapshot (pickle)`.
        found: &'static str,
        /// How to get at its content; empty for the list of what is read.
        hint: &'static str,
    },
    /// The files of a folder do not belong together.
    #[error("{found}: {}", path.display())]
    Ambiguous {
        /// The path as the user gave it.
        path: PathBuf,
        /// The reason why they do not, as the message begins.
        found: String,
    },
    /// A folder of a data set, or a file in it, that is not one run that can be read.
    #[error("{found}: {}", path.display())]
    DataSet {
        /// The folder or the file.
        path: PathBuf,
        /// The reason why it is none, as the message begins.
        found: String,
        /// Advice to the user.
        hint: String,
    },
    /// The file ends early or its structure is damaged.
    #[error("damaged or cut off ({detail}): {}", path.display())]
    Damaged {
        /// The path as the user gave it.
        path: PathBuf,
        /// The place of the damage, or a description of it.
        detail: String,
    },
    /// A JSON document that is there to its end, and not as JSON or its format is.
    #[error("broken JSON ({detail}): {}", path.display())]
    Malformed {
        /// The path as the user gave it.
        path: PathBuf,
        /// The fault with its line and column.
        detail: String,
    },
    /// Reading it would take more time or memory than a trace of its size needs.
    #[error("reading costs more than the size of the file allows ({detail}): {}", path.display())]
    Excessive {
        /// The path as the user gave it.
        path: PathBuf,
        /// The value that exceeds its bound.
        detail: String,
    },
    /// A temporary copy would exceed its limit.
    #[error("a temporary copy would take more than {limit} bytes: {}", path.display())]
    TooLarge {
        /// The path as the user gave it.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// No recording that grows: a trace that another program or a tool has written.
    #[error("no recording of librtl.so: {}", path.display())]
    NotRecorded {
        /// The path as the user gave it.
        path: PathBuf,
    },
    /// Written by a newer schema than this program knows.
    #[error("{dialect} schema {version} is newer than {known}, the newest that rtl knows: {}", path.display())]
    TooNew {
        /// The path as the user gave it.
        path: PathBuf,
        /// The name of the dialect, as messages print it.
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
        /// The error that SQLite reports.
        source: rusqlite::Error,
    },
    /// A recording reached its size limit.
    #[error("size limit of {limit} bytes reached: {}", path.display())]
    Full {
        /// The file that is recorded to.
        path: PathBuf,
        /// The size limit in bytes.
        limit: u64,
    },
    /// A file system, a quota or a limit of the process has no room for more rows of a recording.
    #[error("cannot write {}", path.display())]
    NoRoom {
        /// The file that is recorded to.
        path: PathBuf,
        /// The error that the operating system reports.
        source: std::io::Error,
    },
    /// A write that must not happen, e.g. onto an existing file.
    #[error("{detail}: {}", path.display())]
    Refused {
        /// The file that was to be written.
        path: PathBuf,
        /// The reason why it must not, as the message begins.
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
            | Self::NoTables { path }
            | Self::Io { path, .. }
            | Self::NotATrace { path, .. }
            | Self::Foreign { path, .. }
            | Self::Unread { path, .. }
            | Self::Ambiguous { path, .. }
            | Self::DataSet { path, .. }
            | Self::Damaged { path, .. }
            | Self::Malformed { path, .. }
            | Self::Excessive { path, .. }
            | Self::TooLarge { path, .. }
            | Self::NotRecorded { path }
            | Self::TooNew { path, .. }
            | Self::Sqlite { path, .. }
            | Self::Full { path, .. }
            | Self::NoRoom { path, .. }
            | Self::Refused { path, .. } => path,
        }
    }

    /// True for a file that a writer has created and not begun to write.
    pub fn is_without_content(&self) -> bool {
        matches!(self, Self::Empty { .. } | Self::NoTables { .. })
    }

    /// A hint for the user, without the prefix `hint:`.
    pub fn hint(&self) -> &str {
        match self {
            Self::Missing { .. } => "check the path; traces of several processes are named trace_<pid>.db",
            Self::Folder { .. } => {
                "name the files in it, e.g. `rank*.db`; of rocprofv3's CSV files and of a data set (job=.../run=...) a folder is enough"
            }
            Self::Empty { .. } | Self::NoTables { .. } => {
                "the traced program may have ended before its tracer wrote anything"
            }
            Self::Io { .. } => "check the permissions and the free space",
            Self::NotATrace { .. } | Self::Foreign { .. } | Self::Unread { hint: "", .. } => READABLE_HINT,
            Self::Unread { hint, .. } => hint,
            Self::Ambiguous { .. } => "name the folder of one run; rtl-merge takes several",
            Self::DataSet { hint, .. } => hint,
            Self::Damaged { detail, .. } if detail.starts_with("gzip") => {
                "copy the file again, or make the trace again: the rest of a gzip file that ends early is lost"
            }
            Self::Damaged { detail, .. } if detail.contains("line ") => {
                "copy the file again, or make the trace again: the end of the text is missing"
            }
            Self::Damaged { .. } => "copy the file again, or recover it with `sqlite3 FILE .recover`",
            Self::Malformed { detail, .. } if detail.contains("recursion limit") => {
                "values are nested more deeply there than any recorder nests them"
            }
            Self::Malformed { .. } => {
                "look at that place of the file; JSON knows no NaN, no Infinity and no comments"
            }
            Self::Excessive { .. } => {
                "the file may be damaged; views of a trace may only join, rename and aggregate its rows"
            }
            Self::TooLarge { .. } => "--max-memory allows more; TMPDIR is the folder of the copy",
            Self::NotRecorded { .. } => "`rtl summary` reports on a trace of any recorder",
            Self::TooNew { .. } => "update rtl",
            Self::Sqlite { .. } => "check the file with `sqlite3 FILE 'pragma integrity_check'`",
            Self::Full { .. } => "allow a larger file",
            Self::NoRoom { .. } => "check the free space",
            Self::Refused { .. } => "name another file",
        }
    }
}
