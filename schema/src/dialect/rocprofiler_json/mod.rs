//! rocprofv3's JSON: `{"rocprofiler-sdk-tool": [process, ...]}`.
//!
//! The file is read as a stream, row by row into columns. Rows may refer to kernels, agents and strings that come
//! later, so they hold positions until their process has ended.

mod collected;
mod document;
mod resolve;
mod rows;
pub(super) mod scalars;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::de::DeserializeSeed;

use self::collected::Collected;
use self::document::{KEY, Place};
use super::chrome::not_json;
use super::reader::Reader;
use crate::content::{io, skip_byte_order_mark};
use crate::{Dialect, Error, Result, Select, Tables};

pub(super) const READER: Reader = Reader::Text { recognise, read };

fn recognise(head: &[u8]) -> bool {
    let key = format!("\"{KEY}\"");
    head.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{')
        && head.windows(key.len()).any(|window| window == key.as_bytes())
}

fn read(path: &Path, mut reader: BufReader<File>, select: &Select) -> Result<Tables> {
    let mut collected = Collected { select: *select, ..Collected::default() };
    let info = &mut collected.tables.info;
    (info.dialect, info.tool) = (Dialect::RocprofilerJson, "rocprofv3".to_owned());
    skip_byte_order_mark(&mut reader).map_err(io("read", path))?;
    let mut json = serde_json::Deserializer::from_reader(reader);
    let document = collected.at(Place::Document).deserialize(&mut json);
    document.and_then(|()| json.end()).map_err(|error| failed(path, error))?;
    let Collected { mut tables, devices, .. } = collected;
    devices.finish(&mut tables);
    Ok(tables)
}

fn failed(path: &Path, error: serde_json::Error) -> Error {
    if error.is_io() {
        Error::Io { action: "read", path: path.to_owned(), source: error.into() }
    } else {
        not_json(path, &error)
    }
}
