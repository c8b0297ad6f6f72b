//! The trace that is converted, as pieces of rows.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use cli::Failure;
use rtl_analysis::region;
use rtl_schema::{Error, Select, Tables, Trace};

use crate::split::Partition;

/// Why reading stopped, or what was done with the rows.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] Error),
    /// What the rows should become cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
    /// The rows that were asked for are not there.
    #[error(transparent)]
    Filter(#[from] rtl_analysis::Error),
}

/// A trace and the part of it that was asked for.
#[derive(Debug)]
pub struct Source {
    trace: Rc<Trace>,
    filter: Option<region::Filter>,
    part: Option<Partition>,
    /// Known when all was read; of all parts together.
    cut_off: Rc<Cell<Option<&'static str>>>,
}

impl Source {
    /// The trace at `path`, or what `filter` leaves of it.
    ///
    /// # Errors
    /// Where the file cannot be read as a trace, or the filter makes no sense.
    pub fn open(path: &Path, filter: &filter::FilterArgs) -> Result<Self, Failure> {
        let rows = filter.filter()?;
        let trace = Trace::open(path).map_err(read_failure)?;
        Ok(Self {
            trace: Rc::new(trace),
            filter: (!filter.is_empty()).then_some(rows),
            part: None,
            cut_off: Rc::default(),
        })
    }

    /// A part of it.
    #[must_use]
    pub fn part(&self, part: Partition) -> Self {
        Self {
            trace: Rc::clone(&self.trace),
            filter: self.filter.clone(),
            part: Some(part),
            cut_off: Rc::clone(&self.cut_off),
        }
    }

    /// Why the end of what was read may be missing.
    #[must_use]
    pub fn cut_off(&self) -> Option<&'static str> {
        self.cut_off.get()
    }

    /// Gives out the rows as [`Trace::stream`] does; what a range or a share of the time is only all rows tell, so a
    /// filtered trace comes in one piece.
    ///
    /// # Errors
    /// Where the trace cannot be read or the filter chooses what is not there, and whatever `each` fails with.
    pub fn stream<E: Into<StreamError>>(
        &self,
        select: &Select,
        mut each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, StreamError> {
        let mut each = |tables: &Tables| each(tables).map_err(Into::into);
        let keep = |tables: &mut Tables| {
            if let Some(part) = &self.part {
                part.keep(tables);
            }
        };
        let Some(filter) = &self.filter else {
            let last = self.trace.stream_filtered(select, keep, each)?;
            self.cut_off.set(last.info.cut_off());
            return Ok(last);
        };
        let mut tables = self.trace.read(select)?;
        self.cut_off.set(tables.info.cut_off());
        region::apply(&mut tables, filter)?;
        keep(&mut tables);
        each(&tables)?;
        Ok(tables)
    }
}

/// The failure behind a reading that stopped; `writing` is what failed if it was not the reading itself.
pub fn stream_failure(stopped: StreamError, writing: &'static str) -> Failure {
    match stopped {
        StreamError::Read(error) => read_failure(error),
        StreamError::Filter(error) => Failure::input(error),
        StreamError::Write(error) => Failure::input(error).context(writing),
    }
}

/// The failure of a trace that cannot be read.
pub fn read_failure(error: Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).with_hint(hint)
}
