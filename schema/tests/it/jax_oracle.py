"""Totals of what JAX's profiler writes, by Python's JSON reader or by a reader of Protocol Buffers that knows no schema. One
JSON list a line: table, name, rows, sum of durations in ns, first start in ns, sum of a table's other figure."""

import collections
import decimal
import gzip
import json
import re
import sys

totals = collections.defaultdict(lambda: [0, 0, None, 0])


def rounded(number, power):
    return int((decimal.Decimal(number).scaleb(power)).to_integral_value(decimal.ROUND_HALF_UP))


def add(plane, line, name, start, duration, stats):
    figure = 0
    correlation = int(stats.get("correlation_id", 0))
    if plane.startswith("/device:"):
        if not line.startswith("Stream"):
            return
        table, figure = "kernel", correlation
        details = stats.get("memcpy_details", stats.get("Memset_details"))
        if details is not None:
            table, figure = "copy", int(re.search(r"(?:size|num_bytes):(\d+)", details)[1])
    elif plane == "/host:CPU" and name.startswith("$") and name.endswith(" block_until_ready"):
        table, name = "call", "block_until_ready"
    elif plane != "/host:CPU" or name.startswith("$"):
        return
    elif correlation:
        table, figure = "call", correlation
    else:
        table = "operator"
    total = totals[table, name]
    total[0] += 1
    total[1] += duration
    total[2] = start if total[2] is None else min(total[2], start)
    total[3] += figure


def of_json(path):
    decimal.getcontext().prec = 60
    document = json.load(gzip.open(path, "rt"), parse_float=decimal.Decimal)
    named = {}
    for event in document["traceEvents"]:
        if event.get("ph") == "M" and event["name"] in ("process_name", "thread_name"):
            named[event["pid"], event.get("tid")] = event["args"]["name"]
    for event in document["traceEvents"]:
        if event.get("ph") == "X":
            plane, line = named[event["pid"], None], named[event["pid"], event["tid"]]
            start, duration = rounded(event["ts"], 3), rounded(event["dur"], 3)
            add(plane, line, event["name"], start, duration, event.get("args", {}))


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            length, at = (8, at) if key & 7 == 1 else varint(data, at)
            value = data[at : at + length]
            at += length
        yield key >> 3, value


def names(plane, table):
    entries = [dict(fields(entry)) for field, entry in plane if field == table]
    return {entry.get(1, 0): dict(fields(entry[2])).get(2, b"").decode() for entry in entries}


def of_xplane(path):
    for field, message in fields(open(path, "rb").read()):
        if field != 1:
            continue
        plane = list(fields(message))
        name = dict(plane).get(2, b"").decode()
        events, statistics = names(plane, 4), names(plane, 5)
        for message in (message for field, message in plane if field == 3):
            line = list(fields(message))
            head = dict(line)
            for parts in (list(fields(message)) for field, message in line if field == 4):
                stats = {}
                for stat in (dict(fields(message)) for field, message in parts if field == 4):
                    value = next(value for field, value in stat.items() if field != 1)
                    value = statistics[value] if 7 in stat else value
                    stats[statistics[stat[1]]] = value.decode(errors="replace") if isinstance(value, bytes) else value
                event = {key: value for key, value in parts if key != 4}
                start = head.get(3, 0) + rounded(event.get(2, 0), -3)
                add(name, head.get(2, b"").decode(), events[event[1]], start, rounded(event.get(3, 0), -3), stats)


of_xplane(sys.argv[1]) if sys.argv[1].endswith(".pb") else of_json(sys.argv[1])
for (table, name), total in sorted(totals.items()):
    print(json.dumps([table, name, *total]))
