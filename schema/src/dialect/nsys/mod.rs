//! The SQLite file that `nsys export --type sqlite` makes of a report of Nsight Systems.
//!
//! Times are ns since the start of the session. Tables exist only where something was traced, and versions differ in
//! columns, so all are read by name.

mod device;
mod host;
mod sources;

use self::sources::Sources;
use super::reader::Reader;
use crate::sqlite::{Database, scanned};
use crate::{Dialect, Result, Select, Tables};

pub(super) const READER: Reader = Reader::Database { recognise, read };

const TABLES: [&str; 5] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "NVTX_EVENTS",
    "META_DATA_EXPORT",
    "EXPORT_META_DATA",
];

fn recognise(database: &Database) -> Result<bool> {
    Ok(database.has_table("StringIds") && TABLES.iter().any(|table| database.has_table(table)))
}

/// A file while it is read.
struct Reading<'a> {
    database: &'a Database,
    select: Select,
    tables: Tables,
    sources: Sources,
}

fn read(database: &Database, select: &Select) -> Result<Tables> {
    let mut reading =
        Reading { database, select: *select, tables: Tables::default(), sources: Sources::read(database)? };
    reading.metadata()?;
    reading.kernels()?;
    reading.graphs()?;
    reading.copies()?;
    reading.fills()?;
    if select.api {
        reading.calls("CUPTI_ACTIVITY_KIND_RUNTIME")?;
        reading.calls("CUPTI_ACTIVITY_KIND_DRIVER")?;
    }
    reading.annotations()?;
    if select.secondary {
        reading.allocations()?;
    }
    let Reading { mut tables, sources, .. } = reading;
    sources.finish(&mut tables);
    Ok(tables)
}

impl Reading<'_> {
    fn metadata(&mut self) -> Result<()> {
        let info = &mut self.tables.info;
        (info.dialect, info.tool) = (Dialect::Nsys, "nsys".to_owned());
        for table in ["META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE"] {
            scanned!(columns: name, value);
            self.database.scan(table, &columns, |row| {
                let Some((name, value)) = row.text(name).zip(row.text(value)) else { return };
                match &*name {
                    "EXPORT_SCHEMA_VERSION" => info.schema_version = Some(value.clone().into_owned()),
                    "EXPORT_PRODUCT_VERSION" => info.tool_version = Some(value.clone().into_owned()),
                    _ => {}
                }
                info.metadata.push((name.into_owned(), value.into_owned()));
            })?;
        }
        self.database.scan("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"], |row| {
            info.metadata.extend(row.text(0).map(|value| ("utcEpochNs".to_owned(), value.into_owned())));
        })
    }
}
