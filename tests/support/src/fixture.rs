//! Small traces told as stories: `tests/fixtures/<name>.sql`, instantiated in any layout.

use std::path::Path;

use anyhow::{Context, Result};
use rusqlite::Connection;
use tempfile::TempPath;

use crate::Layout;
use crate::layouts::{LITE, RPD3};

/// The words of stories; a layout's triggers say what they mean. A column that a story leaves out is unknown.
const WORDS: &str = "
CREATE TEMP VIEW kernels AS SELECT 0 AS gpu, 0 AS queue, 0 AS start, 0 AS end, '' AS name, 0 AS range, 0 AS items,
    0 AS workgroup, 0 AS lds, 0 AS tid, 0 AS correlation, 0 AS graph;
CREATE TEMP VIEW copies AS SELECT 0 AS gpu, 0 AS queue, 0 AS start, 0 AS end, '' AS way, 0 AS bytes, 0 AS peer,
    0 AS range, 0 AS tid, 0 AS correlation;
CREATE TEMP VIEW barriers AS SELECT 0 AS gpu, 0 AS queue, 0 AS start, 0 AS end;
CREATE TEMP VIEW ranges AS SELECT 0 AS number, 0 AS start, 0 AS end, '' AS text, 0 AS tid;
";

const TABLES: &str = include_str!("../../../sql/tables.sql");
const VIEWS: &str = include_str!("../../../sql/views.sql");

/// The texts that every native file begins with, and what makes it one.
const NATIVE_ROWS: &str = "
INSERT INTO rocpd_string(string) VALUES (''), ('KernelExecution'), ('Task'), ('CopyHostToDevice'), ('CopyDeviceToHost'),
    ('CopyDeviceToDevice'), ('CopyHostToHost'), ('Copy'), ('FillBuffer'), ('Barrier'), ('UserMarker');
INSERT INTO rocpd_metadata(tag, value) VALUES ('rtl_schema', '1'), ('schema_version', 'rtl-1');
";

/// The story `name` in the native layout.
pub fn fixture(name: &str) -> TempPath {
    fixture_in(name, Layout::Native)
}

/// The story `name` in another layout. What the layout cannot say is left out.
///
/// # Panics
/// If there is no such story, or it does not suit the layout: the test is wrong.
pub fn fixture_in(name: &str, layout: Layout) -> TempPath {
    let made = story(name).and_then(|text| database(&text, layout));
    made.unwrap_or_else(|error| panic!("fixture {name} in {layout:?}: {error:#}"))
}

/// Four calls of HIP and the ops that they caused, for our layout: `stories/calls.sql`.
pub const CALLS: &str = include_str!("stories/calls.sql");

/// A trace from the text of a story.
///
/// # Errors
/// If SQLite does not accept it.
pub fn database(story: &str, layout: Layout) -> Result<TempPath> {
    let path = tempfile::Builder::new().suffix(".db").tempfile()?.into_temp_path();
    let connection = Connection::open(&path)?;
    connection
        .execute_batch("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF; BEGIN")?;
    let (tables, words) = match layout {
        Layout::Native => (format!("{TABLES}{NATIVE_ROWS}"), include_str!("stories/native.sql")),
        Layout::Lite => (LITE.to_owned(), include_str!("stories/lite.sql")),
        Layout::Rpd3 => (RPD3.to_owned(), include_str!("stories/rpd3.sql")),
    };
    connection.execute_batch(&tables)?;
    connection.execute_batch(WORDS)?;
    connection.execute_batch(words)?;
    connection.execute_batch(story)?;
    if layout == Layout::Native {
        drop_empty_tables(&connection)?;
        connection.execute_batch(VIEWS)?;
    }
    connection.execute_batch("COMMIT")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(path)
}

/// A trace that rtl recorded of a real program on simulated GPUs, packed: `llama-bench` or `tinygrad`.
pub fn recorded(name: &str) -> std::path::PathBuf {
    folder().join(format!("real/{name}.db.gz"))
}

/// The names of all stories.
pub fn fixture_names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".sql")?.to_owned()))
        .collect();
    names.sort();
    names
}

fn story(name: &str) -> Result<String> {
    let path = folder().join(format!("{name}.sql"));
    std::fs::read_to_string(&path).with_context(|| path.display().to_string())
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// As the writer does: beyond the first three, a table exists only with rows.
fn drop_empty_tables(connection: &Connection) -> Result<()> {
    let names: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type='table' AND rowid > 3")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names {
        let rows: i64 =
            connection.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0))?;
        if rows == 0 {
            connection.execute_batch(&format!("DROP TABLE {name}"))?;
        }
    }
    Ok(())
}
