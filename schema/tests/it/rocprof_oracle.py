"""Totals of files of rocprof and roctracer by Python's readers of CSV, JSON and SQLite and by regular expressions. One JSON
list a line: table, name, rows, sum of durations in ns, first start in ns, 0 or the sum of a table's other figure."""

import collections
import csv
import json
import re
import sqlite3
import sys

totals = collections.defaultdict(lambda: [0, 0, None, 0])


def add(table, name, start, end, figure=0):
    total = totals[table, name]
    total[0] += 1
    total[1] += end - start
    total[2] = start if total[2] is None else min(total[2], start)
    total[3] += figure


def add_range(name, start, end):
    add("range", name, start, start if end - start == 1 else end)


def of_csv(path):
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            add("kernel", row["KernelName"], int(row["BeginNs"]), int(row["EndNs"]))


def of_json(path):
    events = json.load(open(path))["traceEvents"]
    sections = {event["pid"]: event["args"]["name"] for event in events if event.get("ph") == "M"}
    for event in events:
        if event.get("ph") != "X":
            continue
        section = sections[event["pid"]]
        start, end = int(event["args"]["BeginNs"]), int(event["args"]["EndNs"])
        if section == "Markers and Ranges":
            add_range(event["name"], start, end)
        else:
            table = "call" if "API" in section else "copy" if section == "COPY" else "kernel"
            add(table, event["name"], start, end)


def of_database(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = {name for (name,) in database.execute("select name from sqlite_master where type = 'table'")}
    if "OPS" not in tables:
        for text, start, end in database.execute("select KernelName, BeginNs, EndNs from KERN"):
            add("kernel", text.strip('"'), start, end)
    for name, table in (("HIP", "call"), ("HSA", "call"), ("COPY", "copy"), ("OPS", "kernel"), ("rocTX", "range")):
        if name not in tables:
            continue
        for text, start, end, index in database.execute(f'select Name, BeginNs, EndNs, "Index" from {name}'):
            if table == "range":
                add_range(text, start, end)
                continue
            size = 0
            if table == "copy":
                api = "HIP" if "HIP" in tables else "HSA"
                for (args,) in database.execute(f'select args from {api} where "Index" = ?', (index,)):
                    found = re.search(r"sizeBytes[=(](\d+)", args)
                    size = int(found[1]) if found else 0
            add(table, text, start, end, size if table == "copy" else index)


def of_text(paths):
    sizes = {}
    stack, started = collections.defaultdict(list), {}
    for path in sorted(paths, key=lambda path: "api_trace" not in path):
        for line in open(path):
            if found := re.match(r"(\d+) (\d+):(\d+) (\d):(\d+):\"(.*)\"$", line):
                at, pid, tid, action, key = map(int, found.groups()[:5])
                if action == 0:
                    add("range", found[6], at, at)
                elif action == 1:
                    stack[pid, tid].append((found[6], at))
                elif action == 2:
                    add("range", *stack[pid, tid].pop(), at)
                elif action == 3:
                    started[pid, key] = (found[6], at)
                else:
                    add("range", *started.pop((pid, key)), at)
            elif found := re.match(r"(\d+):(\d+) async-copy:(\d+):(\d+)$", line):
                add("copy", "async-copy", int(found[1]), int(found[2]), sizes.get((found[4], found[3]), 0))
            elif found := re.match(r"(\d+):(\d+) \d+:\d+ (.*):(\d+):(\d+)$", line):
                is_copy = found[3].startswith(("Copy", "Fill"))
                size = sizes.get((found[5], found[4]), 0) if is_copy else int(found[4])
                add("copy" if is_copy else "kernel", found[3], int(found[1]), int(found[2]), size)
            elif found := re.match(r"(\d+):(\d+) (\d+):\d+ (\w+)\((.*) :(\d+)$", line):
                if size := re.search(r"sizeBytes=(\d+)", found[5]):
                    sizes[found[3], found[6]] = int(size[1])
                add("call", found[4], int(found[1]), int(found[2]), int(found[6]))
            elif found := re.match(r'dispatch\[.*kernel-name\("(.*)"\), time\(\d+,(\d+),(\d+),\d+\)', line):
                add("kernel", found[1], int(found[2]), int(found[3]))


if sys.argv[1].endswith(".txt"):
    of_text(sys.argv[1:])
elif sys.argv[1].endswith(".csv"):
    of_csv(sys.argv[1])
elif sys.argv[1].endswith(".json"):
    of_json(sys.argv[1])
else:
    of_database(sys.argv[1])
for (table, name), total in sorted(totals.items()):
    print(json.dumps([table, name, *total]))
