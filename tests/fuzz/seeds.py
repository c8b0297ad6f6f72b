"""Makes the seed corpus: small databases and texts of every kind that the targets look into.

Those of `report` are saved by rtl-summary; those of `manifest` and `parquet` by the test of rtl-convert that replays them.
"""

import gzip
import os
import sqlite3

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
STRINGS = "create table rocpd_string(id integer primary key, string text);"
ROWS = "insert into rocpd_string values(1, 'gemm.kd'), (2, 'KernelExecution'), (3, 'UserMarker');"
OPS = """create table rocpd_op(id integer primary key, gpuId integer, queueId integer, sequenceId integer,
 completionSignal text, start integer, end integer, description_id integer, opType_id integer{more});
 insert into rocpd_op(gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id)
 values(0, 0, 0, 'hwq=0x1 wg=64,1,1 grid=1,1,1', 100, 200, 1, 2), (1, 0, 0, null, 150, 90, 9, 2),
 (0, 4294967296, 0, '', 1700000000000000000, null, null, 2), (-1, 0, 0, '', 5, 6, 3, 3);"""
MANY = "with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) "

DATABASES = {
    "lite": STRINGS + ROWS + OPS.format(more=", roctxId integer default 0")
    + "create table rocpd_metadata(id integer primary key, tag text, value text);",
    "rpd": STRINGS + ROWS + OPS.format(more="")
    + """create table rocpd_metadata(id integer primary key, tag text, value text);
    insert into rocpd_metadata values(1, 'schema_version', '2');
    create table rocpd_api(id integer primary key, pid integer, tid integer, start integer, end integer,
    apiName_id integer, args_id integer); insert into rocpd_api values(4294967297, 1, 1, 90, 95, 2, 1);
    create table rocpd_api_ops(id integer primary key, api_id integer, op_id integer);
    insert into rocpd_api_ops values(1, 4294967297, 1);""",
    "nsys": "create table StringIds (id integer primary key, value text); insert into StringIds values (1, 'k');"
    "create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, streamId integer,"
    " correlationId integer, globalPid integer, demangledName integer, gridX integer, gridY integer, gridZ integer);"
    "insert into CUPTI_ACTIVITY_KIND_KERNEL values (1, 5, 0, 7, 3, 167772160, 1, 1, 1, 1), (2, null, 1, 7, 0, null, 9, 0, 0, 0);",
    "rocprof": "create table KERN (\"Index\" INTEGER, KernelName TEXT, BeginNs INTEGER, EndNs INTEGER, \"gpu-id\" INTEGER);"
    "insert into KERN values (0, 'k', 1, 2, 0);"
    "create table OPS (BeginNs INTEGER, EndNs INTEGER, Name TEXT, \"Index\" INTEGER, __section INTEGER);",
    "deep": "create table t(a, b);" + MANY.format(150)
    + "insert into t select i * 1000003, printf('%.*c', i % 40, 'x') from n; delete from t where rowid % 5 = 0;",
    "overflow": "create table t(a text, b real, c blob); insert into t values(printf('%.2000c', 'y'), 1.5, x'00'),"
    " ('', 7, zeroblob(700)), (null, -1e300, null);",
    "kinds": "create table t(id integer primary key, r real, g as (id * 2), s as (id + 1) stored, d default 7);"
    "insert into t(id, r) values(-5, 1), (1099511627776, 2.5);"
    "alter table t add column late; create view v as select r from t;"
    "create table w(k text primary key, v) without rowid; insert into w values('a', 1), ('b', 2);",
}
TEXTS = {
    "rocprofiler-json": '{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}, "agents": [], "strings": {},'
    ' "kernel_symbols": [], "buffer_records": {"kernel_dispatch": [], "memory_copy": []}}]}',
    "kineto.json": '{"schemaVersion":1,"deviceProperties":[{"id":0}],"baseTimeNanoseconds":1000,"traceEvents":['
    '{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":1.5,"dur":2,"args":{"correlation":7}},'
    '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":2,"dur":3.25,"args":{"device":0,"stream":0,"correlation":7}},'
    '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":4}]}',
    "other-json": '[{"name": "a", "ph": "X", "ts": 1, "dur": 2}]',
    "rocprofv3-csv": '"Kind","Agent_Id","Queue_Id","Stream_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp"\n'
    '"KERNEL_DISPATCH","Agent 1",1,2,"f<int, 2>(int)",5,100,200\n"KERNEL_DISPATCH","Agent 1",1,2,"g",6,300,4',
    "rocprof-csv": 'Index,KernelName,gpu-id,queue-id,pid,tid,SQ_WAVES,BeginNs,EndNs\n0,"k",0,0,1,2,7,100,200\n',
    "roctracer": "100:900 1:2 hipMemcpyAsync(sizeBytes=64, kind=1) :1\n200:300 0:1 CopyHostToDevice:1:1\n"
    '50 1:2 1:0:"outer"\n90 1:2 2:0:""\n',
    "rocprof-json": '{ "traceEvents":[{}\n,{"args":{"name":"GPU0"},"ph":"M","pid":6,"name":"process_name"}'
    ',{"args":{"name":"COPY"},"ph":"M","pid":1,"name":"process_name"}\n,{"ph":"X","name":"k","pid":6,"tid":1,"ts":"1",'
    '"args":{"BeginNs":"1000","EndNs":"2000","pid":"5"}}]}',
    "xprof-json": '{"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},'
    '{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"Stream #2"}},'
    '{"ph":"X","pid":1,"tid":2,"ts":1.5,"dur":0.25,"name":"k","args":{"kernel_details":"regs:8 grid:1,1,1 block:64,1,1"}},{}]}',
    "rtg": "HCC_PROFILE: Resource=unsupported\n<<hip-api pid:1 tid:1>>\nprofile: kernel; gemm; 10 us; 100; 200; #0.0.1\n",
}


