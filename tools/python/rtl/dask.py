"""Questions about data sets, answered by the workers of Dask: ``python3 -m rtl.dask FOLDER QUESTION``.

A worker reads the columns that a question needs of one file and adds them up by group. Sums of parts are added up on the workers,
too, sixteen at a time; the rows of the answer reach this process and nothing else does. Workers need Dask and pyarrow alone: they
get the functions of this file by value.
"""

import math
import sys

from . import _questions as questions

#: Parts that one task adds up.
_PARTS = 16


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


def histogram(file, gamma):
    """The number of dispatches of each kernel and bucket of durations, of one file."""
    import pyarrow
    import pyarrow.compute as compute
    import pyarrow.parquet

    rows = pyarrow.parquet.ParquetFile(file[0]).read(columns=["name", "duration"])
    rows = rows.filter(compute.is_valid(rows["duration"]))
    positive = compute.greater(rows["duration"], 0)
    durations = compute.if_else(positive, rows["duration"], 1).cast(pyarrow.float64())
    buckets = compute.ceil(compute.divide(compute.ln(durations), math.log(gamma))).cast(pyarrow.int64())
    rows = rows.append_column("bucket", compute.if_else(positive, buckets, -1))
    groups = rows.group_by(["name", "bucket"]).aggregate([([], "count_all")]).to_pylist()
    return {(row["name"], row["bucket"]): [row["count_all"]] for row in groups}


def added(parts):
    """The sums of parts."""
    whole = {}
    for part in parts:
        for key, values in part.items():
            known = whole.setdefault(key, [0] * len(values))
            whole[key] = [one + other for one, other in zip(known, values)]
    return whole


def quantiles(counts, percents):
    """Of a histogram: the dispatches of each kernel, and the bucket of each percentile."""
    kernels = {}
    for (name, bucket), (count,) in counts.items():
        kernels.setdefault(name, {})[bucket] = count
    rows = []
    for name, buckets in kernels.items():
        all_calls, upto, found = sum(buckets.values()), 0, {}
        for bucket in sorted(buckets):
            upto += buckets[bucket]
            for percent in percents:
                if upto * 100 >= all_calls * percent:
                    found.setdefault(percent, bucket)
        rows.append([name, all_calls, *(found[percent] for percent in percents)])
    return rows


def _whole(client, parts):
    """The future of the sums of futures of parts."""
    while len(parts) > 1:
        parts = [client.submit(added, parts[place : place + _PARTS]) for place in range(0, len(parts), _PARTS)]
    return parts[0] if parts else client.submit(added, [])


def _totals(client, folder, source, by, is_scan, runs):
    parts = client.map(sums, questions.files(folder, source, runs), by=by, is_scan=is_scan)
    return _whole(client, parts).result()


def _order(values):
    return [(value is None, value if value is not None else 0) for value in values]


def answer(client, folder, question, is_scan=False, runs=()):
    """The rows of a question; their columns are those of the statement of `--sql`."""
    source = questions.table(question, is_scan)
    is_scan = source == "dispatches"
    if question == "percentiles":
        parts = client.map(histogram, questions.files(folder, source, runs), gamma=questions.GAMMA)
        kernels = client.submit(quantiles, _whole(client, parts), questions.PERCENTS).result()
        rows = [[name, calls, *map(questions.bucket_middle, buckets)] for name, calls, *buckets in kernels]
        return sorted(rows, key=lambda row: (-row[-1], _order(row[:1])))
    if question == "diff":
        totals = _totals(client, folder, source, ("name", "run"), is_scan, runs)
        kernels = {}
        for (name, run), values in totals.items():
            kernels.setdefault(name, dict.fromkeys(runs, 0))[run] += values[-1]
        rows = [[name, *(both[run] for run in runs)] for name, both in kernels.items()]
        rows = [[*row, row[2] - row[1]] for row in rows]
        return sorted(rows, key=lambda row: (-abs(row[3]), _order(row[:1])))
    if question == "stragglers":
        return _stragglers(_totals(client, folder, source, ("job", "run", "rank", "category"), is_scan, runs))
    totals = _totals(client, folder, source, questions.GROUPED[question][1], is_scan, runs)
    rows = [[*key, *values] for key, values in totals.items()]
    return sorted(rows, key=lambda row: (-row[-1], _order(row[:-3])))


def _stragglers(totals):
    ranks, most = {}, {}
    for (job, run, rank, category), values in totals.items():
        ranks.setdefault((job, run, rank), [0, 0])[category == "collective"] += values[-1]
    for (job, run, _), (_, collective) in ranks.items():
        most[job, run] = max(most.get((job, run), 0), collective)
    rows = [[run, rank, *values, most[job, run] - values[1]] for (job, run, rank), values in ranks.items()]
    return sorted(rows, key=lambda row: (-row[-1], row[0], _order(row[1:2])))


def main(words=None):
    options = questions.arguments("rtl.dask", __doc__.split(":", 1)[0], words)
    if options.sql:
        print(questions.query(options.question, options.scan, options.runs))
        return
    from dask.distributed import Client

    local = {"n_workers": options.workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with Client(options.address) if options.address else Client(**local) as client:
        rows = answer(client, options.folder, options.question, options.scan, options.runs)
    questions.show(rows)


if __name__ == "__main__":
    sys.exit(main())
