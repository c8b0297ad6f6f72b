"""Questions about data sets, answered by the workers of Spark: ``spark-submit spark.py FOLDER QUESTION``.

Workers read the columns that a question needs and add them up by group before they send anything. The rows of the answer reach
this process and nothing else does. Workers need no Python: the question is SQL.
"""

import os
import re
import sys

if __package__:
    from . import _questions as questions
else:
    # spark-submit runs this file alone, with the other one beside it or of --py-files.
    import _questions as questions


def session(address=None, workers=2):
    """A session on the cluster of `address` or of spark-submit, else on threads of this process."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("rtl").config("spark.ui.enabled", "false")
    if address:
        builder = builder.master(address)
    elif "PYSPARK_GATEWAY_PORT" not in os.environ:
        # spark-submit has a master already.
        builder = builder.master(f"local[{workers}]")
    return builder.getOrCreate()


def view(spark, folder, table, runs=()):
    """Makes a view of a table, of all complete runs or of these, with the columns that questions read."""
    root = "file:" + os.path.abspath(folder)
    # The files are named one by one, so that a run without its manifest is not read. Spark takes names as patterns.
    paths = ["file:" + os.path.abspath(path) for path, _ in questions.files(folder, table, runs)]
    patterns = [re.sub(r"([\\{}\[\]*?])", r"\\\1", path) for path in paths]
    schema = questions.COLUMNS[table]
    if patterns:
        rows = spark.read.schema(schema).option("basePath", root).parquet(*patterns)
    else:
        rows = spark.createDataFrame([], schema)
    rows.createOrReplaceTempView(table)


def answer(spark, folder, question, is_scan=False, runs=()):
    """The rows of a question; their columns are those of the statement of `--sql`."""
    view(spark, folder, questions.table(question, is_scan), runs)
    return spark.sql(questions.query(question, is_scan, runs)).collect()


def main(words=None):
    options = questions.arguments("rtl.spark", __doc__.split(":", 1)[0], words)
    if options.sql:
        print(questions.query(options.question, options.scan, options.runs))
        return
    spark = session(options.address, options.workers)
    try:
        questions.show(answer(spark, options.folder, options.question, options.scan, options.runs))
    finally:
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
