-- How much had each GPU been given to do, and why was it idle? An op is pending from the moment at which it was enqueued, or at
-- which its call returned, but at the latest from its start, to its end. host_ns is the idle time in which nothing was pending,
-- waiting_ns the rest. GPUs with no op that is tied to the host are left out.
WITH calls AS (
    SELECT coalesce(pid, 0) AS process, correlation_id, min_by(greatest(start, coalesce(stop, start)), start) AS returned
    FROM api_calls WHERE correlation_id IS NOT NULL
    GROUP BY ALL
),
pending AS (
    SELECT gpu, start, stop,
        greatest(
            least(coalesce(enqueued, returned, start), start), min(start) OVER (PARTITION BY gpu)
        ) AS since,
        bool_or(enqueued IS NOT NULL OR returned IS NOT NULL) OVER (PARTITION BY gpu) AS known
    FROM ops
        LEFT JOIN calls ON calls.process = coalesce(ops.pid, 0) AND calls.correlation_id = ops.correlation_id
    WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
edges AS (
    SELECT gpu, since AS time, 1 AS pending, 0 AS running FROM pending WHERE known
    UNION ALL SELECT gpu, start, 0, 1 FROM pending WHERE known
    UNION ALL SELECT gpu, stop, -1, -1 FROM pending WHERE known
),
steps AS (SELECT gpu, time, sum(pending) AS pending, sum(running) AS running FROM edges GROUP BY gpu, time),
levels AS (
    SELECT gpu, coalesce(lead(time) OVER by_time - time, 0) AS length,
        sum(pending) OVER by_time AS depth, sum(running) OVER by_time AS running
    FROM steps
    WINDOW by_time AS (PARTITION BY gpu ORDER BY time)
)
SELECT gpu,
    sum(length) AS wall_ns,
    sum(depth * length) / sum(length) AS mean,
    max(depth) AS max,
    coalesce(sum(length) FILTER (running = 0), 0) AS idle_ns,
    coalesce(sum(length) FILTER (depth = 0), 0) AS host_ns,
    coalesce(sum(length) FILTER (running = 0 AND depth > 0), 0) AS waiting_ns
FROM levels
GROUP BY gpu
ORDER BY gpu;
