"""Every library reads all runs of a data set by one path, as rtl-sql does: one_path.py PROGRAMS SET."""

import glob
import json
import subprocess
import sys

import dask.dataframe
import duckdb
import pandas
import polars
import pyarrow.dataset
import pyarrow.parquet

programs, folder = sys.argv[1:]
pattern = folder + "/job=*/run=*/kind=kernel_stats/*/*.parquet"
query = "select run, rank, sum(duration)::bigint as duration from kernel_stats group by all"
document = subprocess.run([f"{programs}/rtl-sql", folder, query, "--to", "json"], check=True, stdout=subprocess.PIPE)
expected = {(row["run"], row["rank"]): row["duration"] for row in json.loads(document.stdout)["rows"]}


def of_frame(frame):
    sums = frame.groupby(["run", "rank"], dropna=False, observed=True)["duration"].sum()
    return {(run, None if rank != rank else int(rank)): duration for (run, rank), duration in sums.items()}


def of_pyarrow():
    # Of a folder it takes the columns of the first table for those of all.
    rows = pyarrow.dataset.dataset(glob.glob(pattern), partitioning="hive").to_table()
    sums = rows.group_by(["run", "rank"]).aggregate([("duration", "sum")]).to_pylist()
    return {(row["run"], row["rank"]): row["duration_sum"] for row in sums}


def of_pandas(run):
    return pandas.read_parquet(f"{folder}/job=default/run={run}/kind=kernel_stats").assign(run=run)


duckdb_rows = duckdb.sql(query.replace("kernel_stats", f"read_parquet('{pattern}', hive_partitioning = true)")).fetchall()
polars_rows = polars.scan_parquet(pattern, hive_partitioning=True).group_by("run", "rank").agg(polars.sum("duration")).collect().rows()
found = {
    "duckdb": {(run, rank): duration for run, rank, duration in duckdb_rows},
    "polars": {(run, rank): duration for run, rank, duration in polars_rows},
    "pyarrow": of_pyarrow(),
    "dask": of_frame(dask.dataframe.read_parquet(pattern).compute()),
    "pandas": of_frame(pandas.concat(map(of_pandas, {run for run, _ in expected}))),
}
for library, sums in found.items():
    assert sums == expected, (library, set(sums.items()) ^ set(expected.items()))

# Rows of a file are in the order that it states.
many = pyarrow.parquet.ParquetFile(f"{folder}/job=default/run=many/kind=dispatches/bucket=0/part-0.parquet")
stated = [many.schema_arrow.names[column.column_index] for column in many.metadata.row_group(0).sorting_columns]
rows = [tuple(row.values()) for row in many.read(columns=stated).to_pylist()]
assert stated == ["rank", "start"] and rows == sorted(rows), stated
print(len(expected), "ranks")
