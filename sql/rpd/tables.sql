-- The tables of RPD, schema 3, by the names, types and order of columns that its tools rely on. The keys of
-- rocpd_kernelapi and rocpd_copyapi are declared as integers, so that they are the rows' ids and need no index.

CREATE TABLE rocpd_metadata (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    tag varchar(4096) NOT NULL,
    value varchar(4096) NOT NULL
);

CREATE TABLE rocpd_string (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    string varchar(4096) NOT NULL
);

CREATE TABLE rocpd_ustring (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    string varchar(4096) NOT NULL
);

CREATE TABLE rocpd_api (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    pid integer NOT NULL,
    tid integer NOT NULL,
    start integer NOT NULL,
    end integer NOT NULL,
    apiName_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
    category_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
    domain_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
    args_id bigint NOT NULL REFERENCES rocpd_ustring (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE rocpd_copyapi (
    api_ptr_id integer NOT NULL PRIMARY KEY REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED,
    stream varchar(18) NOT NULL,
    size integer NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    kind integer NOT NULL,
    dst varchar(18) NOT NULL,
    src varchar(18) NOT NULL,
    dstDevice integer NOT NULL,
    srcDevice integer NOT NULL,
    sync bool NOT NULL,
    pinned bool NOT NULL
);

CREATE TABLE rocpd_kernelapi (
    api_ptr_id integer NOT NULL PRIMARY KEY REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED,
    stream varchar(18) NOT NULL,
    gridX integer NOT NULL,
    gridY integer NOT NULL,
    gridZ integer NOT NULL,
    workgroupX integer NOT NULL,
    workgroupY integer NOT NULL,
    workgroupZ integer NOT NULL,
    groupSegmentSize integer NOT NULL,
    privateSegmentSize integer NOT NULL,
    kernelName_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE rocpd_op (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    gpuId integer NOT NULL,
    queueId integer NOT NULL,
    sequenceId integer NOT NULL,
    start integer NOT NULL,
    end integer NOT NULL,
    description_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED,
    opType_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE rocpd_api_ops (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    api_id bigint NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED,
    op_id bigint NOT NULL REFERENCES rocpd_op (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE rocpd_monitor (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    deviceType varchar(16) NOT NULL,
    deviceId integer NOT NULL,
    monitorType varchar(16) NOT NULL,
    start integer NOT NULL,
    end integer NOT NULL,
    value varchar(255) NOT NULL
);

CREATE TABLE rocpd_counter (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    value real NOT NULL,
    op_id bigint NOT NULL REFERENCES rocpd_op (id) DEFERRABLE INITIALLY DEFERRED,
    name_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE rocpd_stackframe (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    api_ptr_id bigint NOT NULL REFERENCES rocpd_api (id) DEFERRABLE INITIALLY DEFERRED,
    depth integer NOT NULL,
    name_id bigint NOT NULL REFERENCES rocpd_string (id) DEFERRABLE INITIALLY DEFERRED
);

-- Where SQLite keeps the last id of each table.
CREATE TABLE sqlite_sequence (
    name,
    seq
);
