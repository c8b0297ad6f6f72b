"""Totals of rocprofv3's CSV files by Python's csv reader. One JSON list a line: table, name, rows, sum of durations in ns,
first start in ns, sum of a table's other figure."""

import collections
import csv
import json
import sys

totals = collections.defaultdict(lambda: [0, 0, None, 0])


def add(table, name, row, figure):
    total = totals[table, name]
    start, end = int(row["Start_Timestamp"]), int(row["End_Timestamp"])
    total[0] += 1
    total[1] += end - start
    total[2] = start if total[2] is None else min(total[2], start)
    total[3] += figure


for path in sys.argv[1:]:
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if "Counter_Name" in row or "Agent_Type" in row or "Allocation_Size" in row:
                continue
            correlation = int(row["Correlation_Id"])
            if "Kernel_Name" in row:
                add("kernel", row["Kernel_Name"], row, correlation)
            elif "Direction" in row:
                add("copy", row["Direction"], row, 0)
            elif row["Domain"].startswith("MARKER_CORE"):
                add("range", row["Function"], row, 0)
            else:
                add("call", row["Function"], row, correlation)
for (table, name), total in sorted(totals.items()):
    print(json.dumps([table, name, *total]))
