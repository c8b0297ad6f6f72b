"""Every table of traces, as each library takes it: tables.py TRACE[,TRACE...]..."""

import sys

import duckdb
import pandas
import polars
import pyarrow

import rtl

for path in sys.argv[1:]:
    trace = rtl.open(*path.split(","))
    rows = 0
    for name in trace.tables:
        table = rows_of_table = trace.table(name)
        arrow = pyarrow.table(table)
        arrow.validate(full=True)
        rows += arrow.num_rows
        expected = arrow.to_pylist()
        assert polars.DataFrame(table).cast({polars.Categorical: polars.String}).rows(named=True) == expected, name
        assert duckdb.sql("select * from rows_of_table").fetchall() == [tuple(row.values()) for row in expected], name
        frame = pandas.DataFrame.from_arrow(table)
        assert list(frame.columns) == arrow.column_names and len(frame) == arrow.num_rows, name
        assert arrow.to_pandas().shape == frame.shape, name
    assert rows > 100, f"{rows} rows in {path}"
    kernels = polars.DataFrame(trace.table("dispatches", ["name", "duration"]))
    assert kernels["duration"].sum() == sum(row["total_ns"] for row in trace.kernels()), path
    assert kernels["name"].n_unique() == len(trace.kernels()), path
print("tables:", len(trace.tables))
