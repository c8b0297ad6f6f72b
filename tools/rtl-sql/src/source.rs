//! The traces of the command line, of which the parts are read that queries ask for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use duckdb::Replacement;
use rtl_schema::{Error, Select};
use tables::Loaded;

use crate::data_sets::DataSets;
use crate::vector::Dictionaries;

/// The number of traces that stay open until they are read. Each may have several descriptors and a copy of its header.
const KEPT_OPEN: usize = 64;

/// Traces, each read when a query needs it.
#[derive(Debug)]
pub(crate) struct Source {
    traces: Vec<TraceFile>,
    /// Data sets, instead of traces.
    pub(crate) data_sets: DataSets,
    /// The parts that tables of the running statement need.
    wanted: Mutex<Select>,
}

#[derive(Debug)]
struct TraceFile {
    path: PathBuf,
    label: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    Open(Box<rtl_schema::Trace>),
    Read(Arc<Trace>),
}

/// A trace that was read, and what vectors of DuckDB share of it.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) loaded: Loaded,
    pub(crate) dictionaries: Arc<Dictionaries>,
}

impl Source {
    /// Traces by their paths, which are opened once to see that they can be read.
    ///
    /// # Errors
    /// Where a file is no trace.
    pub(crate) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let mut paths = paths.to_vec();
        let data_sets = DataSets::take(&mut paths);
        let labels = tables::labels(&paths);
        let stay_open = paths.len() <= KEPT_OPEN;
        let file = |(path, label): (&PathBuf, String)| {
            let trace = rtl_schema::Trace::open(path)?;
            let state = if stay_open { State::Open(Box::new(trace)) } else { State::Closed };
            Ok(TraceFile { path: path.clone(), label, state: Mutex::new(state) })
        };
        let traces = paths.iter().zip(labels).map(file).collect::<Result<_, Error>>()?;
        Ok(Self { traces, data_sets, wanted: Mutex::default() })
    }

    /// Closes all traces and frees what was read.
    pub(crate) fn close(&self) {
        for trace in &self.traces {
            *trace.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Closed;
        }
    }

    /// True where there are both traces and data sets, whose tables have the same names.
    pub(crate) fn is_mixed(&self) -> bool {
        !self.traces.is_empty() && !self.data_sets.is_empty()
    }

    /// The names of the traces, as the column `trace` has them.
    pub(crate) fn labels(&self) -> Vec<String> {
        let traces = self.traces.iter().map(|trace| trace.label.clone());
        traces.chain(self.data_sets.labels()).collect()
    }

    /// The replacement of the name of a table: for traces a table function, for data sets a query over their files.
    pub(crate) fn table(&self, name: &str) -> Option<Result<Replacement, String>> {
        if self.data_sets.is_empty() {
            return tables::find(name).map(|table| Ok(Replacement::Function(table.name.to_owned())));
        }
        self.data_sets.query(name).map(|query| query.map(Replacement::Query))
    }

    /// The position of a trace by its path or its name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.traces.iter().position(|trace| trace.label == name || trace.path == Path::new(name))
    }

    /// About how many ops the traces have: 56 bytes each in the native layout, several times that in text.
    pub(crate) fn estimated_ops(&self) -> u64 {
        let bytes = |trace: &TraceFile| std::fs::metadata(&trace.path).map_or(0, |file| file.len());
        self.traces.iter().map(bytes).sum::<u64>() / 56
    }

    /// States that the next scan needs these parts too, so that a statement reads its traces once.
    pub(crate) fn want(&self, select: Select) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        *wanted = wanted.union(select);
    }

    fn selected(&self, position: Option<usize>) -> &[TraceFile] {
        position.map_or(&self.traces, |position| &self.traces[position..=position])
    }

    /// The trace at a position, or all of them, with at least these parts.
    ///
    /// # Errors
    /// Where a trace cannot be read.
    pub(crate) fn load(&self, position: Option<usize>, select: Select) -> Result<Vec<Arc<Trace>>, Error> {
        let wanted = *self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        self.selected(position).iter().map(|trace| trace.load(wanted.union(select), select)).collect()
    }
}

impl TraceFile {
    /// The trace with the parts that are `needed`, and those that are `wanted` where it has to be read.
    fn load(&self, wanted: Select, needed: Select) -> Result<Arc<Trace>, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let State::Read(trace) = &*state
            && trace.loaded.select().covers(needed)
        {
            return Ok(Arc::clone(trace));
        }
        let (open, select) = match std::mem::take(&mut *state) {
            State::Closed => (None, wanted),
            State::Open(trace) => (Some(trace), wanted),
            State::Read(trace) => (None, trace.loaded.select().union(wanted)),
        };
        let open = open.map_or_else(|| rtl_schema::Trace::open(&self.path), |trace| Ok(*trace))?;
        let loaded = Loaded::new(&self.label, select, open.read(&select)?);
        let new = Arc::new(Trace { loaded, dictionaries: Arc::default() });
        *state = State::Read(Arc::clone(&new));
        Ok(new)
    }
}
