//! Data sets as views over their files, with the names and columns of the tables of a trace.

use std::path::PathBuf;

use dataset::{INVALID_STOP, Manifest, Stored, name_in_files, stored};
use tables::Column;

use crate::literal::quoted;
use crate::vector;

/// The data sets of the command line.
#[derive(Debug, Default)]
pub(crate) struct DataSets {
    folders: Vec<PathBuf>,
    /// The runs that are complete.
    runs: Vec<(PathBuf, Manifest)>,
}

impl DataSets {
    /// Takes the folders that are data sets from `paths`.
    pub(crate) fn take(paths: &mut Vec<PathBuf>) -> Self {
        let mut found = Self::default();
        paths.retain(|path| {
            let runs = if path.is_dir() { dataset::runs(path) } else { Vec::new() };
            let is_trace = runs.is_empty();
            if !is_trace {
                found.folders.push(path.clone());
                found.runs.extend(runs);
            }
            is_trace
        });
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The names of the runs, as the column `trace` has them.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|(_, manifest)| manifest.run.as_str())
    }

    /// The value of the setting that lets queries read the folders.
    pub(crate) fn directories(&self) -> String {
        let folder = |folder: &PathBuf| format!("'{}/'", quoted(folder));
        format!("[{}]", self.folders.iter().map(folder).collect::<Vec<_>>().join(", "))
    }

    /// The statements that make the views.
    pub(crate) fn views(&self) -> Vec<String> {
        let tables = stored().iter().map(|stored| {
            let columns = stored.table.columns.iter().map(|column| self.column(stored, column));
            self.view(stored.table.name, &columns.collect::<Vec<_>>().join(", "))
        });
        let aggregated = dataset::AGGREGATED.iter().map(|(name, texts)| {
            let texts = texts.iter().map(|text| self.plain(name, text, "VARCHAR"));
            let numbers = dataset::NUMBERS.iter().map(|number| self.plain(name, number, "BIGINT"));
            let columns: Vec<String> = texts.chain(numbers).collect();
            self.view(name, &format!("{}, {RANK}", columns.join(", ")))
        });
        let named = self.folders.iter().map(|folder| format!("'{}'", quoted(folder)));
        let dataset = format!(
            "CREATE MACRO dataset(folder) AS TABLE SELECT * FROM ops WHERE \
             if(folder IN ({}), true, error(folder || ' was not named on the command line'))",
            named.collect::<Vec<_>>().join(", ")
        );
        tables.chain(aggregated).chain([ops(), dataset]).collect()
    }

    fn view(&self, table: &str, columns: &str) -> String {
        let files: Vec<String> = self.files(table).map(|path| format!("'{}'", quoted(&path))).collect();
        let from = match files.as_slice() {
            [] => "(SELECT NULL::VARCHAR AS job, NULL::VARCHAR AS run, NULL::VARCHAR AS rank) WHERE false"
                .to_owned(),
            files => format!(
                "read_parquet([{}], hive_partitioning = true, hive_types_autocast = false)",
                files.join(", ")
            ),
        };
        format!("CREATE VIEW {table} AS SELECT job, run, {columns} FROM {from}")
    }

    /// The files of a table: those of all ranks of each run that has it.
    fn files(&self, table: &str) -> impl Iterator<Item = PathBuf> {
        let has = move |(_, manifest): &&(PathBuf, Manifest)| manifest.tables.contains_key(table);
        self.runs
            .iter()
            .filter(has)
            .map(move |(run, _)| run.join(format!("kind={table}")).join("rank=*/*.parquet"))
    }

    fn column(&self, stored: &Stored, column: &Column) -> String {
        let (table, name) = (stored.table.name, column.name);
        let kind = vector::kind(column.kind).name();
        let is_stored = stored.columns.iter().any(|stored| stored.name == name);
        match name {
            "trace" => "run AS trace".to_owned(),
            "rank" => RANK.to_owned(),
            _ if self.files(table).next().is_none() => format!("NULL::{kind} AS \"{name}\""),
            "stop" if stored.has_times => format!("coalesce({INVALID_STOP}, start + duration) AS stop"),
            _ if is_stored => format!("\"{}\" AS \"{name}\"", name_in_files(column)),
            _ => format!("NULL::{kind} AS \"{name}\""),
        }
    }

    fn plain(&self, table: &str, name: &str, kind: &str) -> String {
        if self.files(table).next().is_none() { format!("NULL::{kind} AS {name}") } else { name.to_owned() }
    }
}

const RANK: &str = "TRY_CAST(rank AS BIGINT) AS rank";

/// Ops are stored as dispatches, copies and barriers.
fn ops() -> String {
    let Some(ops) = tables::find("ops") else { return String::new() };
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
    format!("CREATE VIEW ops AS {}", parts.join(" UNION ALL "))
}
