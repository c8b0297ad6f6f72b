"""Totals of a torch.profiler trace, read by Python's JSON reader with decimal numbers. One JSON list a line:
table, name, rows, sum of durations in ns, first start in ns, sum of a table's other figure."""

import collections
import decimal
import gzip
import json
import sys

CALLS = {"cuda_runtime", "cuda_driver"}


def events(text):
    """The events and the rest of the document; of a file that was cut off, those that are whole."""
    decode = json.JSONDecoder(parse_float=decimal.Decimal)
    try:
        document = decode.decode(text)
        return document["traceEvents"], document
    except json.JSONDecodeError:
        head, body = text.split('"traceEvents": [', 1)
        found = []
        at = 0
        while True:
            at += len(body[at:]) - len(body[at:].lstrip(" \n,"))
            try:
                event, at = decode.raw_decode(body, at)
            except json.JSONDecodeError:
                return found, decode.decode(head.rstrip().rstrip(",") + "}")
            found.append(event)


def nanoseconds(number):
    whole = decimal.Decimal(number) * 1000
    assert whole == int(whole), number
    return int(whole)


def table(event, sizes):
    category = event.get("cat")
    if event["ph"] == "X" and category == "kernel":
        return "kernel", int(event["args"].get("correlation", 0))
    if event["ph"] == "X" and category in ("gpu_memcpy", "gpu_memset"):
        called = sizes.get(event["args"].get("correlation"), set())
        return "copy", int(event["args"].get("bytes", called.copy().pop() if len(called) == 1 else 0))
    if event["ph"] == "X" and category in CALLS:
        return "call", int(event["args"].get("correlation", 0))
    if event["ph"] == "X" and category == "cpu_op":
        return "operator", int(event["args"].get("Sequence number", 0))
    if event["ph"] == "X" and category == "user_annotation":
        return "range", 0
    if event["ph"] == "X" and category == "gpu_user_annotation":
        return "gpu_range", 0
    if event["ph"] == "X" and category == "overhead":
        return "overhead", 0
    if event["name"] == "[memory]":
        return "memory", int(event["args"]["Bytes"])
    return None, 0


def main(path):
    decimal.getcontext().prec = 60
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    found, document = events(opened.read())
    base = document.get("baseTimeNanoseconds", 0)
    # The sizes of copies that only their calls state.
    sizes = collections.defaultdict(set)
    for event in found:
        if event.get("cat") in CALLS and "size" in event["args"]:
            sizes[event["args"]["correlation"]].add(int(event["args"]["size"]))
    totals = collections.defaultdict(lambda: [0, 0, None, 0])
    for event in found:
        kind, figure = table(event, sizes)
        if kind is None:
            continue
        name = event["name"]
        if kind == "range" and name.startswith("ProfilerStep#"):
            name = "ProfilerStep"
        total = totals[kind, name]
        start = base + nanoseconds(event["ts"])
        total[0] += 1
        total[1] += nanoseconds(event.get("dur", 0))
        total[2] = start if total[2] is None else min(total[2], start)
        total[3] += figure
    for (kind, name), total in sorted(totals.items()):
        print(json.dumps([kind, name, *total]))


main(sys.argv[1])
