-- How much had each GPU been given to do, and why was it idle? An op is pending from the moment at which it was enqueued, or
-- at which its call returned, but at the latest from its start, to its end. host_ns is the idle time in which nothing was
-- pending, waiting_ns the rest. GPUs with no op that is tied to the host are left out. Only files with traced calls have
-- rocpd_api.
WITH calls AS (
    SELECT ifnull(pid, 0) AS process, correlationId AS correlation, start, max(start, ifnull(end, start)) AS end
    FROM (
        SELECT *, row_number() OVER (PARTITION BY pid, correlationId ORDER BY start, end) AS place FROM rocpd_api
    )
    WHERE place = 1 AND correlationId <> 0
),
ops AS (
    SELECT gpuId AS gpu, op.start, op.end, enqueued, calls.start AS called, calls.end AS returned,
        ifnull(op.pid, 0) AS process, op.correlationId AS correlation,
        type.string LIKE 'Copy%' OR type.string = 'FillBuffer' AS copy,
        CASE WHEN description_id IS NULL THEN '(no name)' ELSE coalesce(name.string, '(dangling name)') END AS stored
    FROM rocpd_op AS op
        LEFT JOIN rocpd_string AS name ON name.id = description_id
        JOIN rocpd_string AS type ON type.id = opType_id AND type.string NOT IN ('Barrier', 'UserMarker')
        LEFT JOIN calls ON calls.process = ifnull(op.pid, 0) AND calls.correlation = op.correlationId
    WHERE op.end >= op.start AND ifnull(gpuId, 0) >= 0
),
pending AS (
    SELECT gpu, max(min(coalesce(enqueued, returned, start), start), min(start) OVER (PARTITION BY gpu)) AS since, start, end,
        max(enqueued IS NOT NULL OR returned IS NOT NULL) OVER (PARTITION BY gpu) AS known
    FROM ops
),
edges AS (
    SELECT gpu, since AS time, 1 AS pending, 0 AS running FROM pending WHERE known
    UNION ALL SELECT gpu, start, 0, 1 FROM pending WHERE known
    UNION ALL SELECT gpu, end, -1, -1 FROM pending WHERE known
),
steps AS (SELECT gpu, time, sum(pending) AS pending, sum(running) AS running FROM edges GROUP BY gpu, time),
levels AS (
    SELECT gpu, ifnull(lead(time) OVER by_time - time, 0) AS length,
        sum(pending) OVER by_time AS depth, sum(running) OVER by_time AS running
    FROM steps
    WINDOW by_time AS (PARTITION BY gpu ORDER BY time)
)
SELECT gpu,
    sum(length) AS wall_ns,
    1.0 * sum(depth * length) / sum(length) AS mean,
    max(depth) AS max,
    sum(iif(running = 0, length, 0)) AS idle_ns,
    sum(iif(depth = 0, length, 0)) AS host_ns,
    sum(iif(running = 0 AND depth > 0, length, 0)) AS waiting_ns
FROM levels
GROUP BY gpu
ORDER BY gpu;
