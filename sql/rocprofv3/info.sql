-- The tables of the same database that records refer to, again one set for each process ({uuid}, {guid}).

CREATE TABLE rocpd_metadata{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    tag TEXT NOT NULL,
    value TEXT NOT NULL
);

CREATE TABLE rocpd_string{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    string TEXT NOT NULL UNIQUE
);

CREATE TABLE rocpd_info_node{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    hash BIGINT NOT NULL UNIQUE,
    machine_id TEXT NOT NULL UNIQUE,
    system_name TEXT,
    hostname TEXT,
    release TEXT,
    version TEXT,
    hardware_name TEXT,
    domain_name TEXT
);

CREATE TABLE rocpd_info_process{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    ppid INTEGER,
    pid INTEGER NOT NULL,
    init BIGINT,
    fini BIGINT,
    start BIGINT,
    end BIGINT,
    command TEXT,
    environment JSONB NOT NULL DEFAULT '{}',
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_thread{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    ppid INTEGER,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    tid INTEGER NOT NULL,
    name TEXT,
    start BIGINT,
    end BIGINT,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_agent{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    type TEXT CHECK (type IN ('CPU', 'GPU')),
    absolute_index INTEGER,
    logical_index INTEGER,
    type_index INTEGER,
    uuid INTEGER,
    name TEXT,
    model_name TEXT,
    vendor_name TEXT,
    product_name TEXT,
    user_name TEXT,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_queue{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    name TEXT,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_stream{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    name TEXT,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_pmc{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    agent_id INTEGER REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU')),
    event_code INT,
    instance_id INTEGER,
    name TEXT NOT NULL,
    symbol TEXT NOT NULL,
    description TEXT,
    long_description TEXT DEFAULT '',
    component TEXT,
    units TEXT DEFAULT '',
    value_type TEXT CHECK (value_type IN ('ABS', 'ACCUM', 'RELATIVE')),
    block TEXT,
    expression TEXT,
    is_constant INTEGER,
    is_derived INTEGER,
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_code_object{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    agent_id INTEGER REFERENCES rocpd_info_agent{uuid} (id) ON UPDATE CASCADE,
    uri TEXT,
    load_base BIGINT,
    load_size BIGINT,
    load_delta BIGINT,
    storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY')),
    extdata JSONB NOT NULL DEFAULT '{}'
);

CREATE TABLE rocpd_info_kernel_symbol{uuid} (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    guid TEXT NOT NULL DEFAULT '{guid}',
    nid INTEGER NOT NULL REFERENCES rocpd_info_node{uuid} (id) ON UPDATE CASCADE,
    pid INTEGER NOT NULL REFERENCES rocpd_info_process{uuid} (id) ON UPDATE CASCADE,
    code_object_id INTEGER NOT NULL REFERENCES rocpd_info_code_object{uuid} (id) ON UPDATE CASCADE,
    kernel_name TEXT,
    display_name TEXT,
    kernel_object INTEGER,
    kernarg_segment_size INTEGER,
    kernarg_segment_alignment INTEGER,
    group_segment_size INTEGER,
    private_segment_size INTEGER,
    sgpr_count INTEGER,
    arch_vgpr_count INTEGER,
    accum_vgpr_count INTEGER,
    extdata JSONB NOT NULL DEFAULT '{}'
);
