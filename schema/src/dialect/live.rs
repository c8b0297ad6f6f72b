//! A recording that is read while its process runs.

use std::path::{Path, PathBuf};

use super::native;
use super::rocpd::{LiveOps, Metadata, Names};
use crate::layout::tags;
use crate::sqlite::{Database, Followed, Publication, Tail};
use crate::table::ApiCall;
use crate::{Dialect, Error, Input, NameId, Result, Select, Tables, Trace};

/// Pages that are read at once: memory does not grow with what was recorded before.
const PIECE: usize = 500;

/// A recording of librtl.so that its process may be extending: each [`Self::refresh`] reads what is new.
///
/// It holds the file open, and so reads it to its end even if its name is gone by then. The tables of what rows refer to
/// (strings, processes, agents, tracks) hold all that was met so far, and their ids stay.
#[derive(Debug)]
pub struct LiveTrace {
    path: PathBuf,
    tail: Tail,
    metadata: Followed,
    strings: Followed,
    calls: Followed,
    /// The ops, once the file says what it is.
    ops: Option<(LiveOps, Followed)>,
    names: Names,
    tables: Tables,
    in_flight: Vec<InFlight>,
}

/// The oldest dispatch of a queue that has not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// The name of the kernel, in the strings of the trace.
    pub name: NameId,
    /// The gpuId that its ops carry.
    pub gpu: i64,
    /// The queueId that its ops carry.
    pub queue: i64,
    /// When its recorder first saw it as the oldest, in ns.
    pub since: i64,
}

impl LiveTrace {
    /// Opens a recording. No row is read yet.
    ///
    /// # Errors
    /// The errors of [`Trace::open`], and [`Error::NotRecorded`] for a trace that another program has written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // A pipe is no recording, and to open one could wait for ever.
        if Input::is_stream(path) {
            return Err(Error::NotRecorded { path: path.to_owned() });
        }
        let tail = if path.is_file() { Tail::open(path)? } else { None };
        let Some(tail) = tail else {
            // The error of a file that is no trace says more.
            Trace::open(path)?;
            return Err(Error::NotRecorded { path: path.to_owned() });
        };
        Ok(Self {
            path: path.to_owned(),
            tail,
            metadata: Followed::replaced("rocpd_metadata", &["tag", "value"]),
            strings: Followed::new("rocpd_string", &["id", "string"]),
            calls: Followed::new("rocpd_api", &["start", "duration", "apiName_id", "tid"]),
            ops: None,
            names: Names::default(),
            tables: Tables::default(),
            in_flight: Vec::new(),
        })
    }

    /// Reads what was published since the last call and passes the new rows (dispatches, copies, barriers, ranges, API
    /// calls) to `each`, piece by piece. Returns whether anything was published.
    ///
    /// # Errors
    /// The file is damaged, or no recording.
    pub fn refresh(&mut self, mut each: impl FnMut(&Tables)) -> Result<bool> {
        if self.ops.is_none() && !self.start()? {
            return Ok(false);
        }
        let Some((reader, ops)) = &mut self.ops else { return Ok(false) };
        let mut read = [&mut self.metadata, &mut self.strings, &mut self.calls, ops];
        let Some(state) = self.tail.publication(&mut read)? else { return Ok(false) };
        let (tail, tables) = (&self.tail, &mut self.tables);

        let metadata = metadata(tail, &state, &self.metadata)?;
        let agents = native::agents(&metadata, &reader.references, &tables.processes).collect();
        reader.add_agents(agents, tables);
        reader.references.queues = native::queues(&metadata);

        let mut rows = tail.rows(&state, &self.strings)?;
        while rows.next(PIECE, |row| self.names.add(row, &mut tables.strings))? {}
        self.strings.read_to(rows.last());
        let select = Select { links: true, ranges: true, ..Select::ops() };
        let open = native::open_dispatches(&metadata, &reader.references, &self.names, tables, &select);
        let in_flight = open.iter().map(|open| InFlight {
            name: open.row.name,
            gpu: open.gpu,
            queue: open.queue,
            since: open.row.start,
        });
        self.in_flight = in_flight.collect();
        tables.info = metadata.info(Dialect::Native, "rtl");

        let mut rows = tail.rows(&state, &self.calls)?;
        let names = &self.names;
        while rows.next(PIECE, |row| {
            if let Some(start) = row.int(0) {
                let (name, tid) = (names.get(row.int(2)), row.int(3));
                tables.api_calls.push(ApiCall {
                    name,
                    tid,
                    start,
                    duration: row.int(1),
                    ..ApiCall::default()
                });
            }
        })? {
            each(tables);
            tables.clear_rows();
        }
        self.calls.read_to(rows.last());

        let mut rows = tail.rows(&state, ops)?;
        while reader.add(names, tables, |add| rows.next(PIECE, add))? {
            each(tables);
            tables.clear_rows();
        }
        let last = rows.last();
        ops.read_to(last);
        Ok(true)
    }

    /// The references of rows, and the metadata of the last state. It has no rows.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Dispatches that had not completed at the last state, for 25 ms or more.
    pub fn in_flight(&self) -> &[InFlight] {
        &self.in_flight
    }

    /// True where the recorder has ended properly.
    pub fn is_complete(&self) -> bool {
        self.tag(tags::COMPLETE) == Some("1")
    }

    /// The time of the last state in ns, if it is stated.
    pub fn as_of(&self) -> Option<i64> {
        self.tag(tags::END_NS)?.trim().parse().ok()
    }

    fn tag(&self, tag: &str) -> Option<&str> {
        let metadata = &self.tables.info.metadata;
        metadata.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    /// Reads what the file is. Returns false if it does not say so yet.
    fn start(&mut self) -> Result<bool> {
        let database = Database::open(&self.path, &self.path)?;
        let metadata = Metadata::read(&database)?;
        let is_begun = metadata.get(tags::COMPLETE) != Some("0")
            || metadata.get(tags::PID).is_some()
            || database.row_estimate("rocpd_op") > 0;
        if !is_begun {
            // The first state of a recording does not name its process.
            return Ok(false);
        }
        if !native::recognise(&database)? {
            return Err(Error::NotRecorded { path: self.path.clone() });
        }
        let references = native::references(&metadata, &mut self.tables);
        let reader = LiveOps::new(&database, references, &self.tables)?;
        let ops = Followed::new("rocpd_op", reader.columns());
        self.ops = Some((reader, ops));
        Ok(true)
    }
}

/// The metadata of a state without its loaded kernels, of which there may be many.
fn metadata(tail: &Tail, state: &Publication, table: &Followed) -> Result<Metadata> {
    let mut metadata = Metadata::default();
    let mut rows = tail.rows(state, table)?;
    while rows.next(PIECE, |row| {
        if let Some(tag) = row.text(0).filter(|tag| tag != tags::KERNEL) {
            metadata.push(tag.into_owned(), row.text(1).unwrap_or_default().into_owned());
        }
    })? {}
    Ok(metadata)
}
