//! The native half of the Python package `rtl`; the half for people is in `rtl/`.
//!
//! `call` runs a tool with the arguments of its command line and returns its report. `Source` opens traces, and a `Table` of it
//! is a stream of Arrow. Nothing holds Python's lock while a trace is read.

mod rows;
mod source;
mod texts;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::{Schema, Stream};
use cli::{Called, Failure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use rtl_schema::Select;

use crate::rows::Rows;
use crate::source::Source;

/// A tool as a function: its report, its messages, and whether it succeeded.
fn called(tool: &str, line: Vec<OsString>) -> Option<Called> {
    Some(match tool {
        "rtl-summary" => cli::call(line, rtl_summary::run),
        "rtl-diff" => cli::call(line, rtl_diff::run),
        "rtl-report" => cli::call(line, rtl_report::run),
        _ => return None,
    })
}

/// `rtl.Error`, with the hint of the failure.
fn raised(py: Python<'_>, failure: &Failure) -> PyErr {
    let error = || py.import("rtl._error")?.getattr("Error")?.call1((failure.message(), failure.hint()));
    error().map_or_else(|error| error, PyErr::from_value)
}

/// The error of a name that does not exist, with a similar one as hint.
fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Failure {
    let hint = match cli::similar(name, names.clone()) {
        Some(similar) => format!("a similar name exists: '{similar}'"),
        None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("no such {what}: {name}")).with_hint(hint)
}

#[pyclass(frozen, name = "Source", module = "rtl._native")]
struct PySource(Arc<Source>);

#[pymethods]
impl PySource {
    #[new]
    fn open(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Self> {
        let opened = py.detach(|| {
            let (paths, _) = cli::without_repetitions(&paths);
            Source::open(&paths)
        });
        opened.map(|source| Self(Arc::new(source))).map_err(|error| raised(py, &error.into()))
    }

    /// The names of all tables.
    #[staticmethod]
    fn tables() -> Vec<&'static str> {
        tables::all().iter().map(|table| table.name).collect()
    }

    #[pyo3(signature = (name, columns=None))]
    fn table(&self, py: Python<'_>, name: &str, columns: Option<Vec<String>>) -> PyResult<Table> {
        let found = tables::find(name).ok_or_else(|| {
            raised(py, &unknown("table", name, tables::all().iter().map(|table| table.name)))
        })?;
        let all = found.columns.iter().map(|column| column.name);
        let place = |name: &String| {
            let place = all.clone().position(|column| column == name);
            place.ok_or_else(|| raised(py, &unknown("column", name, all.clone())))
        };
        let columns = match columns {
            Some(names) => names.iter().map(place).collect::<PyResult<_>>()?,
            None => (0..found.columns.len()).collect(),
        };
        Ok(Table { source: Arc::clone(&self.0), table: found, columns })
    }
}

/// A table of traces: anything that takes streams of Arrow takes it, such as `polars.DataFrame(table)`.
#[pyclass(frozen, module = "rtl")]
struct Table {
    source: Arc<Source>,
    table: &'static tables::Table,
    columns: Vec<usize>,
}

#[pymethods]
impl Table {
    #[getter]
    fn name(&self) -> &'static str {
        self.table.name
    }

    /// One line on its rows.
    #[getter]
    fn about(&self) -> &'static str {
        self.table.about
    }

    /// The names of its columns, each with one line on its values.
    #[getter]
    fn columns(&self) -> Vec<(&'static str, &'static str)> {
        let column = |&column: &usize| (self.table.columns[column].name, self.table.columns[column].about);
        self.columns.iter().map(column).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = Schema::new(&rows::fields(self.table, &self.columns));
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Reads what the columns need, and gives the rows. A requested schema is not followed, as the interface permits.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = py.detach(|| {
            let needs = |&column: &usize| self.table.columns[column].needs;
            let select = self.columns.iter().map(needs).fold(self.table.needs, Select::union);
            let traces = self.source.load(select)?;
            Ok(Stream::new(Box::new(Rows::new(self.table, self.columns.clone(), traces))))
        });
        let stream = stream.map_err(|error: rtl_schema::Error| raised(py, &error.into()))?;
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __repr__(&self) -> String {
        format!("<rtl.Table {}: {}>", self.table.name, self.table.about)
    }
}

/// Runs a tool. Its exit code, its report and its messages.
#[pyfunction]
fn call(py: Python<'_>, line: Vec<OsString>) -> PyResult<(u8, String, String)> {
    let tool = line.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let called = py.detach(|| called(&tool, line)).ok_or_else(|| PyValueError::new_err(tool))?;
    match called.result {
        Ok(exit) => Ok((exit.code(), called.report, called.messages)),
        Err(failure) => Err(raised(py, &failure)),
    }
}

/// The module that the Python half imports as `rtl._native`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::{PySource, Table, call};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
