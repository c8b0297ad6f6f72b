//! rocprof, the profiler of ROCm before rocprofv3, and roctracer, which it drives: results.csv, results.json, results.db, and
//! the text files that they are made from.

mod csv;
mod database;
mod json;
mod line;
mod rows;
mod text;

use super::reader::Reader;

pub(super) const CSV: Reader = Reader::Text { recognise: csv::recognise, read: csv::read };
pub(super) const JSON: Reader = Reader::Text { recognise: json::recognise, read: json::read };
pub(super) const DATABASE: Reader = Reader::Database { recognise: database::recognise, read: database::read };
pub(super) const TEXT: Reader = Reader::Files { recognise: text::recognise, read: text::read };
