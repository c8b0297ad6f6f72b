-- The views of RPD, schema 3, by the names and columns that its tools ask for. Other than RPD's own, `top` counts every
-- op: theirs takes ops of one name that start and end together, as on several GPUs, for one.

CREATE VIEW api AS
SELECT call.id, call.pid, call.tid, call.start, call.end,
    domain.string AS domain, category.string AS category, name.string AS apiName, args.string AS args
FROM rocpd_api AS call
JOIN rocpd_string AS domain ON domain.id = call.domain_id
JOIN rocpd_string AS category ON category.id = call.category_id
JOIN rocpd_string AS name ON name.id = call.apiName_id
JOIN rocpd_ustring AS args ON args.id = call.args_id;

CREATE VIEW op AS
SELECT op.id, op.gpuId, op.queueId, op.sequenceId, op.start, op.end,
    name.string AS description, kind.string AS opType
FROM rocpd_op AS op
JOIN rocpd_string AS name ON name.id = op.description_id
JOIN rocpd_string AS kind ON kind.id = op.opType_id;

CREATE VIEW busy AS
SELECT gpuId, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy
FROM (SELECT gpuId, sum(end - start) AS GpuTime FROM rocpd_op GROUP BY gpuId)
JOIN (SELECT max(end) - min(start) AS WallTime FROM rocpd_op);

CREATE VIEW top AS
SELECT name.string AS Name,
    sum(calls) AS TotalCalls,
    sum(total) / 1000 AS TotalDuration_us,
    sum(total) / sum(calls) / 1000.0 AS Ave_us,
    sum(total) * 100.0 / (SELECT sum(end - start) FROM rocpd_op) AS Percentage
FROM (
    SELECT CASE
            WHEN description_id IN (SELECT id FROM rocpd_string WHERE string = '') THEN opType_id
            ELSE description_id
        END AS name_id,
        count(*) AS calls,
        sum(end - start) AS total
    FROM rocpd_op
    GROUP BY 1
)
JOIN rocpd_string AS name ON name.id = name_id
GROUP BY name.string
ORDER BY TotalDuration_us DESC;

CREATE VIEW kernel AS
SELECT op.id, op.gpuId, op.queueId, op.sequenceId, op.start, op.end, op.end - op.start AS duration,
    launch.stream, launch.gridX, launch.gridY, launch.gridZ AS gridz,
    launch.workgroupX, launch.workgroupY, launch.workgroupZ,
    launch.groupSegmentSize, launch.privateSegmentSize, name.string AS kernelName
FROM rocpd_api_ops AS link
JOIN rocpd_op AS op ON op.id = link.op_id
JOIN rocpd_kernelapi AS launch ON launch.api_ptr_id = link.api_id
JOIN rocpd_string AS name ON name.id = launch.kernelName_id;

CREATE VIEW copy AS
SELECT call.id, call.pid, call.tid, call.start, call.end, name.string AS apiName,
    asked.stream, asked.size, asked.width, asked.height, asked.kind, asked.dst, asked.src,
    asked.dstDevice, asked.srcDevice, asked.sync, asked.pinned
FROM rocpd_copyapi AS asked
JOIN rocpd_api AS call ON call.id = asked.api_ptr_id
JOIN rocpd_string AS name ON name.id = call.apiName_id;

CREATE VIEW copyop AS
SELECT op.id, op.gpuId, op.queueId, op.sequenceId, op.start, op.end, op.end - op.start AS duration,
    asked.stream, asked.size, asked.width, asked.height, asked.kind, asked.dst, asked.src,
    asked.dstDevice, asked.srcDevice, asked.sync, asked.pinned, name.string AS apiName
FROM rocpd_api_ops AS link
JOIN rocpd_op AS op ON op.id = link.op_id
JOIN rocpd_copyapi AS asked ON asked.api_ptr_id = link.api_id
JOIN rocpd_api AS call ON call.id = link.api_id
JOIN rocpd_string AS name ON name.id = call.apiName_id;

CREATE VIEW stackframe AS
SELECT call.id, name.string, frame.depth, text.string
FROM rocpd_stackframe AS frame
JOIN rocpd_api AS call ON call.id = frame.api_ptr_id
JOIN rocpd_string AS name ON name.id = call.apiName_id
JOIN rocpd_string AS text ON text.id = frame.name_id;

CREATE VIEW napi AS
SELECT id, pid / stride AS node, pid % stride AS pid, tid % stride AS tid, start, end,
    domain, category, apiName, args
FROM api, (SELECT CAST(value AS integer) AS stride FROM rocpd_metadata WHERE tag = 'pid_stride');

CREATE VIEW nop AS
SELECT id, gpuId / stride AS node, gpuId % stride AS gpuId, queueId % stride AS queueId, sequenceId, start, end,
    description, opType
FROM op, (SELECT CAST(value AS integer) AS stride FROM rocpd_metadata WHERE tag = 'gpu_stride');
