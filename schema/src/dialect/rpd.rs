use super::reader::Reader;
use super::rocpd::{Header, LaunchRows, Metadata, Names, References, Variant};
use crate::layout::rpd::from_rocprofiler_sdk;
use crate::layout::tags::{self, LAUNCHES, LAUNCHES_EXECUTED};
use crate::sqlite::Database;
use crate::{Dialect, Error, Result, Select, Tables};

pub(super) const SECOND: Reader =
    Reader::Ops { recognise: |database| Ok(version(database)? == Some(Dialect::Rpd2)), header };
pub(super) const THIRD: Reader =
    Reader::Ops { recognise: |database| Ok(version(database)? == Some(Dialect::Rpd3)), header };

/// RPD states its version since 2, and rocprofv3 uses the same tag: the tables decide. The columns distinguish RPD's versions
/// because tools that post-process a file do not always keep the tag.
fn version(database: &Database) -> Result<Option<Dialect>> {
    if !["rocpd_op", "rocpd_string"].iter().all(|table| database.has_table(table)) {
        return Ok(None);
    }
    let version = Metadata::read(database)?.get(tags::SCHEMA_VERSION).map(str::to_owned);
    let third = database.has_table("rocpd_ustring") || database.has_column("rocpd_api", "domain_id")?;
    if version.is_none() && !third && !database.has_column("rocpd_kernelapi", "api_ptr_id")? {
        return Ok(None);
    }
    if let Some(version) = version
        && version
            .trim()
            .split('.')
            .next()
            .and_then(|major| major.parse::<u32>().ok())
            .is_some_and(|major| major > 3)
    {
        return Err(Error::TooNew { path: database.path().to_owned(), dialect: "RPD", version, known: "3" });
    }
    Ok(Some(if third { Dialect::Rpd3 } else { Dialect::Rpd2 }))
}

/// Reads metadata and strings.
fn header(database: &Database, _: &Select) -> Result<Header> {
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    let third = database.has_table("rocpd_ustring");
    let variant = Variant {
        markers_are_calls: true,
        ops_named_by_type: true,
        cause_by_link: true,
        args_in_ustring: third,
        launches: match metadata.get(LAUNCHES) {
            Some(LAUNCHES_EXECUTED) => LaunchRows::Converted,
            _ if from_rocprofiler_sdk(&tables.strings) => LaunchRows::Executed,
            _ => LaunchRows::Arguments,
        },
        gpu_stride: metadata.number(tags::GPU_STRIDE).filter(|&stride| stride > 0),
        pid_stride: metadata.number(tags::PID_STRIDE).filter(|&stride| stride > 0),
        ..Variant::default()
    };
    let dialect = if third { Dialect::Rpd3 } else { Dialect::Rpd2 };
    tables.info = metadata.info(dialect, "rocmProfileData");
    Ok(Header { variant, names, references: References::default(), tables })
}
