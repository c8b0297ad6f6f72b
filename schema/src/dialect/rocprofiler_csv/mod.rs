//! rocprofv3's CSV files. Each holds one kind of record; those of a run are read together, whichever of them exist.
//!
//! Columns are found by name, because versions differ in them. Agents are resolved at the end, as far as a file lists them.

mod agents;
mod header;
mod launches;
mod records;
mod rows;

use std::io::BufReader;
use std::path::PathBuf;

use self::header::{Header, Kind};
use self::rows::{Read, Rows};
use super::reader::Reader;
use super::run_name::run_of;
use crate::content::io;
use crate::csv::Csv;
use crate::input::Input;
use crate::layout::tags::COMPLETE;
use crate::table::AllocationLevel;
use crate::{Dialect, ProblemKind, Result, Select, Tables};

pub(super) const READER: Reader = Reader::Files { recognise, read };

/// The names of columns of one of the files are the first line.
fn recognise(head: &[u8]) -> bool {
    Header::of_text(head).is_some_and(|header| header.kind().is_some())
}

fn read(files: &[Input], select: &Select) -> Result<Tables> {
    let mut kinds = Vec::new();
    for file in files {
        let kind = Header::of_text(&file.head()?).and_then(|header| header.kind());
        kinds.extend(kind.map(|kind| (kind, file)));
    }
    kinds.sort_by_key(|&(kind, file)| (kind, file.path().to_owned()));
    let runs: Vec<(PathBuf, String)> =
        kinds.iter().map(|(_, file)| run_of(file.path()).unwrap_or_default()).collect();
    let counted = |at: usize| {
        (0..kinds.len()).all(|other| runs[other] != runs[at] || kinds[other].0 != Kind::Dispatches)
    };
    let mut rows = Rows::new(*select);
    for (at, &(kind, file)) in kinds.iter().enumerate() {
        rows.begin(&runs[at], counted(at));
        read_file(file, kind, &mut rows)?;
    }
    let mut tables = rows.finish();
    (tables.info.dialect, tables.info.tool) = (Dialect::RocprofilerCsv, "rocprofv3".to_owned());
    Ok(tables)
}

/// How records of a file with this header are read.
fn reader(kind: Kind, header: &Header) -> Read {
    match kind {
        Kind::Agents => records::agents(header),
        Kind::Calls => records::calls(header),
        Kind::Counters => launches::counters(header),
        Kind::Dispatches => launches::dispatches(header),
        Kind::Copies => records::copies(header),
        Kind::Allocations => records::allocations(header, AllocationLevel::Real),
        Kind::Scratch => records::allocations(header, AllocationLevel::Scratch),
    }
}

/// Reads the records of a file. One of another length than the header is a problem, but for the last one of a file that was
/// cut off: it has what it has.
fn read_file(file: &Input, kind: Kind, rows: &mut Rows) -> Result<()> {
    let failed = io("read", file.path());
    let mut csv = Csv::new(BufReader::with_capacity(1 << 20, file.reader()?)).map_err(&failed)?;
    let Some(header) = csv.record().map_err(&failed)?.map(Header::new) else { return Ok(()) };
    let read = reader(kind, &header);
    while let Some(record) = csv.record().map_err(&failed)? {
        if record.is_cut {
            rows.set_metadata(COMPLETE, "0");
        }
        if record.len() == header.len() || record.is_cut && record.len() < header.len() {
            if !read(rows, record) {
                break;
            }
        } else {
            rows.problem(ProblemKind::BadValue, kind, "columns", record.number);
        }
    }
    Ok(())
}
