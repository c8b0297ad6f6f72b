-- What did the GPU do for each range? Ops carry the number of their innermost range, so what a range encloses is
-- counted there and not in the ranges around it. Markers are ranges without length.
WITH ops AS (
    SELECT op.id, gpuId, start, end, end - start AS duration, roctxId,
        CASE WHEN description_id IS NULL THEN '(no name)' ELSE coalesce(name.string, '(dangling name)') END AS stored,
        CASE
            WHEN type.string LIKE 'Copy%' OR type.string = 'FillBuffer' THEN 'copy'
            WHEN type.string IN ('Barrier', 'UserMarker') THEN type.string
            ELSE 'kernel'
        END AS class,
        type.string AS type
    FROM rocpd_op AS op
        LEFT JOIN rocpd_string AS name ON name.id = description_id
        LEFT JOIN rocpd_string AS type ON type.id = opType_id
    WHERE end >= start AND ifnull(gpuId, 0) >= 0
),
ranges AS (
    SELECT roctxId AS range, end - start AS duration, coalesce(name.string, '(no name)') AS text
    FROM rocpd_op
        JOIN rocpd_string AS type ON type.id = opType_id AND type.string = 'UserMarker'
        LEFT JOIN rocpd_string AS name ON name.id = description_id
    WHERE end >= start
),
work AS (
    SELECT roctxId AS range, count(*) AS ops, sum(duration) AS gpu_ns
    FROM ops WHERE class IN ('kernel', 'copy') AND roctxId <> 0 GROUP BY roctxId
)
SELECT text, duration = 0 AS marker, count(*) AS count, sum(duration) AS total_ns,
    ifnull(sum(ops), 0) AS ops, ifnull(sum(gpu_ns), 0) AS gpu_ns
FROM ranges LEFT JOIN work USING (range)
GROUP BY text, duration = 0
ORDER BY gpu_ns DESC, total_ns DESC, text;
