"""Questions about data sets, answered by the workers of Dask: ``python3 rtl_dask.py FOLDER QUESTION``.

A worker reads the columns that a question needs of one file and returns sums of groups. They are integers, so sums of parts are
those of the whole. Percentiles come from histograms whose buckets are 1 % wide: each is at most 0.5 % from a recorded duration.
"""

import argparse
import glob
import json
import math
import os
import sys
from collections import defaultdict

#: Width of a bucket of the histogram of durations.
GAMMA = 1.01

#: By question: the table, the columns that group its rows, and the count and sum that are stored, if it is aggregated.
QUESTIONS = {
    "kernels": ("kernel_stats", ["name"]),
    "categories": ("kernel_stats", ["category"]),
    "gpus": ("kernel_stats", ["rank", "gpu"]),
    "ranks": ("kernel_stats", ["rank"]),
    "idle": ("idle_stats", ["cause"]),
}


def files(folder, table, runs=()):
    """The files of a table, of all complete runs or of these: paths with the values that their folders state."""
    found = []
    for manifest in sorted(glob.glob(os.path.join(glob.escape(folder), "job=*", "run=*", "_manifest.json"))):
        with open(manifest, encoding="utf-8") as text:
            run = json.load(text)
        if runs and run["run"] not in runs:
            continue
        pattern = os.path.join(glob.escape(os.path.dirname(manifest)), "kind=" + table, "rank=*", "*.parquet")
        for path in sorted(glob.glob(pattern)):
            rank = os.path.basename(os.path.dirname(path))[len("rank=") :]
            rank = None if rank.startswith("__HIVE") else int(rank)
            found.append((path, {"job": run["job"], "run": run["run"], "rank": rank}))
    return found


def sums(file, by, is_scan):
    """Rows, rows with a duration, and the sum of durations by group, of one file."""
    import pyarrow.parquet

    path, stated = file
    columns = [name for name in by if name not in stated]
    numbers = ["duration"] if is_scan else ["count", "timed", "duration"]
    rows = pyarrow.parquet.ParquetFile(path).read(columns=columns + numbers)
    if is_scan:
        wanted = [([], "count_all"), ("duration", "count"), ("duration", "sum")]
        named = ["count_all", "duration_count", "duration_sum"]
    else:
        wanted = [(name, "sum") for name in numbers]
        named = [name + "_sum" for name in numbers]
    if not columns:
        rows = rows.append_column("all", [[0] * len(rows)] if len(rows) else [[]])
    groups = rows.group_by(columns or ["all"]).aggregate(wanted).to_pylist()
    keys = (tuple(stated[name] if name in stated else row[name] for name in by) for row in groups)
    return {key: [row[name] or 0 for name in named] for key, row in zip(keys, groups)}


def histogram(file):
    """The histogram of the durations of each kernel, of one file."""
    import pyarrow.parquet

    counts = defaultdict(int)
    rows = pyarrow.parquet.ParquetFile(file[0]).read(columns=["name", "duration"])
    for row in rows.group_by(["name", "duration"]).aggregate([([], "count_all")]).to_pylist():
        if row["duration"] is not None:
            counts[row["name"], bucket(row["duration"])] += row["count_all"]
    return dict(counts)


def bucket(duration):
    return math.ceil(math.log(duration, GAMMA)) if duration > 0 else -1


def middle(place):
    return 2 * GAMMA**place / (GAMMA + 1) if place >= 0 else 0


def added(parts):
    """The sums of parts."""
    whole = {}
    for part in parts:
        for key, values in part.items():
            known = whole.setdefault(key, [0] * len(values))
            whole[key] = [one + other for one, other in zip(known, values)]
    return whole


def answer(client, folder, question, is_scan=False, runs=()):
    """Rows of a question: the group, then rows, rows with a duration and ns, by falling time."""
    table, by = QUESTIONS[question]
    if is_scan and table == "kernel_stats":
        table = "dispatches"
    else:
        is_scan = False
    parts = files(folder, table, runs)
    whole = added(client.gather(client.map(sums, parts, by=by, is_scan=is_scan)))
    return sorted(([*key, *values] for key, values in whole.items()), key=lambda row: (-row[-1], str(row)))


def compared(client, folder, before, after):
    """Kernels of two runs: name, ns before, ns after, difference, by falling difference."""
    one, other = (
        {row[0]: row[-1] for row in answer(client, folder, "kernels", runs=[run])} for run in (before, after)
    )
    rows = [[name, one.get(name, 0), other.get(name, 0)] for name in one.keys() | other.keys()]
    return sorted(([*row, row[2] - row[1]] for row in rows), key=lambda row: (-abs(row[3]), row[0]))


def percentiles(client, folder, runs=()):
    """Kernels with the median and the 99th percentile of their durations in ns, each within 0.5 %."""
    parts = files(folder, "dispatches", runs)
    whole = defaultdict(lambda: defaultdict(int))
    for part in client.gather(client.map(histogram, parts)):
        for (name, place), count in part.items():
            whole[name][place] += count

    def at(counts, share):
        left = max(1, math.ceil(share * sum(counts.values())))
        for place in sorted(counts):
            left -= counts[place]
            if left <= 0:
                return round(middle(place))
        return 0

    rows = [[name, sum(counts.values()), at(counts, 0.5), at(counts, 0.99)] for name, counts in whole.items()]
    return sorted(rows, key=lambda row: (-row[3], row[0]))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", help="the data set")
    parser.add_argument("question", choices=[*QUESTIONS, "percentiles", "diff"])
    parser.add_argument("runs", nargs="*", help="runs, instead of all; of diff the one before and the one after")
    parser.add_argument("--address", help="the scheduler of a cluster, instead of processes on this machine")
    parser.add_argument("--workers", type=int, default=2, help="processes on this machine")
    parser.add_argument("--scan", action="store_true", help="read dispatches where sums of them are stored")
    options = parser.parse_args(arguments)
    if options.question == "diff" and len(options.runs) != 2:
        parser.error("diff needs two runs")
    if not files(options.folder, "dispatches", options.runs):
        parser.error(f"{options.folder} has no such complete run")
    from dask.distributed import Client

    local = {"n_workers": options.workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with Client(options.address) if options.address else Client(**local) as client:
        if options.question == "diff":
            rows = compared(client, options.folder, *options.runs)
        elif options.question == "percentiles":
            rows = percentiles(client, options.folder, options.runs)
        else:
            rows = answer(client, options.folder, options.question, options.scan, options.runs)
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    sys.exit(main())
