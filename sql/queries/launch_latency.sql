-- How long after its launch did each kernel start? From the moment of enqueueing where that is recorded, else from the start
-- of the call with its correlation id; of several ops of one call only the first tells. A start before the launch is in no
-- figure. The row of copies has no name. Only files with traced calls have rocpd_api.
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
tied AS (
    SELECT *, min(iif(enqueued IS NULL, start, NULL)) OVER (PARTITION BY process, correlation) AS first FROM ops
),
latencies AS (
    SELECT CASE
            WHEN copy THEN NULL
            WHEN stored LIKE '%.kd' THEN substr(stored, 1, length(stored) - 3)
            WHEN stored LIKE '% [clone .kd]' THEN substr(stored, 1, length(stored) - 12)
            ELSE stored
        END AS name,
        start - ifnull(enqueued, called) AS latency
    FROM tied
    WHERE enqueued IS NOT NULL OR called IS NOT NULL AND start = first
),
ranked AS (
    SELECT name, latency,
        row_number() OVER (PARTITION BY name ORDER BY latency) AS place,
        count(*) OVER (PARTITION BY name) AS launches
    FROM latencies
    WHERE latency >= 0
)
SELECT name, launches,
    sum(latency) AS total_ns,
    min(latency) AS min_ns,
    max(CASE WHEN place = (launches * 50 + 99) / 100 THEN latency END) AS p50_ns,
    max(CASE WHEN place = (launches * 95 + 99) / 100 THEN latency END) AS p95_ns,
    max(CASE WHEN place = (launches * 99 + 99) / 100 THEN latency END) AS p99_ns,
    max(latency) AS max_ns
FROM ranked
GROUP BY name
ORDER BY total_ns DESC, name;
