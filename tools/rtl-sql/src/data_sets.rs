//! Data sets: each table as a query over its files, with the names and columns of the tables of a trace.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dataset::{Bucket, INVALID_STOP, Manifest, Stored, name_in_files, stored};
use rtl_schema::Error;
use tables::Column;

use crate::literal::quoted;
use crate::needed::Needed;
use crate::vector;

/// The data sets of the command line.
#[derive(Debug, Default)]
pub(crate) struct DataSets {
    folders: Vec<PathBuf>,
    statement: Mutex<Statement>,
}

/// The needs of the running statements, and the manifests that were read for them.
#[derive(Debug, Default)]
struct Statement {
    needed: Needed,
    runs: Option<Runs>,
}

/// Runs that are complete.
type Runs = Arc<Vec<(PathBuf, Manifest)>>;

/// The columns that folders state, of a table without files.
const NOTHING: &str = "(SELECT NULL::VARCHAR AS job, NULL::VARCHAR AS run) WHERE false";

/// True if a data set has a table with that one of the columns `job`, `run` and `rank`.
pub(crate) fn has_column(table: &str, column: &str) -> bool {
    let has_rank = |table: &tables::Table| table.columns.iter().any(|column| column.name == "rank");
    let of_trace = ops_and_stored().find(|known| known.name == table);
    match of_trace {
        Some(table) => column != "rank" || has_rank(table),
        None => dataset::AGGREGATED.iter().any(|(name, _)| *name == table),
    }
}

/// The tables of a trace that data sets have.
fn ops_and_stored() -> impl Iterator<Item = &'static tables::Table> {
    tables::find("ops").into_iter().chain(stored().iter().map(|stored| stored.table))
}

