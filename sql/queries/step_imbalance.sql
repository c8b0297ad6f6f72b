-- Whose steps take longest? For a trace of ranks with a GPU each, whose steps are ranges that hold kernels directly: the time
-- of the kernels in each that are no collectives. slowest_ns is the time of the slowest GPU in each step, mean_ns the mean of
-- all, both summed over the steps; slowest is how often a GPU alone took longest.
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
kernels AS (
    SELECT gpuId, start, end, duration, roctxId,
        CASE
            WHEN stored LIKE '%.kd' THEN substr(stored, 1, length(stored) - 3)
            WHEN stored LIKE '% [clone .kd]' THEN substr(stored, 1, length(stored) - 12)
            ELSE stored
        END AS name,
        stored LIKE '%nccl%' OR stored LIKE '%rccl%' OR stored LIKE '%cross\_device\_reduce%' ESCAPE '\' AS collective
    FROM ops WHERE class = 'kernel'
),
ranges AS (
    SELECT roctxId, start, coalesce(name.string, '(no name)') AS text
    FROM rocpd_op
        JOIN rocpd_string AS type ON type.id = opType_id AND type.string = 'UserMarker'
        LEFT JOIN rocpd_string AS name ON name.id = description_id
    WHERE end > start
),
steps AS (
    SELECT text, gpuId, sum(CASE WHEN collective THEN 0 ELSE duration END) AS time,
        row_number() OVER (PARTITION BY text, gpuId ORDER BY min(ranges.start)) AS step,
        count(*) OVER (PARTITION BY text, gpuId) AS steps
    FROM kernels JOIN ranges USING (roctxId)
    GROUP BY text, gpuId, roctxId
),
even AS (
    SELECT text FROM steps GROUP BY text HAVING min(steps) = max(steps) AND max(steps) > 2 AND count(DISTINCT gpuId) > 1
),
beside AS (
    SELECT *, max(time) OVER (PARTITION BY text, step) AS most FROM steps WHERE text IN even
),
ties AS (
    SELECT text, step, count(*) AS ties FROM beside WHERE time = most GROUP BY text, step
)
SELECT text AS range, gpuId AS gpu, count(*) AS steps, sum(time) AS total_ns,
    sum(time = most AND ties = 1) AS slowest,
    sum(most) AS slowest_ns,
    sum(sum(time)) OVER (PARTITION BY text) * 1.0 / count(*) OVER (PARTITION BY text) AS mean_ns
FROM beside JOIN ties USING (text, step)
GROUP BY text, gpuId
ORDER BY range, gpu;
