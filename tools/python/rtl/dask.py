"""Questions about data sets, answered by the workers of Dask: ``python3 -m rtl.dask FOLDER QUESTION``.

A worker reads the columns that a question needs of one large file, or of up to 64 small ones, and adds them up by group. Sums of
parts are added up on the workers, too, sixteen at a time; the rows of the answer reach this process and nothing else does. Workers
need Dask and pyarrow alone: they get the functions of this file by value.
"""

import math
import os
import sys

from . import _questions as questions

#: Parts that one task adds up.
_PARTS = 16

#: Files that one task reads, unless they have more bytes.
_FILES, _BYTES = 64, 8 << 20


def batches(files):
    """Files in groups for one task each, so that many small ones take few tasks."""
    batch, size = [], 0
    for file in files:
        more = os.path.getsize(file[0])
        if batch and (len(batch) == _FILES or size + more > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += more
    if batch:
        yield batch


def _read(paths, columns):
    import pyarrow
    import pyarrow.parquet

    rows = [pyarrow.parquet.ParquetFile(path).read(columns=columns) for path in paths]
    return pyarrow.concat_tables(rows, promote_options="default")


def sums(files, by, is_scan):
    """Rows, rows with a duration, and the sum of durations by group, of some files."""
    stated = [name for name in by if name in files[0][1]]
    columns = [name for name in by if name not in stated]
    numbers = ["duration"] if is_scan else ["count", "timed", "duration"]
    if is_scan:
        wanted = [([], "count_all"), ("duration", "count"), ("duration", "sum")]
        named = ["count_all", "duration_count", "duration_sum"]
    else:
        wanted = [(name, "sum") for name in numbers]
        named = [name + "_sum" for name in numbers]
    # Files of one run are added up at once.
    alike = {}
    for path, values in files:
        alike.setdefault(tuple(values[name] for name in stated), []).append(path)
    found = {}
    for values, paths in alike.items():
        rows = _read(paths, columns + numbers)
        if not columns:
            rows = rows.append_column("all", [[0] * len(rows)] if len(rows) else [[]])
        known = dict(zip(stated, values))
        for row in rows.group_by(columns or ["all"]).aggregate(wanted).to_pylist():
            key = tuple(known[name] if name in known else row[name] for name in by)
            found[key] = [row[name] or 0 for name in named]
    return found


def histogram(files, gamma):
    """The number of dispatches of each kernel and bucket of durations, of some files."""
    import pyarrow
    import pyarrow.compute as compute

    rows = _read([path for path, _ in files], ["name", "duration"])
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


def _batches(folder, source, runs):
    return list(batches(questions.files(folder, source, runs)))


def _totals(client, folder, source, by, is_scan, runs):
    parts = client.map(sums, _batches(folder, source, runs), by=by, is_scan=is_scan)
    return _whole(client, parts).result()


def _order(values):
    return [(value is None, value if value is not None else 0) for value in values]


def answer(client, folder, question, is_scan=False, runs=()):
    """The rows of a question; their columns are those of the statement of `--sql`."""
    source = questions.table(question, is_scan)
    is_scan = source == "dispatches"
    if question == "percentiles":
        parts = client.map(histogram, _batches(folder, source, runs), gamma=questions.GAMMA)
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
