-- The tables of rocprofv3's rocpd database, schema 3.0.0, that grow with the records: one set of them for each process.
-- {uuid} ends the names of a set, {guid} is what its rows say. Names, types, defaults and order of columns are those
-- that rocprofv3's tools rely on; a row that ends before a column has its default there.

CREATE TABLE rocpd_track{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER REFERENCES rocpd_info_thread{uuid} (id) ON UPDATE CASCADE,
    name_id INTEGER REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_event{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    category_id INTEGER REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    stack_id INTEGER,
    parent_stack_id INTEGER,
    correlation_id INTEGER,
    call_stack JSONB NOT NULL DEFAULT '{}',
    line_info JSONB NOT NULL DEFAULT '{}',
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_arg{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    event_id INTEGER NOT NULL REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    position INTEGER NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_pmc_event{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    pmc_id INTEGER NOT NULL REFERENCES rocpd_info_pmc{uuid} (id) ON UPDATE CASCADE,
    value REAL DEFAULT 0.0,
    extdata JSONB DEFAULT '{}'
);

CREATE TABLE rocpd_region{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER NOT NULL REFERENCES rocpd_info_thread{uuid} (id) ON UPDATE CASCADE,
    start BIGINT NOT NULL,
    end BIGINT NOT NULL,
    name_id INTEGER NOT NULL REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_sample{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    track_id INTEGER NOT NULL REFERENCES rocpd_track{uuid} (id) ON UPDATE CASCADE,
    timestamp BIGINT NOT NULL,
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_kernel_dispatch{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER REFERENCES rocpd_info_thread{uuid} (id) ON UPDATE CASCADE,
    agent_id INTEGER NOT NULL REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    kernel_id INTEGER NOT NULL REFERENCES rocpd_info_kernel_symbol{uuid} (id) ON UPDATE CASCADE,
    dispatch_id INTEGER NOT NULL,
    queue_id INTEGER NOT NULL REFERENCES rocpd_info_queue{uuid} (id) ON UPDATE CASCADE,
    stream_id INTEGER NOT NULL REFERENCES rocpd_info_stream{uuid} (id) ON UPDATE CASCADE,
    start BIGINT NOT NULL,
    end BIGINT NOT NULL,
    private_segment_size INTEGER,
    group_segment_size INTEGER,
    workgroup_size_x INTEGER NOT NULL,
    workgroup_size_y INTEGER NOT NULL,
    workgroup_size_z INTEGER NOT NULL,
    grid_size_x INTEGER NOT NULL,
    grid_size_y INTEGER NOT NULL,
    grid_size_z INTEGER NOT NULL,
    region_name_id INTEGER REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_memory_copy{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER REFERENCES rocpd_info_thread{uuid} (id) ON UPDATE CASCADE,
    start BIGINT NOT NULL,
    end BIGINT NOT NULL,
    name_id INTEGER NOT NULL REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    dst_agent_id INTEGER REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    dst_address INTEGER,
    src_agent_id INTEGER REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    src_address INTEGER,
    size INTEGER NOT NULL,
    queue_id INTEGER REFERENCES rocpd_info_queue{uuid} (id) ON UPDATE CASCADE,
    stream_id INTEGER REFERENCES rocpd_info_stream{uuid} (id) ON UPDATE CASCADE,
    region_name_id INTEGER REFERENCES rocpd_string{uuid} (id) ON UPDATE CASCADE,
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_memory_allocate{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER REFERENCES rocpd_info_thread{uuid} (id) ON UPDATE CASCADE,
    agent_id INTEGER REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    type TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')),
    level TEXT CHECK (level IN ('REAL', 'VIRTUAL', 'SCRATCH')),
    start BIGINT NOT NULL,
    end BIGINT NOT NULL,
    address INTEGER,
    size INTEGER NOT NULL,
    queue_id INTEGER REFERENCES rocpd_info_queue{uuid} (id) ON UPDATE CASCADE,
    stream_id INTEGER REFERENCES rocpd_info_stream{uuid} (id) ON UPDATE CASCADE,
    event_id INTEGER REFERENCES rocpd_event{uuid} (id) ON UPDATE CASCADE,
    extdata JSONB NOT NULL DEFAULT '{}'
);
