//! rocprofv3's JSON: `{"rocprofiler-sdk-tool": [process, ...]}`.
//!
//! The file is read as a stream, row by row into columns. Rows may refer to kernels, agents and strings that come
//! later, so they hold positions until their process has ended.

mod collected;
mod document;
mod resolve;
mod rows;
mod scalars;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::de::DeserializeSeed;

use self::document::{Document, KEY};
use super::reader::Reader;
use super::rocprofiler::devices::Devices;
use crate::table::Process;
use crate::{Dialect, Error, Result, Select, Tables, TraceInfo};

pub(super) const READER: Reader = Reader::Text { recognise, read };

/// Whether the document begins as rocprofv3's do.
fn recognise(head: &[u8]) -> bool {
    let key = format!("\"{KEY}\"");
    head.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
        && head.windows(key.len()).any(|window| window == key.as_bytes())
}

fn read(path: &Path, reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut tables = Tables {
        info: TraceInfo {
            dialect: Dialect::RocprofilerJson,
            tool: "rocprofv3".to_owned(),
            ..TraceInfo::default()
        },
        ..Tables::default()
    };
    let mut devices = Devices::default();
    let mut json = serde_json::Deserializer::from_reader(reader);
    Document { select, devices: &mut devices, tables: &mut tables }
        .deserialize(&mut json)
        .and_then(|()| json.end())
        .map_err(|error| failed(path, error))?;
    if tables.processes.is_empty() {
        tables.processes.push(Process::default());
    }
    devices.finish(&mut tables);
    Ok(tables)
}

fn failed(path: &Path, error: serde_json::Error) -> Error {
    let path = path.to_owned();
    if error.is_io() {
        Error::Io { action: "read", path, source: error.into() }
    } else {
        Error::Damaged { path, detail: error.to_string() }
    }
}
