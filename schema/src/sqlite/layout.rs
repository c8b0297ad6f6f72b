//! The places of a table and its columns in the file, which a scan needs to read pages without the library.

use rusqlite::Connection;

/// The location of a column of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The position in the stored record.
    Stored(usize),
    /// The column is the rowid itself (`INTEGER PRIMARY KEY`).
    Rowid,
    /// The table does not have the column, which reads as NULL.
    Absent,
}

/// The location of a table and of the columns of a scan in the file.
#[derive(Debug)]
pub(super) struct Layout {
    /// The first page of the table's tree.
    pub(super) root: u32,
    /// The selected columns, in the order of the scan.
    pub(super) places: Vec<Place>,
    /// Every stored column up to the last selected one.
    pub(super) stored: Vec<Stored>,
}

/// Conversions that the library applies to a stored column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stored {
    /// A row that is older than the column reads as the default.
    pub(super) has_default: bool,
    /// Integers read as reals.
    pub(super) is_real: bool,
}

impl Layout {
    /// `None` where the columns cannot be read from the table's pages alone: views, virtual tables,
    /// virtual generated columns.
    pub(super) fn find(
        connection: &Connection,
        table: &str,
        columns: &[&str],
    ) -> rusqlite::Result<Option<Self>> {
        let Some(root) = root(connection, table)? else { return Ok(None) };
        let present = Present::all(connection, table)?;
        let mut layout = Self { root, places: Vec::with_capacity(columns.len()), stored: Vec::new() };
        for column in columns {
            let found = present.iter().find(|candidate| candidate.name.eq_ignore_ascii_case(column));
            let place = match found {
                None => Place::Absent,
                Some(Present { name: _, place: None, stored: _ }) => return Ok(None),
                Some(Present { name: _, place: Some(place), stored }) => {
                    if let Place::Stored(at) = *place {
                        layout.stored.resize(layout.stored.len().max(at + 1), Stored::default());
                        layout.stored[at] = *stored;
                    }
                    *place
                }
            };
            layout.places.push(place);
        }
        Ok(Some(layout))
    }
}

/// Where the tree of a table with rowids starts, by the library's own plan of reading it: a damaged
/// schema may name one table and define another.
fn root(connection: &Connection, table: &str) -> rusqlite::Result<Option<u32>> {
    // Not `pragma table_list`, which prepares every view of the file. A virtual table has no root page, and the key of a
    // table WITHOUT ROWID is an index that is the table itself.
    let plain = connection
        .prepare(
            "select 1 from sqlite_master as t
                where t.type = 'table' and t.name = ?1 collate nocase and t.rootpage > 0
                and not exists (
                    select 1 from pragma_index_list(?1) as key where key.origin = 'pk' and not exists (
                        select 1 from sqlite_master as i
                            where i.type = 'index' and i.name = key.name collate nocase))",
        )?
        .exists([table])?;
    if !plain {
        return Ok(None);
    }
    let mut statement = connection.prepare(&format!("explain select * from {} not indexed", quote(table)))?;
    let mut steps = statement.query([])?;
    let mut root = None;
    while let Some(step) = steps.next()? {
        if step.get_ref("opcode")?.as_str() == Ok("OpenRead") {
            let opened = step.get("p2")?;
            if root.replace(opened).is_some() {
                return Ok(None);
            }
        }
    }
    Ok(root)
}

/// A column that the table has.
struct Present {
    name: String,
    /// `None` where it is computed at reading.
    place: Option<Place>,
    stored: Stored,
}

impl Present {
    fn all(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Self>> {
        // A key that is the rowid needs no index; `INTEGER PRIMARY KEY DESC` has one and is a plain column.
        let keys: i64 = connection.query_row(
            "select count(*) from pragma_table_xinfo(?1)
                where pk > 0 and not exists (select 1 from pragma_index_list(?1) where origin = 'pk')",
            [table],
            |row| row.get(0),
        )?;
        let mut position = 0;
        let mut declared =
            connection.prepare("select name, type, dflt_value, pk, hidden from pragma_table_xinfo(?1)")?;
        let present = declared.query_map([table], |row| {
            let kind = text(row, 1)?.unwrap_or_default();
            let is_rowid = keys == 1 && row.get::<_, i64>(3)? > 0 && kind.eq_ignore_ascii_case("integer");
            let in_record = matches!(row.get(4)?, 0 | 3);
            let place = in_record.then_some(if is_rowid { Place::Rowid } else { Place::Stored(position) });
            position += usize::from(in_record);
            let stored = Stored {
                has_default: text(row, 2)?.is_some_and(|default| !default.eq_ignore_ascii_case("null")),
                is_real: is_real(&kind),
            };
            Ok(Self { name: row.get(0)?, place, stored })
        })?;
        present.collect()
    }
}

/// The text of a declaration, which in a damaged schema need not be UTF-8.
fn text(row: &rusqlite::Row<'_>, at: usize) -> rusqlite::Result<Option<String>> {
    let bytes = row.get_ref(at)?.as_bytes_or_null()?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
}

/// True if a declared type has REAL affinity (datatype3.html, 3.1).
fn is_real(kind: &str) -> bool {
    let kind = kind.to_ascii_uppercase();
    let has = |words: &[&str]| words.iter().any(|word| kind.contains(word));
    has(&["REAL", "FLOA", "DOUB"]) && !has(&["INT", "CHAR", "CLOB", "TEXT", "BLOB"])
}

/// A name as an SQL identifier.
pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
