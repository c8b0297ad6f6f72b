"""Traces: their tables, and what the tools say of them."""

import builtins
import html
import json
import os
import re
import tempfile
import warnings

from . import _native
from ._error import Error

# The height of a page in a notebook.
_HEIGHT = 640

# The exit code of a tool of which an input cannot be read.
_UNREADABLE = 3

# What a message of a tool begins with.
_WORDS = re.compile("^rtl: (error|warning): ")


def open(*paths):
    """Opens a trace of any recorder; of several paths, the ranks of one job.

    Raises `rtl.Error` where a file is no trace. Tables are read when they are used.
    """
    return Trace(*paths)


def diff(baseline, candidate, **flags):
    """What rtl-diff finds between runs: a dictionary of the form `rtl-diff/1`.

    Each side is a path, a trace, or a list of them: repeated runs, or the ranks of one. `flags` are those of rtl-diff, such
    as `gate=True` or `max_kernel="5%"`. A gate that fails is no error: see `verdict`.
    """
    return Diff(_paths(baseline), _paths(candidate), flags)


class Trace:
    """A trace, or those of all ranks of a job."""

    def __init__(self, *paths):
        self.paths = _paths(paths)
        self._source = _native.Source(self.paths)

    @property
    def tables(self):
        """The names of all tables."""
        return self._source.tables()

    def table(self, name, columns=None):
        """A table as a stream of Arrow; `columns` names those to read, which costs less than all."""
        return self._source.table(name, None if columns is None else list(columns))

    def polars(self, name, columns=None):
        """A table as a `polars.LazyFrame`, of which a query reads only the parts that its columns need.

        Raises `rtl.Error` where polars is not installed, or is older than 1.34.
        """
        polars, lazy_frame = _import_polars()

        def read(wanted, predicate, rows, _batch_size):
            frame = polars.DataFrame(self.table(name, columns if wanted is None else wanted))
            # Polars gives no number of rows together with a predicate that comes before it.
            frame = frame if rows is None else frame.head(rows)
            yield frame if predicate is None else frame.filter(predicate)

        return lazy_frame(read, schema=polars.Schema(self.table(name, columns)), is_pure=True)

    def summary(self, **flags):
        """What rtl-summary says: a dictionary of the form `rtl-summary/1`.

        `flags` are those of rtl-summary, such as `kernel="gemm"`, `by="gpu"` or `from_="2s"`.
        """
        return json.loads(self._call("rtl-summary", flags, "--to=json"))

    def kernels(self, **flags):
        """A row for each kernel."""
        return Rows(self._section("kernels", flags)["kernels"])

    def gpus(self, **flags):
        """A row for each GPU."""
        return Rows(self._section("gpus", flags)["gpus"])

    def gaps(self, **flags):
        """A row for each of the longest gaps of GPUs."""
        return Rows(self._section("gaps", flags)["longest_gaps"])

    def operators(self, **flags):
        """A row for each operator of a framework; none in a trace without operators."""
        operators = self._section("operators", flags)["operators"]
        return Rows(operators["groups"] if operators else [])

    def findings(self, **flags):
        """A row for each finding: where GPU time is lost, and why."""
        return Rows(self._section("findings", flags)["findings"])

    def report(self, **flags):
        """The page of rtl-report, as HTML. `flags` are those of rtl-report, such as `baseline="before.db"`."""
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "report.html")
            self._call("rtl-report", flags, f"--output={page}")
            if not os.path.exists(page):
                raise Error("no trace can be read")
            with builtins.open(page, encoding="utf-8") as file:
                return file.read()

    def _section(self, name, flags):
        return self.summary(section=name, **flags)

    def _call(self, tool, flags, *own):
        return _call([tool, *own, *_flags(flags), "--", *self.paths])

    def _repr_html_(self):
        return _frame(self.report())

    def __repr__(self):
        return f"rtl.open({', '.join(map(repr, self.paths))})"


