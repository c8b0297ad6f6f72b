//! The tables of other tools, written from what their files show.

/// rocm-trace-lite 0.3.7: everything it creates, whether it has rows or not.
pub const LITE: &str = "
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT UNIQUE);
CREATE TABLE rocpd_op (
    id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, completionSignal TEXT,
    start INTEGER, end INTEGER, description_id INTEGER REFERENCES rocpd_string(id),
    opType_id INTEGER REFERENCES rocpd_string(id), roctxId INTEGER DEFAULT 0
);
CREATE TABLE rocpd_api (
    id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
    apiName_id INTEGER REFERENCES rocpd_string(id), args_id INTEGER REFERENCES rocpd_string(id)
);
CREATE TABLE rocpd_api_ops (
    id INTEGER PRIMARY KEY, api_id INTEGER REFERENCES rocpd_api(id), op_id INTEGER REFERENCES rocpd_op(id)
);
CREATE TABLE rocpd_kernelapi (
    api_id INTEGER PRIMARY KEY REFERENCES rocpd_api(id), stream TEXT, gridX INTEGER, gridY INTEGER,
    gridZ INTEGER, workgroupX INTEGER, workgroupY INTEGER, workgroupZ INTEGER, groupSegmentSize INTEGER,
    privateSegmentSize INTEGER, kernelName_id INTEGER REFERENCES rocpd_string(id)
);
CREATE TABLE rocpd_copyapi (
    api_id INTEGER PRIMARY KEY REFERENCES rocpd_api(id), stream TEXT, size INTEGER, dst TEXT, src TEXT,
    kind INTEGER, sync INTEGER
);
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE rocpd_monitor (
    id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT, start INTEGER, end INTEGER,
    value TEXT
);
CREATE VIEW top AS
SELECT string AS Name, count(*) AS Calls, sum(end - start) AS TotalNs, round(avg(end - start), 1) AS AvgNs,
    min(end - start) AS MinNs, max(end - start) AS MaxNs,
    round(100.0 * sum(end - start)
        / (SELECT sum(end - start) FROM rocpd_op WHERE end > start AND gpuId >= 0), 2) AS Pct
FROM rocpd_op JOIN rocpd_string ON rocpd_string.id = description_id
WHERE end > start AND gpuId >= 0 GROUP BY string ORDER BY TotalNs DESC;
CREATE VIEW busy AS
SELECT gpuId, round(100.0 * sum(end - start) / (max(end) - min(start)), 2) AS utilization_pct, count(*) AS ops,
    sum(end - start) AS busy_ns, max(end) - min(start) AS wall_ns
FROM rocpd_op WHERE end > start GROUP BY gpuId;
";

/// RPD schema 3 without its views; schema 2 differs by a `completionSignal` in `rocpd_op` and has no
/// `schema_version` row.
pub const RPD3: &str = "
CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096) NOT NULL, value varchar(4096) NOT NULL);
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_ustring (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_api (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL, tid integer NOT NULL, start integer NOT NULL,
    end integer NOT NULL, apiName_id bigint NOT NULL, category_id bigint NOT NULL, domain_id bigint NOT NULL,
    args_id bigint NOT NULL
);
CREATE TABLE rocpd_copyapi (
    api_ptr_id bigint NOT NULL PRIMARY KEY, stream varchar(18) NOT NULL, size integer NOT NULL, width integer NOT NULL,
    height integer NOT NULL, kind integer NOT NULL, dst varchar(18) NOT NULL, src varchar(18) NOT NULL,
    dstDevice integer NOT NULL, srcDevice integer NOT NULL, sync bool NOT NULL, pinned bool NOT NULL
);
CREATE TABLE rocpd_kernelapi (
    api_ptr_id bigint NOT NULL PRIMARY KEY, stream varchar(18) NOT NULL, gridX integer NOT NULL, gridY integer NOT NULL,
    gridZ integer NOT NULL, workgroupX integer NOT NULL, workgroupY integer NOT NULL, workgroupZ integer NOT NULL,
    groupSegmentSize integer NOT NULL, privateSegmentSize integer NOT NULL, kernelName_id bigint NOT NULL
);
CREATE TABLE rocpd_op (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL, queueId integer NOT NULL,
    sequenceId integer NOT NULL, start integer NOT NULL, end integer NOT NULL, description_id bigint NOT NULL,
    opType_id bigint NOT NULL
);
CREATE TABLE rocpd_api_ops (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_id bigint NOT NULL, op_id bigint NOT NULL);
CREATE TABLE rocpd_monitor (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, deviceType varchar(16) NOT NULL, deviceId integer NOT NULL,
    monitorType varchar(16) NOT NULL, start integer NOT NULL, end integer NOT NULL, value varchar(255) NOT NULL
);
CREATE TABLE rocpd_counter (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, value real NOT NULL, op_id bigint NOT NULL, name_id bigint NOT NULL);
CREATE TABLE rocpd_stackframe (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_ptr_id bigint NOT NULL, depth integer NOT NULL, name_id bigint NOT NULL);
CREATE INDEX rocpd_strin_string_c7b9cd_idx ON rocpd_string (string);
CREATE INDEX rocpd_ustri_string_84d4a7_idx ON rocpd_ustring (string);
INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu_stride', '1000'), ('pid_stride', '10000000'), ('schema_version', '3');
INSERT INTO rocpd_ustring(id, string) VALUES (1, '');
";
