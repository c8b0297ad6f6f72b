-- The native layout: what librtl.so, rtl-merge and rtl-convert write. docs/reference/native.md says how to read it.
--
-- Column names are rocm-trace-lite's and RPD's wherever those have the column. A file has the first three
-- tables; every other one exists only if it has rows. Each statement goes into the file as it stands here,
-- comments included, so `sqlite3 FILE .schema` explains itself.
--
-- Times are nanoseconds of CLOCK_BOOTTIME. No declared foreign keys: the writer resolves every id, and a
-- checking engine would slow each insert. No indexes: every question asked of a trace scans it.

CREATE TABLE rocpd_string (
    id INTEGER PRIMARY KEY, -- 1 is the empty string
    string TEXT             -- each text once, those of rocpd_api.args_id perhaps more often
);

CREATE TABLE rocpd_metadata (
    id INTEGER PRIMARY KEY,
    tag TEXT,
    value TEXT -- JSON for the tags gpu, agent, process, thread, queue and kernel
);

-- One row for each op of a GPU, range and marker. Rows are cut after their last known column, which is why
-- the columns stand in the order of how often kernels know them.
CREATE TABLE rocpd_op (
    id INTEGER PRIMARY KEY,
    gpuId INTEGER,          -- number of the GPU, -1 for ranges and markers, below -1 another agent, NULL unknown
    queueId INTEGER,        -- small number of the queue; the metadata tag queue has its address
    completionSignal TEXT GENERATED ALWAYS AS (
        'hwq=' || printf('0x%x', queueId)
        || ' wg=' || workgroupX || ',' || ifnull(workgroupY, 1) || ',' || ifnull(workgroupZ, 1)
        || ' grid=' || gridX || ',' || ifnull(gridY, 1) || ',' || ifnull(gridZ, 1)
    ) VIRTUAL,              -- rocm-trace-lite's text; NULL without a launch shape
    start INTEGER,
    end INTEGER,            -- NULL if it was never seen
    description_id INTEGER, -- text: the kernel's full name, the range's text
    opType_id INTEGER,      -- text: KernelExecution, Task, Copy.., FillBuffer, Barrier, UserMarker
    roctxId INTEGER DEFAULT 0, -- number of a range (opType UserMarker), of the innermost range of an op, 0 none
    gridX INTEGER,          -- launch size in work-items, x
    workgroupX INTEGER,     -- work-items in a work-group, x
    tid INTEGER,            -- thread that asked for the op, NULL unknown
    correlationId INTEGER,  -- ties the op to the row of rocpd_api with the same number, NULL or 0 unknown
    lds INTEGER,            -- LDS of the work-group in bytes, static and dynamic, NULL unknown
    scratch INTEGER,        -- scratch of a work-item in bytes, NULL unknown
    gridY INTEGER,          -- NULL is 1 where gridX is known; so are the next three
    workgroupY INTEGER,
    gridZ INTEGER,
    workgroupZ INTEGER,
    symbol INTEGER,         -- id of the kernel's metadata row; NULL is the first row of its name, -1 none
    sequenceId INTEGER,     -- of a range: 0 push and pop, 1 start and stop, NULL not stated
    pid INTEGER,            -- NULL is the metadata tag pid
    streamId INTEGER,       -- HIP stream, NULL unknown
    bytes INTEGER,          -- size of a copy or fill, NULL unknown
    peer INTEGER,           -- gpuId of the other side of a copy, NULL is the host
    category_id INTEGER,    -- text: a range's class, NULL if the source has none
    enqueued INTEGER        -- host time at which the op was put on its queue, NULL unknown
);

-- One row for each traced call of HIP, HSA, RCCL ... Columns in the order of how often a recorder knows them.
CREATE TABLE rocpd_api (
    id INTEGER PRIMARY KEY,
    start INTEGER,
    duration INTEGER,      -- NULL if its end was never seen
    end INTEGER GENERATED ALWAYS AS (start + duration) VIRTUAL,
    apiName_id INTEGER,    -- text: the function
    tid INTEGER,
    correlationId INTEGER, -- ties the call to the rows of rocpd_op with the same number
    domain_id INTEGER,     -- text: the library
    parentId INTEGER,      -- correlationId of the call it was made from
    streamId INTEGER,
    pid INTEGER,           -- NULL is the metadata tag pid
    category_id INTEGER,   -- text: the recorder's finer class
    args_id INTEGER,       -- text: all arguments
    result INTEGER         -- status that was returned, NULL is success or unknown
);

-- Links that correlationId cannot say: an op that belongs to more than one call.
CREATE TABLE rocpd_api_ops (
    id INTEGER PRIMARY KEY,
    api_id INTEGER,
    op_id INTEGER
);

-- What a launching call asked for.
CREATE TABLE rocpd_kernelapi (
    api_id INTEGER PRIMARY KEY,
    stream TEXT,
    gridX INTEGER, gridY INTEGER, gridZ INTEGER, -- in work-groups, as HIP counts
    workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER,
    groupSegmentSize INTEGER,
    privateSegmentSize INTEGER,
    kernelName_id INTEGER
);

-- What a copying call asked for.
CREATE TABLE rocpd_copyapi (
    api_id INTEGER PRIMARY KEY,
    stream TEXT,
    size INTEGER, -- bytes
    dst TEXT,     -- address, 0x..
    src TEXT,
    kind INTEGER, -- hipMemcpyKind, or text: FillBuffer
    sync INTEGER,
    width INTEGER,
    height INTEGER,
    dstDevice INTEGER,
    srcDevice INTEGER,
    pinned INTEGER
);

