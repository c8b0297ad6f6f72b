//! The trace that is converted, as batches of rows.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

use cli::Failure;
use rtl_analysis::region;
use rtl_schema::{Select, Tables, Trace};

use crate::partition::Partition;

/// The selected rows of a trace.
#[derive(Debug, Clone)]
pub struct Source {
    trace: Rc<Trace>,
    filter: Option<region::Filter>,
    part: Option<Partition>,
    /// Set when all rows were read; shared by all parts.
    cut_off: Rc<Cell<Option<&'static str>>>,
}

impl Source {
    /// The rows of the trace at `path` that `filter` selects; `None` selects all.
    ///
    /// # Errors
    /// The file cannot be read as a trace.
    pub fn open(path: &Path, filter: Option<region::Filter>) -> Result<Self, Failure> {
        let trace = Rc::new(Trace::open(path)?);
        Ok(Self { trace, filter, part: None, cut_off: Rc::default() })
    }

    /// The rows of one part.
    #[must_use]
    pub fn part(&self, part: Partition) -> Self {
        Self { part: Some(part), ..self.clone() }
    }

    /// Why rows at the end of the trace may be missing.
    #[must_use]
    pub fn cut_off(&self) -> Option<&'static str> {
        self.cut_off.get()
    }

    /// Passes the rows to `each` in batches, as [`Trace::stream`] does. Ranges and shares of the time are known only
    /// when all rows are, so a filtered trace is one batch.
    ///
    /// # Errors
    /// The trace cannot be read, the filter selects nothing, or `each` fails.
    pub fn stream(
        &self,
        select: &Select,
        mut each: impl FnMut(&Tables) -> Result<(), Failure>,
    ) -> Result<Tables, Failure> {
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
