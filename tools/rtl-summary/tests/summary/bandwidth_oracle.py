"""Sizes and transfers of the all-reduces of a job, from torch.profiler's traces of its ranks: one line of JSON for each bucket."""

import gzip
import json
import sys
from collections import defaultdict
from decimal import Decimal

BYTES = {"BFloat16": 2, "Float": 4}


def calls(path):
    """By kernel and grid: start, end and bytes of each call, by end."""
    with gzip.open(path) as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    stated = {}
    for event in events:
        if event.get("name") == "record_param_comms":
            args = event["args"]
            assert args["Collective name"] == "allreduce" and args["Group size"] == len(sys.argv) - 1
            assert args["In msg nelems"] == args["Out msg nelems"]
            stated[args["External id"]] = args["In msg nelems"] * BYTES[args["dtype"]]
    found = defaultdict(list)
    for event in events:
        if event.get("cat") == "kernel" and "nccl" in event["name"]:
            args = event["args"]
            start = int(Decimal(event["ts"]) * 1000)
            end = start + int(Decimal(event["dur"]) * 1000)
            kind = (event["name"], str(args["grid"]), str(args["block"]))
            found[kind].append((end, start, stated.get(args.get("External id"))))
    return {kind: sorted(rows, key=lambda row: row[:2]) for kind, rows in found.items()}


ranks = [calls(path) for path in sys.argv[1:]]
buckets = defaultdict(lambda: [0, 0, 0, 0])
for kind in set().union(*ranks):
    # All ranks were recorded to the end of the job: the last calls belong together.
    for members in zip(*(reversed(rank.get(kind, [])) for rank in ranks)):
        sizes = {size for _, _, size in members if size is not None}
        if not sizes:
            continue
        (size,) = sizes
        row = buckets[1 << (size.bit_length() - 1)]
        row[0] += 1
        row[1] += size
        row[2] += max(end for end, _, _ in members) - max(start for _, start, _ in members)
        row[3] += min(end - start for end, start, _ in members)
for bucket, row in buckets.items():
    print(json.dumps([bucket, *row]))
