"""Causes of idle time in a torch.profiler trace or a database of RPD, computed moment by moment instead of with cursors.

One JSON list a line: GPU, "cause", cause, ns, ns that no blocking call bears; or GPU, "after", cause, ns that its calls cost, ns of gaps that began
in one of them."""

import bisect
import collections
import decimal
import gzip
import heapq
import itertools
import json
import re
import sqlite3
import sys
import tempfile

BACK_TO_BACK = 100_000
AHEAD = 100_000
AHEAD_AGAIN = 200_000
TURNAROUND = 10_000
LONG = 1_000_000
VERY_LONG = 2_000_000
LONG_WITH_NAME = 200_000
RESULT = 4096
ORDER = ["synchronise", "blocking-copy", "allocation", "loading", "launch", "host", "queued", "unknown"]
BLOCKING = ORDER[:4]

Call = collections.namedtuple("Call", "start end cause name thread")
Op = collections.namedtuple("Op", "gpu start end name link direction result")

RULES = [
    (r"hsa_.*signal_wait", "synchronise"),
    (r"hsa_.*async_copy", "launch"),
    (r"hsa_.*memory_copy", "blocking-copy"),
    (r"hsa_.*(memory_allocate|memory_free|memory_pool_allocate|memory_pool_free|vmem_)", "allocation"),
    (r"hsa_.*(executable_load|executable_freeze|code_object_reader_create)", "loading"),
    (r"hsa_", None),
    (r"(hiprtc|nvrtc).*(Compile|Link)", "loading"),
    (r"(hip|cuda|cu)[A-Z].*(Node)", None),
    (r"(hip|cuda|cu)GraphAdd", None),
    (r"(hip|cuda|cu)[A-Z].*Synchronize", "synchronise"),
    (r"(hip|cuda|cu).*(ModuleLoad|ModuleUnload|LibraryLoad|LibraryUnload|GraphInstantiate|LinkAdd|LinkComplete"
     r"|StreamCreate|StreamBeginCapture|CtxCreate|PrimaryCtxRetain)", "loading"),
    (r"(hip|cuda|cu)(?=[A-Z]).*(Launch|Memset|MemPrefetch)", "launch"),
    (r"(hip|cuda|cu)(?=[A-Z]).*Memcpy.*Async", "launch"),
    (r"(hip|cuda|cu)(?=[A-Z]).*Memcpy", "blocking-copy"),
    (r"(hip|cuda|cu)(?=[A-Z]).*(Malloc|MemAlloc|MemFree|HostAlloc|HostFree|HostRegister|HostUnregister|MemCreate|MemRelease"
     r"|MemMap|MemUnmap|MemSetAccess|MemAddress|MemPool)", "allocation"),
    (r"(hip|cuda|cu)Free", "allocation"),
]


def cause_of(name):
    return next((cause for rule, cause in RULES if re.match(rule, name)), None)


def compiles(name):
    return "dynamo_timed" in name or re.search(r"compile(?!d)", name) is not None


def ns(number):
    return int(decimal.Decimal(number) * 1000)


