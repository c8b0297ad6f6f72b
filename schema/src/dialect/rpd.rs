use super::rocpd::{Known, LaunchRows, Layout, Metadata, Names, Prepared};
use crate::sqlite::Database;
use crate::write::{EXECUTED, LAUNCHES};
use crate::{Dialect, Error, Result, Strings, Tables};

/// RPD states its version since 2, and so does rocprofv3 with the same tag: the tables decide. The columns
/// say which of RPD's versions it is, because tools that post-process a file do not always keep the tag.
pub(crate) fn recognise(database: &Database) -> Result<Option<Dialect>> {
    if !["rocpd_op", "rocpd_string"].iter().all(|table| database.has_table(table)) {
        return Ok(None);
    }
    let version = Metadata::read(database)?.get("schema_version").map(str::to_owned);
    let has = |table: &str, column: &str| -> Result<bool> {
        Ok(database.columns(table)?.iter().any(|name| name == column))
    };
    let third = database.has_table("rocpd_ustring") || has("rocpd_api", "domain_id")?;
    if version.is_none() && !third && !has("rocpd_kernelapi", "api_ptr_id")? {
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

/// Reads what the rows refer to.
pub(crate) fn prepare(database: &Database) -> Result<Prepared> {
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    let third = database.has_table("rocpd_ustring");
    let layout = Layout {
        markers_are_calls: true,
        ops_named_by_type: true,
        cause_by_link: true,
        args_table: if third { "rocpd_ustring" } else { "rocpd_string" },
        signal_is_shape: false,
        typed_ops: false,
        launches: match metadata.get(LAUNCHES) {
            Some(EXECUTED) => LaunchRows::Converted,
            _ if from_rocprofiler_sdk(&tables.strings) => LaunchRows::Executed,
            _ => LaunchRows::Arguments,
        },
        gpu_stride: metadata.number("gpu_stride").filter(|&stride| stride > 0),
        pid_stride: metadata.number("pid_stride").filter(|&stride| stride > 0),
    };
    let dialect = if third { Dialect::Rpd3 } else { Dialect::Rpd2 };
    tables.info = metadata.info(dialect, "rocmProfileData");
    Ok(Prepared { layout, names, known: Known::default(), tables })
}

/// RPD records through roctracer or through rocprofiler-sdk. The second logs its own overhead under this
/// name and calls copies by the SDK's operation names.
pub(crate) fn from_rocprofiler_sdk(strings: &Strings) -> bool {
    strings.lookup("RocprofDataSource::buffer_callback").is_some()
        || strings.iter().any(|(_, text)| text.starts_with("MEMORY_COPY_"))
}
