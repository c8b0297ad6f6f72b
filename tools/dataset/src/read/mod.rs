//! Reads a run as a trace: the same columns that the reader of its dialect gives, by rank and start.

mod host;
mod ops;
mod places;
mod rows;

use std::path::{Path, PathBuf};

use platform::regular;
use rtl_schema::{Dialect, Result, Select, StoredRun, Tables};

use self::places::Places;
use self::rows::{Group, each_group};
use crate::damage::{damaged, unread};
use crate::facts::{FACTS, Facts};
use crate::manifest::{MANIFEST, Manifest, manifest, unreadable};

/// The bytes of the largest file of facts that is read: some millions of named threads.
const LARGEST_FACTS: u64 = 256 << 20;

/// Makes every program with this crate read runs of data sets wherever it reads traces.
pub fn read_as_traces() {
    rtl_schema::set_data_set_reader(open);
}

#[derive(Debug)]
struct Run {
    folder: PathBuf,
    manifest: Manifest,
    dialect: Dialect,
}

fn open(folder: &Path) -> Result<Box<dyn StoredRun>> {
    let path = folder.join(MANIFEST);
    let manifest = manifest(folder).unwrap_or_else(|| Err(damaged(&path, "the file is missing")))?;
    let label = &manifest.source.dialect;
    let dialect = Dialect::ALL.iter().copied().find(|dialect| dialect.label() == label);
    let unknown = || unread(&path, format!("a run made from {label}, which is unknown"), "update rtl");
    let dialect = dialect.ok_or_else(unknown)?;
    Ok(Box::new(Run { folder: folder.to_owned(), manifest, dialect }))
}

impl StoredRun for Run {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn row_counts(&self) -> Vec<(String, u64)> {
        self.manifest.tables.iter().map(|(name, table)| (name.clone(), table.rows)).collect()
    }

    fn size(&self) -> u64 {
        self.manifest.tables.values().map(|table| table.bytes).sum()
    }

    fn read(&self, select: &Select) -> Result<Tables> {
        let path = self.folder.join(FACTS);
        let facts: Facts = regular::read(&path, LARGEST_FACTS)
            .map_err(|error| unreadable(&path, error))
            .and_then(|text| serde_json::from_slice(&text).map_err(|error| damaged(&path, error)))?;
        let mut tables = Tables::default();
        facts.apply(&mut tables);
        tables.info.dialect = self.dialect;
        tables.info.tool.clone_from(&self.manifest.source.tool);
        tables.info.tool_version.clone_from(&self.manifest.source.tool_version);
        let mut trace = Reading { run: self, select, places: Places::new(&tables), tables };
        trace.metadata()?;
        trace.ops()?;
        trace.host()?;
        Ok(trace.tables)
    }
}

struct Reading<'a> {
    run: &'a Run,
    select: &'a Select,
    places: Places,
    tables: Tables,
}

impl Reading<'_> {
    /// Does nothing where the run lacks the table.
    fn each(&mut self, table: &str, mut each: impl FnMut(&mut Self, &Group<'_>) -> Result<()>) -> Result<()> {
        let run = self.run;
        let Some(manifest) = run.manifest.tables.get(table) else { return Ok(()) };
        each_group(&run.folder, (table, manifest), |group| each(self, group))
    }

    fn metadata(&mut self) -> Result<()> {
        self.each("metadata", |trace, group| {
            let (tags, values) = (group.texts("tag")?, group.texts("value")?);
            let text = |texts: &rows::Column<columnar::Text>, row| {
                texts.get(row).and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
            };
            let entries = (0..group.rows).map(|row| (text(&tags, row), text(&values, row)));
            trace.tables.info.metadata.extend(entries);
            Ok(())
        })
    }
}