def kineto(path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as file:
        document = json.load(file, parse_float=decimal.Decimal)
    base = document.get("baseTimeNanoseconds", 0)
    ops, calls, spans = [], [], collections.defaultdict(list)
    for event in document["traceEvents"]:
        if event.get("ph") != "X":
            continue
        category, name = event.get("cat"), event["name"]
        start = base + ns(event["ts"])
        end = start + ns(event.get("dur", 0))
        thread = (event.get("pid"), event.get("tid"))
        if category in ("kernel", "gpu_memcpy", "gpu_memset"):
            direction = "cross" if category == "gpu_memcpy" and re.search("HtoD|DtoH|HostToDevice|DeviceToHost", name) else ""
            device = event["args"].get("device", event["pid"])
            size = event["args"].get("bytes")
            result = direction == "cross" and re.search("DtoH|DeviceToHost", name) and size is not None and size <= RESULT
            ops.append(Op(int(device), start, end, name, event["args"].get("correlation") or None, direction, bool(result)))
        elif category in ("cuda_runtime", "cuda_driver", "hip_runtime"):
            calls.append((event["args"].get("correlation"), start, end, name, thread))
        elif category in ("cpu_op", "user_annotation"):
            named = category == "user_annotation" and not name.startswith(("ProfilerStep", "Optimizer."))
            spans[thread].append((start, -end, (name, named)))
    return ops, calls, spans


def rpd(path):
    if path.endswith(".gz"):
        with tempfile.NamedTemporaryFile() as plain:
            plain.write(gzip.open(path).read())
            plain.flush()
            return rpd(plain.name)
    base = sqlite3.connect(path)
    names = dict(base.execute("select id, string from rocpd_string"))
    links = {}
    for api, op in base.execute("select api_id, op_id from rocpd_api_ops order by id"):
        links.setdefault(op, api)
    ops = []
    kinds = dict(base.execute("select api_ptr_id, kind from rocpd_copyapi"))
    sizes = dict(base.execute("select api_ptr_id, size from rocpd_copyapi"))
    for number, gpu, start, end, text, kind in base.execute(
        'select id, gpuId, start, "end", description_id, opType_id from rocpd_op'
    ):
        name = names[text] or names[kind]
        crosses = re.search("HostToDevice|DeviceToHost", names[kind]) or (
            "Copy" in names[kind] and kinds.get(links.get(number)) in (1, 2)
        )
        to_host = "DeviceToHost" in names[kind] or ("Copy" in names[kind] and kinds.get(links.get(number)) == 2)
        size = sizes.get(links.get(number))
        result = crosses and to_host and size is not None and size <= RESULT
        ops.append(Op(gpu, start, end, name, links.get(number), "cross" if crosses else "", bool(result)))
    calls, spans = [], collections.defaultdict(list)
    for number, pid, tid, start, end, name, args in base.execute(
        'select id, pid, tid, start, "end", apiName_id, args_id from rocpd_api'
    ):
        if names[name] == "UserMarker":
            spans[pid, tid].append((start, -end, (names[args], True)))
        else:
            calls.append((number, start, end, names[name], (pid, tid)))
    return ops, calls, spans


def timeline(spans):
    """Moments at which the innermost span of a thread changes, the start of that from then on if it is a range, and whether a span compiles."""
    spans = sorted(span for span in spans if -span[1] > span[0])
    moments = sorted({moment for start, end, _ in spans for moment in (start, -end)})
    names, compiling = [], []
    inner, building, position = [], [], 0
    for moment in moments:
        while position < len(spans) and spans[position][0] <= moment:
            start, end, name = spans[position]
            heapq.heappush(inner, (-position, -end, name))
            if compiles(name[0]):
                building.append(-end)
            position += 1
        while inner and inner[0][1] <= moment:
            heapq.heappop(inner)
        building = [end for end in building if end > moment]
        names.append(spans[-inner[0][0]][0] if inner and inner[0][2][1] else None)
        compiling.append(bool(building))
    return moments, names, compiling


def captured(rows):
    """The calls with captures of graphs as one call, from the call that begins one to the end of the call that ends it."""
    open_captures, ends = {}, {}
    for row in sorted(rows, key=lambda row: row[1]):
        if "StreamBeginCapture" in row[3]:
            open_captures[row[4]] = row
        elif "StreamEndCapture" in row[3] and row[4] in open_captures:
            ends[open_captures.pop(row[4])] = row[2]
    return [(*row[:2], ends.get(row, row[2]), *row[3:]) for row in rows]


def main(path):
    ops, raw, spans = (rpd if ".rpd" in path else kineto)(path)
    launches = {}
    for row in raw:
        link, start, end = row[:3]
        if link and (link not in launches or (start, end) < launches[link][1:3]):
            launches[link] = row
    blocking = {}
    for op in ops:
        call = launches.get(op.link)
        if call and op.direction and cause_of(call[3]) in ("launch", "blocking-copy"):
            if call[2] >= op.start + (op.end - op.start) - (op.end - op.start) // 2:
                blocking[call] = "synchronise" if op.result else "blocking-copy"
    by_thread = collections.defaultdict(list)
    raw = captured(raw)
    for row in raw:
        cause = blocking.get(row) or cause_of(row[3])
        by_thread[row[4]].append((row[1], -row[2], ORDER.index(cause) if cause else 9, row[3]))
    threads = {}
    for thread, rows in by_thread.items():
        kept, reach = [], -(1 << 63)
        for start, end, cause, name in sorted(row for row in rows if row[2] < 9):
            if -end > reach or start >= reach:
                kept.append(Call(start, -end, ORDER[cause], name, thread))
            reach = max(reach, -end)
        kept = (kept, [call.start for call in kept], [call.end for call in kept])
        threads[thread] = (kept, timeline(spans.get(thread, [])))
    for gpu in sorted({op.gpu for op in ops}):
        one_gpu(gpu, sorted(op for op in ops if op.gpu == gpu and op.end >= op.start), launches, threads)


def pieces(kept, line, start, end):
    """Cause, begin, call and length, moment by moment between the changes of anything."""
    moments, names, compiling = line
    kept, starts, ends = kept
    cuts = {start, end}
    near = kept[max(0, bisect.bisect_right(ends, start) - 1) : bisect.bisect_left(starts, end) + 1]
    cuts.update(moment for call in near for moment in call[:2] if start < moment < end)
    cuts.update(moments[bisect.bisect_right(moments, start) : bisect.bisect_left(moments, end)])
    cuts = sorted(cuts)
    for begin, until in zip(cuts, cuts[1:]):
        at = bisect.bisect_right(moments, begin) - 1
        inside = next((call for call in near if call.start <= begin < call.end), None)
        before = [call for call in near if call.end <= begin]
        after = next((call for call in near if call.start > begin), None)
        if inside:
            yield inside.cause, begin, inside, until - begin, None
        elif before and after and before[-1].cause == after.cause == "launch" and after.start - before[-1].end <= BACK_TO_BACK:
            yield "launch", begin, after, until - begin, None
        elif at >= 0 and compiling[at]:
            yield "loading", begin, None, until - begin, None
        else:
            yield "host", begin, None, until - begin, names[at] if at >= 0 else None


def one_gpu(gpu, ops, launches, threads):
    causes, cost, drained, own = (collections.Counter() for _ in range(4))
    debts = collections.defaultdict(list)
    charged = collections.defaultdict(int)
    ahead = collections.defaultdict(lambda: ops[0].start)
    last, before = ops[0].start, None
    position = 0
    while position < len(ops):
        start = ops[position].start
        same = [op for op in ops[position:position + 64] if op.start == start]
        position += len(same)
        if start > last:
            def order(op):
                call = launches.get(op.link)
                if not call:
                    return (True, 0, 0, op.name, op.link or 0)
                return (False, min(call[2], start), call[1], op.name, op.link)
            after = min(same, key=order)
            call = launches.get(after.link)
            if call is None:
                causes["unknown"] += start - last
                own["unknown"] += start - last
            else:
                queued = min(max(min(call[2], start), last), start)
                causes["queued"] += start - queued
                thread = call[4]
                # An op that was enqueued long before waited for something else than its launch.
                waited = start - min(call[2], start) >= AHEAD
                # The GPU takes a while from op to op, and nobody is late by that.
                there = start - min(call[2], start) >= TURNAROUND or call == launches.get(before.link)
                turns = start - last < TURNAROUND and there
                if queued == last and not waited and (turns or thread not in threads):
                    own["queued"] += start - last
                if thread in threads and (queued > last or not waited and not turns):
                    kept, line = threads[thread]
                    found = list(pieces(kept, line, last, queued))
                    for cause, _, _, length, _ in found:
                        causes[cause] += length
                    if found and found[0][2] and found[0][0] in BLOCKING and found[0][2].start <= last:
                        drained[found[0][0]] += start - last
                    stack = debts[gpu, thread]
                    waiting = [row for row in kept[0][charged[gpu, thread]:bisect.bisect_left(kept[1], queued)]]
                    charged[gpu, thread] += len(waiting)
                    found.append(("queued", queued, None, 0 if waited else start - queued, None))
                    runs = itertools.groupby(found, key=lambda piece: piece[0] == "host" or id(piece))
                    runs = [list(run) for _, run in runs]
                    found = [
                        (*run[0][:3], sum(piece[3] for piece in run), [(piece[4], piece[3]) for piece in run if piece[4]]) for run in runs
                    ]
                    for cause, begin, row, length, names in found:
                        # Blocking calls that have begun, unless the thread has been ahead since.
                        while waiting and (waiting[0].start <= begin or cause == "queued"):
                            new = waiting.pop(0)
                            if new.cause in BLOCKING and new.end > ahead[thread] and new.end > new.start:
                                stack.append([new, new.end - new.start])
                                del stack[:-8]
                        if cause in BLOCKING and row:
                            # The time within a call is its own.
                            cost[cause] += length
                            if stack and stack[-1][0] == row:
                                stack[-1][1] -= length
                            length = 0
                        named = sum(time for entered, time in names if not stack or entered >= stack[-1][0].start)
                        least = LONG_WITH_NAME if named >= length - named else max(LONG, min(VERY_LONG, stack[-1][1] if stack else 0))
                        long = length if cause == "host" and length >= least else 0
                        length -= long
                        own[cause] += long
                        while stack and (length or stack[-1][1] == 0):
                            part = min(length, stack[-1][1])
                            cost[stack[-1][0].cause] += part
                            length -= part
                            stack[-1][1] -= part
                            if stack[-1][1] == 0:
                                stack.pop()
                        own[cause] += length
        for op in same:
            call = launches.get(op.link)
            if call and start - min(call[2], start) >= AHEAD_AGAIN:
                thread = call[4]
                ahead[thread] = max(ahead[thread], call[1])
                debts[gpu, thread] = [row for row in debts[gpu, thread] if row[0].end > call[1]]
            if op.end > last or before is None:
                last, before = max(last, op.end), op
    for cause, time in causes.items():
        if time:
            print(json.dumps([gpu, "cause", cause, time, own[cause]]))
    for cause in set(cost) | set(drained):
        if cost[cause] or drained[cause]:
            print(json.dumps([gpu, "after", cause, cost[cause], drained[cause]]))


main(sys.argv[1])