impl DataSets {
    /// Takes the folders that are data sets from `paths`.
    pub(crate) fn take(paths: &mut Vec<PathBuf>) -> Self {
        let mut folders = Vec::new();
        paths.retain(|path| {
            let is_data_set = path.is_dir() && dataset::has_runs(path);
            if is_data_set {
                folders.push(path.clone());
            }
            !is_data_set
        });
        Self { folders, statement: Mutex::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The names of the runs, as the column `trace` has them.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.folders.iter().flat_map(|folder| dataset::names(folder)).collect()
    }

    /// The value of the setting that lets queries read the folders.
    pub(crate) fn directories(&self) -> String {
        let folder = |folder: &PathBuf| format!("'{}/'", quoted(folder));
        format!("[{}]", self.folders.iter().map(folder).collect::<Vec<_>>().join(", "))
    }

    /// The statement that makes `dataset('folder')`.
    pub(crate) fn call_by_folder(&self) -> String {
        let named = self.folders.iter().map(|folder| format!("'{}'", quoted(folder)));
        format!(
            "CREATE MACRO dataset(folder) AS TABLE FROM query(if(folder IN ({}), 'FROM ops', \
             error(folder || ' was not named on the command line')))",
            named.collect::<Vec<_>>().join(", ")
        )
    }

    /// From now on tables have these runs, as they are then.
    pub(crate) fn need(&self, needed: Needed) {
        *self.lock() = Statement { needed, runs: None };
    }

    /// The query that a table stands for; `None` of other names.
    ///
    /// # Errors
    /// Where a run cannot be read or lacks files; the second line is a hint.
    pub(crate) fn query(&self, table: &str) -> Option<Result<String, String>> {
        if table == "ops" {
            return ops().map(Ok);
        }
        let stored = stored().iter().find(|stored| stored.table.name == table);
        let aggregated = dataset::AGGREGATED.iter().find(|(name, _)| *name == table);
        if stored.is_none() && aggregated.is_none() {
            return None;
        }
        Some(self.files(table).map(|files| {
            let is_there = !files.is_empty();
            let columns: Vec<String> = match (stored, aggregated) {
                (Some(stored), _) => {
                    stored.table.columns.iter().map(|column| of_stored(stored, column, is_there)).collect()
                }
                (_, Some((_, texts))) => {
                    let texts = texts.iter().map(|text| of_aggregated(text, "VARCHAR", is_there));
                    let numbers = dataset::NUMBERS.iter().chain(["rank"].iter());
                    let numbers = numbers.map(|number| of_aggregated(number, "BIGINT", is_there));
                    texts.chain(numbers).collect()
                }
                (None, None) => Vec::new(),
            };
            let from = if is_there {
                format!(
                    "read_parquet([{}], hive_partitioning = true, hive_types_autocast = false)",
                    files.join(", ")
                )
            } else {
                NOTHING.to_owned()
            };
            format!("SELECT job, run, {} FROM {from}", columns.join(", "))
        }))
    }

    /// The files of a table as texts of SQL: those of the ranks that are needed, of each such run that has it. DuckDB takes names
    /// in half the time of patterns.
    fn files(&self, table: &str) -> Result<Vec<String>, String> {
        let mut files = Vec::new();
        let failed = |error: Error| format!("{error}\n{}", error.hint());
        let (runs, statement) = (self.runs().map_err(failed)?, self.lock());
        for (run, manifest) in runs.iter() {
            if let Some(manifest) = manifest.tables.get(table) {
                let is_needed = |bucket: &Bucket| statement.needed.has_bucket(bucket);
                let found = dataset::files(run, table, manifest, is_needed).map_err(failed)?;
                files.extend(found.iter().map(|path| format!("'{}'", quoted(path))));
            }
        }
        Ok(files)
    }

    /// The runs that are needed, which are listed once for all tables of a statement.
    fn runs(&self) -> Result<Runs, Error> {
        let Statement { needed, runs } = &mut *self.lock();
        if let Some(runs) = runs {
            return Ok(Arc::clone(runs));
        }
        let of = |folder: &PathBuf| dataset::runs_where(folder, |job, run| needed.has(job, run));
        let found = self.folders.iter().flat_map(of).map(|(run, manifest)| Ok((run, manifest?)));
        Ok(Arc::clone(runs.insert(Arc::new(found.collect::<Result<_, Error>>()?))))
    }

    fn lock(&self) -> MutexGuard<'_, Statement> {
        self.statement.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_stored(stored: &Stored, column: &Column, is_there: bool) -> String {
    let name = column.name;
    let kind = vector::kind(column.kind).name();
    let is_stored = stored.columns.iter().any(|stored| stored.name == name);
    match name {
        "trace" => "run AS trace".to_owned(),
        _ if !is_there => format!("NULL::{kind} AS \"{name}\""),
        "rank" => "rank".to_owned(),
        "stop" if stored.has_times => format!("coalesce({INVALID_STOP}, start + duration) AS stop"),
        _ if is_stored => format!("\"{}\" AS \"{name}\"", name_in_files(column)),
        _ => format!("NULL::{kind} AS \"{name}\""),
    }
}

fn of_aggregated(name: &str, kind: &str, is_there: bool) -> String {
    if is_there { name.to_owned() } else { format!("NULL::{kind} AS {name}") }
}

/// Ops are stored as dispatches, copies and barriers.
fn ops() -> Option<String> {
    let ops = tables::find("ops")?;
    let part = |(kind, name): (&str, &str)| {
        let columns = ops.columns.iter().map(|column| {
            let is_there = tables::find(name)
                .is_some_and(|part| part.columns.iter().any(|other| other.name == column.name));
            match column.name {
                "kind" => format!("'{kind}' AS kind"),
                column if is_there => format!("\"{column}\""),
                name => format!("NULL::{} AS \"{name}\"", vector::kind(column.kind).name()),
            }
        });
        format!("SELECT job, run, {} FROM {name}", columns.collect::<Vec<_>>().join(", "))
    };
    let parts = [("kernel", "dispatches"), ("copy", "copies"), ("barrier", "barriers")].map(part);
    Some(parts.join(" UNION ALL "))
}
