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
        assert trace.polars(name).collect().equals(polars.DataFrame(table)), name
        assert duckdb.sql("select * from rows_of_table").fetchall() == [tuple(row.values()) for row in expected], name
        frame = pandas.DataFrame.from_arrow(table)
        assert list(frame.columns) == arrow.column_names and len(frame) == arrow.num_rows, name
        assert arrow.to_pandas().shape == frame.shape, name
    assert rows > 100, f"{rows} rows in {path}"
    kernels = polars.DataFrame(trace.table("dispatches", ["name", "duration"]))
    assert kernels["duration"].sum() == sum(row["total_ns"] for row in trace.kernels()), path
    assert kernels["name"].n_unique() == len(trace.kernels()), path
    # A query reads the columns that it uses, and polars may push its conditions and slices into the reading.
    lazy, whole = trace.polars("dispatches"), polars.DataFrame(trace.table("dispatches"))
    for query in (
        lambda frame: frame.select("name", "duration"),
        lambda frame: frame.filter(polars.col("gpu") == whole["gpu"][0]).select("start"),
        lambda frame: frame.filter(polars.col("duration") > 1000).head(5),
        lambda frame: frame.head(50).filter(polars.col("duration") > 1000),
        lambda frame: frame.tail(7).select("stop"),
        lambda frame: frame.select(polars.len()),
    ):
        assert query(lazy).collect().equals(query(whole)), path
    assert trace.polars("ops", ["kind", "name"]).collect_schema().names() == ["kind", "name"]
    try:
        trace.polars("dispatchs")
    except rtl.Error as error:
        assert error.args[0] == "no such table: dispatchs"
    else:
        raise AssertionError("a table that does not exist")
print("tables:", len(trace.tables))
