//! rocprofv3's rocpd database, schema 3.0.x, of one process or merged.
//!
//! Each process has a set of tables of its own, whose names end in its guid; the plain names are views. Ids
//! are unique only within a set. The views join so strictly that rows with a missing reference vanish, so
//! the tables are read instead.

pub(crate) mod calls;
mod collectives;
mod counters;
pub(crate) mod devices;
mod dispatches;
pub(crate) mod environment;
mod events;
pub(crate) mod memory;
mod opaque;
mod reading;
mod references;
mod set;

use self::devices::Devices;
use self::events::Events;
use self::reading::Reading;
use self::references::References;
use self::set::{Set, suffixes};
use super::reader::Reader;
use crate::layout::tags;
use crate::sqlite::Database;
use crate::{Dialect, Error, ProblemKind, Result, Select, Tables};

/// The newest schema whose meaning is known; later third numbers only add columns and tables.
const KNOWN: &str = "3.0";

pub(super) const READER: Reader = Reader::Database { recognise, read };

/// Tables are named by guid: RPD has the same schema number, but no such tables.
fn recognise(database: &Database) -> Result<bool> {
    Ok(!suffixes(database).is_empty())
}

fn read(database: &Database, select: &Select) -> Result<Tables> {
    let suffixes = suffixes(database);
    let sets: Vec<Set<'_>> =
        (0..).zip(&suffixes).map(|(space, suffix)| Set { database, suffix, space }).collect();
    let mut tables = Tables::default();
    (tables.info.dialect, tables.info.tool) = (Dialect::Rocprofiler, "rocprofv3".to_owned());
    for &set in &sets {
        metadata(set, &mut tables)?;
    }
    let mut devices = Devices::default();
    for &set in &sets {
        let references = References::read(set, &mut devices, &mut tables)?;
        let events = Events::read(set, select, &references, &mut tables)?;
        let (devices, tables) = (&mut devices, &mut tables);
        let first = (tables.dispatches.len(), tables.api_calls.len());
        let mut reading = Reading { set, select, references, events, devices, tables };
        reading.dispatches()?;
        reading.copies()?;
        if select.ranges || select.api {
            let of_rccl = reading.calls()?;
            reading.collectives(&of_rccl, first)?;
        }
        if select.allocations() {
            reading.allocations()?;
        }
        reading.tables.info.counters |= reading.has_counters();
        if select.secondary {
            reading.counters()?;
            opaque::read(set, reading.tables)?;
        }
    }
    devices.finish(&mut tables);
    Ok(tables)
}

fn metadata(set: Set<'_>, tables: &mut Tables) -> Result<()> {
    let mut version = None;
    set.database.scan(&set.table("rocpd_metadata"), &["tag", "value"], |row| {
        let (tag, value) = (row.text(0).unwrap_or_default(), row.text(1).unwrap_or_default());
        if tag == tags::SCHEMA_VERSION {
            version = Some((row.id(), value.clone().into_owned()));
        }
        tables.info.metadata.push((tag.into_owned(), value.into_owned()));
    })?;
    let Some((id, version)) = version else {
        return Ok(());
    };
    match major_minor(&version) {
        Some(stated) if stated > (3, 0) => {
            return Err(Error::TooNew {
                path: set.database.path().to_owned(),
                dialect: "rocprofv3",
                version,
                known: KNOWN,
            });
        }
        Some(_) => {}
        None => tables.problems.add(ProblemKind::BadValue, "rocpd_metadata.schema_version", id),
    }
    tables.info.schema_version.get_or_insert(version);
    Ok(())
}

/// `3` is 3.0.0.
fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim().split('.').map(str::parse);
    let major = numbers.next()?.ok()?;
    match numbers.next() {
        None => Some((major, 0)),
        Some(minor) => Some((major, minor.ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::major_minor;

    #[test]
    fn a_version_of_one_number_is_the_first_of_its_kind() {
        assert_eq!(major_minor("3"), Some((3, 0)));
        assert_eq!(major_minor("3.0.2"), Some((3, 0)));
        assert_eq!(major_minor("4.1.0"), Some((4, 1)));
        assert_eq!(major_minor("three"), None);
    }
}
