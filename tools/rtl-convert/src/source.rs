//! The trace that is converted, as pieces of rows.

use std::path::Path;

use analysis::region;
use cli::Failure;
use schema::{Error, Select, Tables, Trace};

/// Why reading stopped, or what was done with the rows.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// The trace cannot be read.
    #[error(transparent)]
    Reading(#[from] Error),
    /// What the rows should become cannot be written.
    #[error(transparent)]
    Writing(#[from] std::io::Error),
    /// The rows that were asked for are not there.
    #[error(transparent)]
    Choosing(#[from] analysis::Error),
}

/// A trace and the part of it that was asked for.
#[derive(Debug)]
pub struct Source {
    trace: Trace,
    filter: Option<region::Filter>,
}

impl Source {
    /// The trace at `path`, or what `filter` leaves of it.
    ///
    /// # Errors
    /// Where the file cannot be read as a trace, or the filter makes no sense.
    pub fn open(path: &Path, filter: &cli::args::Filter) -> Result<Self, Failure> {
        let rows = rtl_summary::question::filter(filter)?;
        let trace = Trace::open(path).map_err(unreadable)?;
        Ok(Self { trace, filter: (!filter.is_empty()).then_some(rows) })
    }

    /// Gives out the rows as [`Trace::stream`] does; what a range or a share of the time is only all rows tell, so a
    /// filtered trace comes in one piece.
    ///
    /// # Errors
    /// Where the trace cannot be read or the filter chooses what is not there, and whatever `each` fails with.
    pub fn pieces<E: Into<Stopped>>(
        &self,
        select: &Select,
        mut each: impl FnMut(&Tables) -> Result<(), E>,
    ) -> Result<Tables, Stopped> {
        let mut each = |tables: &Tables| each(tables).map_err(Into::into);
        let Some(filter) = &self.filter else { return self.trace.stream(select, each) };
        let mut tables = self.trace.read(select)?;
        region::apply(&mut tables, filter)?;
        each(&tables)?;
        Ok(tables)
    }
}

/// The failure of a trace that cannot be read.
pub fn unreadable(error: Error) -> Failure {
    let hint = error.hint();
    Failure::input(error).with_hint(hint)
}