class Rows(list):
    """Rows of a small table as dictionaries, of which polars and pandas make dataframes.

    Values that are tables of their own are texts of JSON in a dataframe: see `flat`.
    """

    def flat(self):
        """The same rows with what is nested in them as JSON."""
        return [
            {name: json.dumps(value) if isinstance(value, (dict, list)) else value for name, value in row.items()}
            for row in self
        ]

    def _repr_html_(self):
        names = list(dict.fromkeys(name for row in self for name in row))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        cell = lambda value: "" if value is None else html.escape(str(value))
        body = "".join(
            "<tr>" + "".join(f"<td>{cell(row.get(name))}</td>" for name in names) + "</tr>" for row in self.flat()
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Diff(dict):
    """A comparison."""

    def __init__(self, baseline, candidate, flags):
        self._sides = [f"--baseline={path}" for path in baseline] + [f"--candidate={path}" for path in candidate]
        self._flags = _flags(flags)
        super().__init__(json.loads(self._call("--to=json")))

    def kernels(self):
        """A row for each kernel."""
        return Rows(self["kernels"])

    def report(self):
        """The page of rtl-diff, as HTML."""
        return self._call("--to=html", quiet=True)

    def _call(self, *own, quiet=False):
        return _call(["rtl-diff", *own, *self._flags, *self._sides], quiet)

    def _repr_html_(self):
        return _frame(self.report())





def _import_polars():
    """The module, and its function that makes a lazy frame of a source."""
    try:
        import polars
        from polars.io.plugins import register_io_source
    except ImportError as error:
        raise Error(f"polars cannot be imported: {error}", "python3 -m pip install 'polars>=1.34'") from None
    if not hasattr(polars.Schema, "__arrow_c_schema__"):
        raise Error(f"polars {polars.__version__} is older than 1.34", "python3 -m pip install 'polars>=1.34'")
    return polars, register_io_source


def _paths(paths):
    """The paths of a path, a trace, or several of both."""
    if isinstance(paths, Trace):
        return list(paths.paths)
    if isinstance(paths, (str, os.PathLike)):
        return [os.fspath(paths)]
    return [path for part in paths for path in _paths(part)]


# Keywords that are a value of a flag.
_WORDS_OF = {
    "--from": "--time={}..",
    "--to": "--time=..{}",
    "--trim-idle": "--time=active",
    "--steady": "--time=steady",
    "--style": "--to={}",
    "--format": "--to={}",
    "--no-mix": "--by=name-only",
    "--allow-incomparable": "--allow=incomparable",
    "--allow-no-baseline": "--allow=no-baseline",
}


def _flags(flags):
    """The flags of a command line: `max_kernel="5%"` is `--max-kernel=5%`, and `from_` is the start of `--time`."""
    line = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value and flag in _WORDS_OF:
            line.append(_WORDS_OF[flag].format(value))
            continue
        values = value if isinstance(value, (list, tuple)) else [value]
        for value in values:
            if value is True:
                line.append(flag)
            elif value is not None and value is not False:
                line.append(f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return line


def _call(line, quiet=False):
    """The report of a tool. Its warnings become warnings of Python, and so do errors about one of several traces."""
    code, report, messages = _native.call(line)
    if code == _UNREADABLE and not report and line[0] != "rtl-report":
        raise _failure(messages)
    for message in [] if quiet else messages.splitlines():
        warnings.warn(_WORDS.sub("", message), stacklevel=4)
    return report


def _failure(messages):
    """The error that messages end with."""
    errors = [line for line in messages.splitlines() if not line.startswith("hint: ")]
    hints = [line[len("hint: ") :] for line in messages.splitlines() if line.startswith("hint: ")]
    return Error(_WORDS.sub("", errors[-1]) if errors else "no trace can be read", hints[-1] if hints else None)


def _frame(page):
    """A page within a notebook, kept apart from it."""
    content = html.escape(page, quote=True)
    return (
        f'<iframe srcdoc="{content}" sandbox="allow-scripts" '
        f'style="width: 100%; height: {_HEIGHT}px; border: 0"></iframe>'
    )
