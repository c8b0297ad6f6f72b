"""Questions about data sets: their SQL, the files that they read, and the command line of the programs that answer them.

A question is one statement, which DuckDB and Spark take as it is. Sums of integers are exact, so the engines agree to the ns.
"""

import argparse
import glob
import json
import math
import os

#: Width of a bucket of the histogram of durations. The middle of a bucket is at most 0.5 % from what is in it.
GAMMA = 1.01

#: Percentiles, as shares of 100.
PERCENTS = (50, 99)

#: By question: the table with the sums, and the columns that group its rows.
GROUPED = {
    "kernels": ("kernel_stats", ("name",)),
    "categories": ("kernel_stats", ("category",)),
    "gpus": ("kernel_stats", ("rank", "gpu")),
    "ranks": ("kernel_stats", ("rank",)),
    "idle": ("idle_stats", ("cause",)),
}

QUESTIONS = (*GROUPED, "stragglers", "percentiles", "diff")

#: The columns of each table that a question may read.
COLUMNS = {
    "kernel_stats": "job string, run string, rank bigint, name string, category string, gpu bigint, "
    "count bigint, timed bigint, duration bigint",
    "idle_stats": "job string, run string, rank bigint, cause string, gpu bigint, "
    "count bigint, timed bigint, duration bigint",
    "dispatches": "job string, run string, rank bigint, name string, category string, gpu bigint, duration bigint",
}

# Collectives end together: the rank that arrives last spends the least time in them.
_STRAGGLERS = """with totals as (
    select job, run, rank,
        cast(sum(case when category = 'collective' then 0 else {duration} end) as bigint) as work_ns,
        cast(sum(case when category = 'collective' then {duration} else 0 end) as bigint) as collective_ns
    from {table} where {condition} group by job, run, rank
)
select run, rank, work_ns, collective_ns, max(collective_ns) over (partition by job, run) - collective_ns as less_ns
from totals order by less_ns desc, run, rank nulls last"""

_PERCENTILES = """with buckets as (
    select name, case when duration > 0 then cast(ceil(ln(duration) / ln({gamma})) as bigint) else -1 end as bucket,
        count(*) as calls
    from dispatches where duration is not null and {condition} group by 1, 2
), running as (
    select name, bucket, sum(calls) over (partition by name order by bucket) as upto, sum(calls) over (partition by name) as calls
    from buckets
), places as (
    select name, cast(max(calls) as bigint) as calls,
        min(case when upto * 100 >= calls * {low} then bucket end) as low,
        min(case when upto * 100 >= calls * {high} then bucket end) as high
    from running group by name
)
select name, calls,
    case when low < 0 then 0 else cast(round(2 * power({gamma}, low) / ({gamma} + 1)) as bigint) end as p{low}_ns,
    case when high < 0 then 0 else cast(round(2 * power({gamma}, high) / ({gamma} + 1)) as bigint) end as p{high}_ns
from places order by p{high}_ns desc, name nulls last"""

_DIFF = """with totals as (
    select name, cast(sum(case when run = {before} then {duration} else 0 end) as bigint) as before_ns,
        cast(sum(case when run = {after} then {duration} else 0 end) as bigint) as after_ns
    from {table} where {condition} group by name
)
select name, before_ns, after_ns, after_ns - before_ns as change_ns from totals order by abs(after_ns - before_ns) desc, name nulls last"""


def table(question, is_scan):
    """The table that a question reads."""
    name = GROUPED.get(question, ["kernel_stats"])[0]
    return "dispatches" if question == "percentiles" or is_scan and name == "kernel_stats" else name


def query(question, is_scan=False, runs=()):
    """The statement of a question, for the tables of a data set. `runs` are all if there are none."""
    source = table(question, is_scan)
    # Letters of names of runs are those of file names, so none ends a text.
    texts = [f"'{run}'" for run in runs]
    condition = f"run in ({', '.join(texts)})" if runs else "true"
    common = {"table": source, "condition": condition, "duration": "coalesce(duration, 0)"}
    if question == "stragglers":
        return _STRAGGLERS.format(**common)
    if question == "percentiles":
        return _PERCENTILES.format(gamma=f"{GAMMA}e0", low=PERCENTS[0], high=PERCENTS[1], **common)
    if question == "diff":
        return _DIFF.format(before=texts[0], after=texts[1], **common)
    by = GROUPED[question][1]
    if source == "dispatches":
        numbers = "count(*) as calls, count(duration) as timed_calls, "
    else:
        numbers = "cast(sum(count) as bigint) as calls, cast(sum(timed) as bigint) as timed_calls, "
    order = ", ".join(f"{name} nulls last" for name in by)
    return (
        f"select {', '.join(by)}, {numbers}cast(sum(coalesce(duration, 0)) as bigint) as total_ns\n"
        f"from {source} where {condition} group by {', '.join(by)} order by total_ns desc, {order}"
    )


def manifests(folder):
    """The complete runs: their folders and manifests."""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "job=*", "run=*", "_manifest.json"))):
        with open(path, encoding="utf-8") as text:
            yield os.path.dirname(path), json.load(text)


def files(folder, source, runs=()):
    """The files of a table, of all complete runs or of these: paths with the values that their folders state."""
    found = []
    for place, run in manifests(folder):
        if runs and run["run"] not in runs:
            continue
        for path in sorted(glob.glob(os.path.join(glob.escape(place), "kind=" + source, "bucket=*", "*.parquet"))):
            found.append((path, {"job": run["job"], "run": run["run"]}))
    return found


def bucket_middle(bucket):
    """The duration in ns that stands for those of a bucket."""
    return math.floor(2 * GAMMA**bucket / (GAMMA + 1) + 0.5) if bucket >= 0 else 0


def arguments(program, description, words=None):
    """The words of a command line. Ends the process where they ask for a run that is not there."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("folder", help="the data set")
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("runs", nargs="*", help="runs, instead of all; of diff the one before and the one after")
    parser.add_argument("--address", help="the scheduler of a cluster, instead of workers on this machine")
    parser.add_argument("--workers", type=int, default=2, help="workers on this machine")
    parser.add_argument("--scan", action="store_true", help="read dispatches where sums of them are stored")
    parser.add_argument("--sql", action="store_true", help="print the statement for rtl-sql, and stop")
    options = parser.parse_args(words)
    if options.question == "diff" and len(options.runs) != 2:
        parser.error("diff needs two runs")
    known = {run["run"] for _, run in manifests(options.folder)}
    missing = [run for run in options.runs if run not in known]
    if missing or not known:
        parser.error(f"{options.folder} has no complete run{''.join(f' {run}' for run in missing[:1])}")
    for place, run in manifests(options.folder):
        is_read = not options.runs or run["run"] in options.runs
        if is_read and any("width" not in table for table in run["tables"].values()):
            parser.error(f"a run in an older layout (its tables have no width), to be added again: {place}")
    return options


def show(rows):
    """Prints each row as one line of JSON."""
    for row in rows:
        print(json.dumps(list(row)))
