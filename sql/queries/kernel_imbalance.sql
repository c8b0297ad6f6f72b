-- How unevenly do GPUs share each kernel? For a trace of ranks with a GPU each: the most time of a GPU beside the mean of
-- those that ran the kernel, what evenness would save most first. Collectives are left out: their time is waiting.
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
totals AS (
    SELECT name, gpuId, count(*) AS calls, sum(duration) AS total, avg(duration) AS call
    FROM kernels WHERE NOT collective GROUP BY name, gpuId
)
SELECT name, count(*) AS ranks, min(calls) AS least_calls, max(calls) AS most_calls,
    max(total) AS most_ns, avg(total) AS mean_ns,
    max(0, ifnull(max(total) / nullif(avg(total), 0) - 1, 0)) AS imbalance,
    max(0, ifnull(max(call) / nullif(avg(call), 0) - 1, 0)) AS call_imbalance
FROM totals
GROUP BY name
HAVING count(*) > 1
ORDER BY max(total) - avg(total) DESC, name;
