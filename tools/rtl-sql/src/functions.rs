//! The tables as table functions of DuckDB.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use duckdb::{Bound, Call, Chunk, Scan, TableFunction, Type};
use rtl_schema::Select;
use tables::{CHUNK, Table};

use crate::failure;
use crate::source::{Source, Trace};
use crate::vector;

/// Chunks that are worth a thread.
const CHUNKS_OF_THREAD: usize = 32;

/// `dispatches()`, also `dispatches(trace := 'a.db')`; a table of that name stands for the call without parameters.
pub(crate) struct TableOfTraces {
    pub(crate) table: &'static Table,
    pub(crate) source: Arc<Source>,
}

/// `trace('a.db')`: the ops of one trace.
pub(crate) struct OpsOfTrace {
    pub(crate) source: Arc<Source>,
}

impl TableFunction for TableOfTraces {
    fn name(&self) -> &str {
        self.table.name
    }

    fn named_parameters(&self) -> &[&str] {
        &["trace"]
    }

    fn bind(&self, call: &Call) -> Result<Box<dyn Bound>, String> {
        let named = call.named.iter().find(|(name, _)| name == "trace");
        BoundTable::bind(self.table, &self.source, named.map(|(_, value)| value.as_str()))
    }
}

impl TableFunction for OpsOfTrace {
    fn name(&self) -> &str {
        "trace"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn bind(&self, call: &Call) -> Result<Box<dyn Bound>, String> {
        let table = tables::find("ops").ok_or("there is no table ops")?;
        let name =
            call.parameters.first().and_then(Option::as_deref).ok_or("trace() needs the name of a trace")?;
        BoundTable::bind(table, &self.source, Some(name))
    }
}

/// A table of all traces, or of one.
struct BoundTable {
    table: &'static Table,
    source: Arc<Source>,
    position: Option<usize>,
}

impl BoundTable {
    fn bind(
        table: &'static Table,
        source: &Arc<Source>,
        name: Option<&str>,
    ) -> Result<Box<dyn Bound>, String> {
        let position = name.map(|name| source.find(name).ok_or_else(|| unknown(source, name))).transpose()?;
        source.want(table.needs);
        Ok(Box::new(Self { table, source: Arc::clone(source), position }))
    }
}

fn unknown(source: &Source, name: &str) -> String {
    let mut labels = source.labels();
    labels.truncate(5);
    format!("{name} was not named on the command line; there are {}", labels.join(", "))
}

impl Bound for BoundTable {
    fn columns(&self) -> Vec<(String, Type)> {
        self.table.columns.iter().map(|column| (column.name.to_owned(), vector::kind(column.kind))).collect()
    }

    fn estimate(&self) -> Option<u64> {
        let ops = ["ops", "dispatches", "api_calls", "operators"];
        ops.contains(&self.table.name).then(|| self.source.estimated_ops())
    }

    fn scan(&self, columns: &[usize]) -> Result<Box<dyn Scan>, String> {
        let needs =
            |&column: &usize| self.table.columns.get(column).map_or(Select::ops(), |column| column.needs);
        let select = columns.iter().map(needs).fold(self.table.needs, Select::union);
        let traces = self.source.load(self.position, select).map_err(failure::trace_message)?;
        Ok(Box::new(TableScan::new(self.table, columns.to_vec(), traces)))
    }
}

/// A scan of some columns, a chunk at a time; a chunk has rows of one trace.
struct TableScan {
    table: &'static Table,
    columns: Vec<usize>,
    /// Each trace with its rows and the number of its first chunk.
    parts: Vec<(Arc<Trace>, usize, usize)>,
    chunks: usize,
    next: AtomicUsize,
}

impl TableScan {
    fn new(table: &'static Table, columns: Vec<usize>, traces: Vec<Arc<Trace>>) -> Self {
        let mut chunks = 0;
        let mut parts = Vec::with_capacity(traces.len());
        for trace in traces {
            let rows = table.rows(&trace.loaded);
            if rows > 0 {
                parts.push((trace, rows, chunks));
                chunks += rows.div_ceil(CHUNK);
            }
        }
        Self { table, columns, parts, chunks, next: AtomicUsize::new(0) }
    }

    /// The rows of a chunk.
    fn rows(&self, chunk: usize) -> Option<(&Trace, Range<usize>)> {
        let part = self.parts.partition_point(|(.., first)| *first <= chunk).checked_sub(1)?;
        let (trace, rows, first) = &self.parts[part];
        let start = (chunk - first) * CHUNK;
        (start < *rows).then(|| (&**trace, start..(start + CHUNK).min(*rows)))
    }
}

impl Scan for TableScan {
    fn threads(&self) -> usize {
        self.chunks / CHUNKS_OF_THREAD
    }

    fn next(&self, out: &mut Chunk<'_>) -> Result<(), String> {
        let chunk = self.next.fetch_add(1, Ordering::Relaxed);
        let Some((trace, rows)) = self.rows(chunk) else {
            out.set_len(0);
            return Ok(());
        };
        vector::fill(out, self.table, &self.columns, (&trace.loaded, &trace.dictionaries), rows);
        Ok(())
    }
}
