"""Every question about a data set, answered by two workers of an engine and compared with rtl-sql and rtl-summary.

engines.py ENGINE PROGRAMS SET RUN=TRACE...: PROGRAMS is the folder of rtl-sql and rtl-summary, and the traces are those of the runs.
"""

import json
import subprocess
import sys
import tempfile
import time


def dask():
    """The module of questions, a function that answers one, and a function that stops the workers."""
    from dask.distributed import Client
    from rtl import _questions, dask

    sizes = lambda paths: [len(batch) for batch in dask.batches([(path, {}) for path in paths])]
    assert sizes([__file__] * 130) == [64, 64, 2]
    with tempfile.NamedTemporaryFile() as large:
        large.truncate(1 << 30)
        assert sizes([__file__, large.name, large.name, __file__]) == [1, 1, 1, 1]
    client = Client(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    workers = client.scheduler_info(n_workers=-1)["workers"]
    assert len(workers) == 2, workers
    return _questions, lambda *question: dask.answer(client, *question), client.close


def spark():
    """As `dask`, under spark-submit with the files of the package as --py-files."""
    import _questions
    import spark

    session = spark.session()
    # The driver has an entry, too. A worker's program starts in its own time.
    workers = lambda: session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    deadline = time.monotonic() + 300
    while workers() < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert workers() == 2, workers()
    return _questions, lambda *question: spark.answer(session, *question), session.stop


def document(program, *words):
    command = [program, *words, "--to", "json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def check(engine, programs, folder, traces):
    questions, answer, stop = {"dask": dask, "spark": spark}[engine]()

    def same(path, asked, *of):
        """rtl-sql has the same rows for a statement."""
        found = [list(row) for row in answer(folder, *asked)]
        expected = [list(row.values()) for row in document(f"{programs}/rtl-sql", path, questions.query(*of))["rows"]]
        assert expected, asked
        differences = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
        assert found == expected, (asked, differences[:3], len(found), len(expected))

    runs = list(traces)
    # On the same data set.
    asked = [(question, False, ()) for question in questions.QUESTIONS if question != "diff"]
    asked += [("diff", False, runs[:2]), ("diff", True, runs[:2]), ("stragglers", True, runs[:1]), ("percentiles", False, runs[1:])]
    for question in asked:
        same(folder, question, *question)
    for run, trace in traces.items():
        # rtl-sql on the trace shares no file with the data set, and rtl-summary no statement.
        for question in questions.GROUPED:
            if question != "idle":
                same(trace, (question, False, [run]), question, True)
                same(trace, (question, True, [run]), question, True)
        summary = document(f"{programs}/rtl-summary", trace, "--section", "kernels,idle", "--top", "all")
        kernels = {row["name"]: row for row in summary["kernels"]}
        expected = {name: (row["calls"], row["total_ns"]) for name, row in kernels.items()}
        found = {name: (timed, total) for name, _, timed, total in answer(folder, "kernels", False, [run])}
        assert found == expected, (run, set(found.items()) ^ set(expected.items()))
        causes = {}
        for gpu in summary["idle"]:
            for cause in gpu["causes"]:
                causes[cause["cause"]] = causes.get(cause["cause"], 0) + cause["idle_ns"]
        found = {row[0]: row[-1] for row in answer(folder, "idle", False, [run]) if row[-1]}
        assert found == causes, (run, found, causes)
        for name, calls, *found in answer(folder, "percentiles", False, [run]):
            exact = [kernels[name][f"p{percent}_ns"] for percent in questions.PERCENTS]
            assert calls == kernels[name]["calls"], (run, name)
            # 0.5 %, in whole ns.
            assert all(abs(one - other) <= 0.005 * other + 0.5 for one, other in zip(found, exact)), (run, name, found, exact)
        print(f"{run}: {len(kernels)} kernels and {len(causes)} causes")
    stop()


if __name__ == "__main__":
    check(*sys.argv[1:4], dict(run.split("=", 1) for run in sys.argv[4:]))
