//! The third account: the trace, read with SQLite and none of the project's own readers.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use support::rusqlite::{Connection, OpenFlags};

/// A kernel's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub gpu: i64,
    pub queue: i64,
    /// The kernel's full name.
    pub name: String,
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME.
    pub end: i64,
    /// Work-items, x.
    pub grid: i64,
    /// Work-items in a work-group, x.
    pub workgroup: i64,
    /// A column that rocm-trace-lite's tools read.
    pub completion_signal: String,
}

#[derive(Debug, Clone)]
pub struct Trace {
    pub path: PathBuf,
    /// Kernels by their start.
    pub rows: Vec<Row>,
    /// Tags that occur once.
    pub metadata: BTreeMap<String, String>,
}

impl Trace {
    /// Reads a whole file, and lets SQLite check it.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let database = open(path);
        let health: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(health, "ok", "{}", path.display());
        let mut statement = database
            .prepare(
                "SELECT gpuId, queueId, name.string, start, end, gridX, workgroupX, completionSignal
                 FROM rocpd_op JOIN rocpd_string name ON name.id = description_id
                 JOIN rocpd_string kind ON kind.id = opType_id
                 WHERE kind.string IN ('KernelExecution', 'Task') ORDER BY start, end, gridX",
            )
            .unwrap();
        let rows = statement
            .query_map([], |row| {
                Ok(Row {
                    gpu: row.get(0)?,
                    queue: row.get(1)?,
                    name: row.get(2)?,
                    start: row.get(3)?,
                    end: row.get(4)?,
                    grid: row.get(5)?,
                    workgroup: row.get(6)?,
                    completion_signal: row.get(7)?,
                })
            })
            .unwrap();
        let rows = rows.map(Result::unwrap).collect();
        Self { path: path.to_owned(), rows, metadata: metadata(&database) }
    }

    /// Reads only the metadata, of a file that may be large.
    #[must_use]
    pub fn without_rows(path: &Path) -> Self {
        Self { path: path.to_owned(), rows: Vec::new(), metadata: metadata(&open(path)) }
    }

    /// True if the recording came to its end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.metadata.get("complete").is_some_and(|complete| complete == "1")
    }

    /// A count of the metadata; 0 where there is no such tag.
    #[must_use]
    pub fn count(&self, tag: &str) -> i64 {
        self.metadata.get(tag).map_or(0, |count| count.parse().unwrap())
    }

    /// Reads a file that may have been created a moment ago: `None` while it has no tables.
    #[must_use]
    pub fn read_begun(path: &Path) -> Option<Self> {
        let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'rocpd_op'";
        let tables: i64 = open(path).query_row(tables, [], |row| row.get(0)).unwrap();
        (tables > 0).then(|| Self::read(path))
    }

    /// The number of kernels in a file that is being written; 0 while it cannot be read. A read during which the file was
    /// published again may have mixed two states, and is 0 too.
    #[must_use]
    pub fn kernels_so_far(path: &Path) -> i64 {
        let kernels = "SELECT count(*) FROM rocpd_op JOIN rocpd_string kind ON kind.id = opType_id
                       WHERE kind.string IN ('KernelExecution', 'Task')";
        let before = publications(path);
        let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let found = database.and_then(|database| database.query_row(kernels, [], |row| row.get(0)));
        found.ok().filter(|_| before.is_some() && publications(path) == before).unwrap_or(0)
    }

    /// All counts of dispatches, copies and barriers that are not in the file, by tag.
    #[must_use]
    pub fn left_out(&self) -> BTreeMap<&str, i64> {
        let left_out = |tag: &&String| {
            let reason =
                ["copies_", "barriers_"].iter().find_map(|kind| tag.strip_prefix(kind)).unwrap_or(tag);
            reason.starts_with("lost:") || reason.starts_with("skipped:")
        };
        self.metadata.keys().filter(left_out).map(|tag| (tag.as_str(), self.count(tag))).collect()
    }

    /// A connection for queries of a test's own.
    #[must_use]
    pub fn database(&self) -> Connection {
        open(&self.path)
    }
}

/// The number of publications of a file, by the change counter of SQLite's header.
fn publications(path: &Path) -> Option<[u8; 4]> {
    let mut count = [0; 4];
    File::open(path).and_then(|file| file.read_exact_at(&mut count, 24)).ok()?;
    Some(count)
}

fn metadata(database: &Connection) -> BTreeMap<String, String> {
    let mut statement = database.prepare("SELECT tag, value FROM rocpd_metadata").unwrap();
    let metadata = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    metadata.map(Result::unwrap).collect()
}

fn open(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}