def write(name, content, *targets):
    for target in targets:
        os.makedirs(os.path.join(HERE, target), exist_ok=True)
        with open(os.path.join(HERE, target, name), "wb") as file:
            file.write(content)


def database(sql, name):
    path = os.path.join(HERE, "seed.tmp")
    connection = sqlite3.connect(path)
    # Small pages make deep trees of small files.
    connection.execute("pragma page_size = 512")
    connection.executescript(sql)
    connection.close()
    with open(path, "rb") as file:
        content = file.read()
    os.remove(path)
    return content


def field(number, value):
    """A field of a message of Protocol Buffers."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def entry(key, name):
    return field(1, key) + field(2, field(1, key) + field(2, name))


STAT = field(4, field(1, 7) + field(4, 3))
EVENT = field(4, field(1, 1) + field(2, 5000) + field(3, 1500) + STAT)
LINE = field(1, 24) + field(2, b"Stream #24(Compute)") + field(3, 1000) + EVENT
PLANE = field(1, 1) + field(2, b"/device:GPU:0") + field(3, LINE) + field(4, entry(1, b"gemm"))
BINARIES = {"xplane": field(1, PLANE + field(5, entry(7, b"correlation_id")))}

FLAGS = {
    "filters": "--kernel\ngemm\n--time\n25%..-5ns\n--gpu\n0,1\n--time\nsteady",
    "formats": "--to\njson\n--by\nrank\n--top\n3\n--names\nshort",
    "gates": "--gate\n--max-kernel\n5%\n--skip-warmup\nauto",
}
SETTINGS = {
    "diff.toml": "[gate]\nkernel = \"5 %\"\n[[kernel]]\nmatch = \"gemm\"\nmax = \"10 %\"\n"
    "[[allow]]\nmatch = \"k\"\nexpires = \"2027-01-31\"\nreason = \"x\"\n[rename]\na = \"b\"\n",
    "categories.toml": "[[rule]]\ncategory = \"gemm\"\nmatch = \"Cijk_.*\"\n",
}
NAMES = {
    "mangled": "_Z4gemmIfEvPT_i.kd\n_ZN1A1fIiEEviN1A1BIiEE\n_Z4gemmIdEvPT_i [clone .kd]",
    "tensile": "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_MT256x224x128_MI16x16x1_SN\nCijk_Alik_Bljk_BBS_BH_MT64x32x8_SN",
    "lambda": "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const>(int)>(int, std::enable_if<(1>0), int>)\nk",
}

SQL = {
    "query": "select rank, sum(duration) from dispatches where run = 'a' and rank between 0 and 7 group by 1",
    "computed": "from query('from ' || 'ops')",
    "unicode": "from query\u00a0('from ' || 'ops')",
    "nested": "select * from query('from query(''from ops'')') -- query(x)\n/* query( */",
    "quoted": "select $$query(x)$$, e'\\'', \"query\"('from ops'), 'it''s query(int*)'",
    "logging": "call enable_logging(storage='file')",
    "parse": '{"error":false,"statements":[{"node":{"type":"SELECT_NODE","from_table":{"type":"BASE_TABLE","table_name":"dispatches"},'
    '"where_clause":{"type":"COMPARE_EQUAL","left":{"type":"COLUMN_REF","column_names":["run"]},"right":{"type":"VALUE_CONSTANT",'
    '"value":{"type":{"id":"VARCHAR"},"value":"a"}}}}}]}',
    "message": "Catalog Error: Table with name x does not exist!\nDid you mean \"ops\"?\n\nLINE 1: from x\n             ^",
    "damage": "Invalid Input Error: No magic bytes found at end of file '/set/job=a/run=b/kind=ops/bucket=0/part-0.parquet'",
}
PAGE = {
    "hostile": "<script>window.hostile = 1</script>\n</title></style></script><img src=x onerror=alert(1)>\n\" onmouseover=\"alert(1)\" x=\""
    "\njavascript:alert(1)\n</td></tr></table><iframe src=https://example.org>\nsafe\u202egnp.exe\u2066\n${alert(1)} {{x}} <!-- --> ]]> &lt;",
    "kernels": "void gemm<float, 128>(float*, int)\nncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)\nk\n\nMemcpy HtoD",
    "long": "a" * 300 + "\n" + "a" * 299 + "b\n" + "\u00e9" * 60,
}

os.makedirs(HERE, exist_ok=True)
traces = {}
for name, sql in DATABASES.items():
    content = database(sql, name)
    # Those of tables that only their dialect knows are for the readers alone.
    write(name + ".db", content, "open", *([] if name in ("nsys", "rocprof") else ["leaf"]))
    if name in ("lite", "rpd"):
        traces[name] = content
        write(name + ".db", content, "convert")
    if name == "lite":
        write("lite.db.gz", gzip.compress(content, mtime=0), "open")
for name, text in TEXTS.items():
    write(name, text.encode(), "open", "text")
    if name in ("rocprofiler-json", "rtg"):
        traces[name] = text.encode()
        write(name, text.encode(), "convert")
for name, content in BINARIES.items():
    write(name, content, "open")
for one, other in (("lite", "rpd"), ("rocprofiler-json", "rtg"), ("lite", "lite")):
    content = len(traces[one]).to_bytes(2, "little") + traces[one] + traces[other]
    write(f"{one}-{other}", content, "merge")
for target, texts in (("arguments", FLAGS), ("settings", SETTINGS), ("names", NAMES), ("sql", SQL), ("page", PAGE)):
    for name, text in texts.items():
        write(name, text.encode(), target)
for seed in range(4):
    choices = bytes((seed * 37 + at * (seed + 11)) % 256 for at in range(600))
    write(f"choices{seed}", choices, "json", "kineto", "columns", "nsys", "xplane", "sql")
