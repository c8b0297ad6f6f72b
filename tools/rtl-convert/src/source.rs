//! The trace that is converted, as batches of rows.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use cli::{Failure, Progress};
use rtl_analysis::region::{self, PieceFilter};
use rtl_schema::{Each, PieceSink, Select, Tables, Trace};

use crate::partition::Partition;

/// Counts of what frameworks record beside ops, calls and ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct OfFrameworks {
    /// Operators, Python frames, memory events and spans.
    pub events: u64,
    /// Kernels whose collective a framework describes.
    pub collectives: u64,
}

impl OfFrameworks {
    fn add(&mut self, tables: &Tables) {
        let host = tables.operators.len() + tables.python_frames.len();
        self.events += (host + tables.memory_events.len() + tables.spans.len()) as u64;
        let collective = &tables.dispatches.collective;
        if collective.uniform() != Some(None) {
            self.collectives += collective.iter().flatten().count() as u64;
        }
    }
}

/// The selected rows of a trace.
#[derive(Debug, Clone)]
pub struct Source {
    trace: Rc<Trace>,
    filter: Option<region::Filter>,
    part: Option<Partition>,
    /// Set when all rows were read; shared by all parts.
    cut_off: Rc<Cell<Option<&'static str>>>,
    /// Shared by all parts.
    of_frameworks: Rc<Cell<OfFrameworks>>,
    progress: bool,
}

impl Source {
    /// Opens the trace at `path`, of which `filter` selects rows; `None` selects all.
    pub fn open(path: &Path, filter: Option<region::Filter>) -> Result<Self, Failure> {
        let trace = Rc::new(Trace::open(path)?);
        Ok(Self {
            trace,
            filter,
            part: None,
            cut_off: Rc::default(),
            of_frameworks: Rc::default(),
            progress: false,
        })
    }

    pub fn with_progress(self, progress: bool) -> Self {
        Self { progress, ..self }
    }

    pub fn part(&self, part: Partition) -> Self {
        Self { part: Some(part), ..self.clone() }
    }

    /// Why rows at the end of the trace may be missing.
    pub fn cut_off(&self) -> Option<&'static str> {
        self.cut_off.get()
    }

    pub fn of_frameworks(&self) -> OfFrameworks {
        self.of_frameworks.get()
    }

    /// Reads all rows at once.
    pub fn read(&self, select: &Select) -> Result<Tables, Failure> {
        let size = std::fs::metadata(self.trace.path()).map_or(0, |file| file.len());
        let _progress = Progress::reading(size, "converting", !self.progress);
        let mut tables = match &self.filter {
            Some(region) => self.read_region(select, region)?,
            None => self.trace.read(select)?,
        };
        self.cut_off.set(tables.info.cut_off());
        if let Some(part) = &self.part {
            part.keep(&mut tables);
        }
        Ok(tables)
    }

    /// Passes the rows to `each` in batches, as [`Trace::stream`] does.
    pub fn stream(
        &self,
        select: &Select,
        mut each: impl FnMut(&Tables) -> Result<(), Failure>,
    ) -> Result<Tables, Failure> {
        self.stream_to(select, &mut Each::new(|tables: &mut Tables| each(tables)))
    }

    /// As [`Self::stream`], with work for each batch that all free threads share.
    pub fn stream_to<S: PieceSink<Error = Failure>>(
        &self,
        select: &Select,
        sink: &mut S,
    ) -> Result<Tables, Failure> {
        let size = std::fs::metadata(self.trace.path()).map_or(0, |file| file.len());
        let _progress = Progress::reading(size, "converting", !self.progress);
        let of_frameworks = OfFrameworks::default();
        let mut sink = Selected { source: self, of_frameworks, region: None, sink };
        if let Some(region) = &self.filter {
            if self.trace.is_one_piece() {
                let mut tables = self.read_region(select, region)?;
                sink.take(&mut tables)?;
                return Ok(tables);
            }
            sink.region = PieceFilter::new(region, |select, each| {
                let each = |piece: &mut Tables| {
                    each(piece);
                    Ok::<_, Failure>(())
                };
                self.trace.stream_to(select, &mut Each::new(each))
            })?;
            if sink.region.is_none() {
                self.read_region(&Select::summary(), region)?;
            }
        }
        let last = self.trace.stream_to(select, &mut sink)?;
        self.cut_off.set(last.info.cut_off());
        if let (Some(region), Some(pieces)) = (&self.filter, &sink.region)
            && pieces.is_without_ops()
        {
            self.read_region(&Select::summary(), region)?;
        }
        Ok(last)
    }

    /// Reads the rows of a region at once: what cannot be read in pieces, or the reason why nothing of it is left.
    fn read_region(&self, select: &Select, region: &region::Filter) -> Result<Tables, Failure> {
        let mut tables = self.trace.read(select)?;
        self.cut_off.set(tables.info.cut_off());
        region::apply(&mut tables, region).map_err(|error| cli::filter::failure(self.trace.path(), error))?;
        Ok(tables)
    }
}

struct Selected<'a, S> {
    source: &'a Source,
    of_frameworks: OfFrameworks,
    region: Option<PieceFilter<'a>>,
    sink: &'a mut S,
}

impl<S: PieceSink> PieceSink for Selected<'_, S> {
    type Task = S::Task;
    type Output = S::Output;
    type Error = S::Error;

    fn begin(&mut self, piece: &mut Tables) -> Result<Vec<S::Task>, S::Error> {
        if let Some(region) = &mut self.region {
            region.keep(piece);
        }
        if let Some(part) = &self.source.part {
            part.keep(piece);
        }
        self.of_frameworks.add(piece);
        let of_frameworks = &self.source.of_frameworks;
        of_frameworks.set(of_frameworks.get().max(self.of_frameworks));
        self.sink.begin(piece)
    }

    fn work(task: S::Task) -> S::Output {
        S::work(task)
    }

    fn end(&mut self, output: S::Output) -> Result<Vec<S::Task>, S::Error> {
        self.sink.end(output)
    }
}
