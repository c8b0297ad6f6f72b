"""Traces of GPUs: tables for dataframes, the results of the tools, and control of a recording.

>>> import rtl
>>> trace = rtl.open("trace.db")
>>> dispatches = trace.polars("dispatches")  # a LazyFrame
>>> dispatches = trace.table("dispatches")   # polars, pandas, pyarrow and DuckDB take it
>>> kernels = trace.kernels()                # what rtl-summary says of kernels
"""

from ._error import Error
from ._native import VERSION as __version__
from ._native import Table
from ._record import Recording, mark, range, trace
from ._trace import Diff, Rows, Trace, diff, open

__all__ = [
    "Diff",
    "Error",
    "Recording",
    "Rows",
    "Table",
    "Trace",
    "__version__",
    "diff",
    "mark",
    "open",
    "range",
    "trace",
]