-- The arguments of a call one by one, where the source keeps them apart.
CREATE TABLE rocpd_arg (
    id INTEGER PRIMARY KEY,
    api_id INTEGER,
    position INTEGER,
    type INTEGER,  -- text
    name INTEGER,  -- text
    value INTEGER  -- text
);

-- What rocpd_op cannot say of a copy.
CREATE TABLE rocpd_copy (
    op_id INTEGER PRIMARY KEY,
    srcAddress INTEGER,
    dstAddress INTEGER,
    srcGpu INTEGER, -- gpuId as in rocpd_op, NULL unknown
    dstGpu INTEGER
);

-- Allocations, releases and scratch events.
CREATE TABLE rocpd_allocation (
    id INTEGER PRIMARY KEY,
    pid INTEGER,
    tid INTEGER,
    gpuId INTEGER,
    queueId INTEGER,
    streamId INTEGER,
    kind TEXT,  -- allocate, free, reallocate, reclaim
    level TEXT, -- real, virtual, scratch
    start INTEGER,
    end INTEGER,
    address INTEGER,
    bytes INTEGER,
    flags INTEGER,
    correlationId INTEGER
);

-- Quantities that held for a while: clocks, power.
CREATE TABLE rocpd_monitor (
    id INTEGER PRIMARY KEY,
    deviceType TEXT,
    deviceId INTEGER,
    monitorType TEXT,
    start INTEGER,
    end INTEGER,
    value TEXT
);

-- Hardware counters of a dispatch; several rows of one name are instances and add up.
CREATE TABLE rocpd_counter (
    id INTEGER PRIMARY KEY,
    value REAL,
    op_id INTEGER,
    name_id INTEGER,
    pid INTEGER,
    gpuId INTEGER
);

-- Call stacks.
CREATE TABLE rocpd_stackframe (
    id INTEGER PRIMARY KEY,
    api_ptr_id INTEGER,
    depth INTEGER, -- 0 is the innermost
    name_id INTEGER
);

-- Operators of a framework as their threads executed them (PyTorch's cpu_op). Those of one thread nest by time.
CREATE TABLE rocpd_operator (
    id INTEGER PRIMARY KEY,
    start INTEGER,
    duration INTEGER,      -- NULL if its end was never seen
    name_id INTEGER,       -- text
    tid INTEGER,
    shapes_id INTEGER,     -- text: sizes of the inputs as the framework wrote them
    types_id INTEGER,      -- text: types of the inputs as the framework wrote them
    sequence INTEGER,      -- node of the autograd graph that a forward operator made and a backward one executes
    forwardThread INTEGER, -- the framework's number of the thread of the forward operator, NULL or 0 in a forward one
    pid INTEGER,           -- NULL is the metadata tag pid
    strides_id INTEGER,    -- text: strides of the inputs as the framework wrote them
    values_id INTEGER      -- text: values of the inputs as the framework wrote them
);

-- Allocations and releases of a framework's allocator, which need not reach the runtime.
CREATE TABLE rocpd_memory_event (
    id INTEGER PRIMARY KEY,
    time INTEGER,
    bytes INTEGER,     -- negative for a release
    gpuId INTEGER,     -- NULL is the host's memory
    allocated INTEGER, -- bytes in use on the device after it, NULL unknown
    reserved INTEGER,  -- bytes that the allocator holds on the device after it, NULL unknown
    address INTEGER,
    tid INTEGER,
    pid INTEGER        -- NULL is the metadata tag pid
);

-- Python functions and modules of a framework as their threads executed them. Those of one thread nest by time.
CREATE TABLE rocpd_python_frame (
    id INTEGER PRIMARY KEY,
    start INTEGER,
    duration INTEGER, -- NULL if its end was never seen
    name_id INTEGER,  -- text: file, line and function, or nn.Module: and the name of a module
    tid INTEGER,
    number INTEGER,   -- the source's number of the frame
    caller INTEGER,   -- number of the frame that called it
    module INTEGER,   -- the source's number of the module among those of its class
    pid INTEGER       -- NULL is the metadata tag pid
);

-- The collectives that kernels execute, as a framework states them.
CREATE TABLE rocpd_collective (
    op_id INTEGER PRIMARY KEY,
    operation_id INTEGER,    -- text, e.g. allreduce
    communicator_id INTEGER, -- text: the name of the communicator
    ranks_id INTEGER,        -- text: the ranks of the communicator as the framework wrote them
    size INTEGER,            -- the number of these ranks
    type_id INTEGER,         -- text: the type of the elements, e.g. BFloat16
    sent INTEGER,            -- elements that a rank gives
    received INTEGER,        -- elements that a rank gets
    sequence INTEGER         -- number within the communicator
);

-- Spans that a profiler states beside the events that it recorded: no work, and no calls.
CREATE TABLE rocpd_span (
    id INTEGER PRIMARY KEY,
    kind TEXT,        -- gpu_range: a range of the host on a stream of a GPU; overhead: work of the profiler
    name_id INTEGER,  -- text
    start INTEGER,
    duration INTEGER, -- NULL if its end was never seen
    gpuId INTEGER,    -- of a range on a GPU
    streamId INTEGER, -- of a range on a GPU
    pid INTEGER       -- NULL is the metadata tag pid
);
