"""Totals of an SQLite export of Nsight Systems by Python's sqlite3. One JSON list a line: table, name, rows, sum of durations
in ns, first start in ns, sum of a table's other figure."""

import collections
import json
import re
import sqlite3
import sys

COPIES = {
    0: "[CUDA memcpy]", 1: "[CUDA memcpy Host-to-Device]", 2: "[CUDA memcpy Device-to-Host]",
    8: "[CUDA memcpy Device-to-Device]", 10: "[CUDA memcpy Peer-to-Peer]",
}

database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
tables = {name for (name,) in database.execute("select name from sqlite_master")}
strings = dict(database.execute("select id, value from StringIds"))
totals = collections.defaultdict(lambda: [0, 0, None, 0])


def rows(table, columns):
    return database.execute(f"select {columns} from {table}") if table in tables else []


def add(table, name, start, end, figure):
    total = totals[table, name]
    total[0] += 1
    total[1] += end - start
    total[2] = start if total[2] is None else min(total[2], start)
    total[3] += figure or 0


for start, end, name, correlation in rows("CUPTI_ACTIVITY_KIND_KERNEL", "start, end, demangledName, correlationId"):
    add("kernel", strings[name], start, end, correlation)
for start, end, kind, size in rows("CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, copyKind, bytes"):
    add("copy", COPIES[kind], start, end, size)
for start, end, size in rows("CUPTI_ACTIVITY_KIND_MEMSET", "start, end, bytes"):
    add("copy", "[CUDA memset]", start, end, size)
for start, end, name, correlation in rows("CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, nameId, correlationId"):
    add("call", re.sub(r"_v\d{4,}$", "", strings[name]), start, end, correlation)
for start, end, text, key, kind in rows("NVTX_EVENTS", "start, end, text, textId, eventType"):
    if kind not in (34, 59, 60):
        continue
    add("range", strings[key] if text is None else text, start, start if end is None else end, 0)
for (table, name), total in sorted(totals.items()):
    print(json.dumps([table, name, *total]))
