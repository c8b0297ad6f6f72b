-- What kept each GPU busy? The union of intervals for each class: kernel, collective (nccl, rccl or
-- cross_device_reduce in the name), copy. Classes run at the same time, so their unions add up to more than the whole.
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
classed AS (
    SELECT gpuId, start, end,
        CASE
            WHEN class = 'kernel' AND (
                stored LIKE '%nccl%' OR stored LIKE '%rccl%' OR stored LIKE '%cross\_device\_reduce%' ESCAPE '\'
            ) THEN 'collective'
            ELSE class
        END AS class
    FROM ops WHERE class IN ('kernel', 'copy')
),
reached AS (
    SELECT *,
        max(end) OVER (
            PARTITION BY gpuId, class ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM classed
)
SELECT gpuId AS gpu, class, count(*) AS ops,
    sum(max(0, end - max(start, ifnull(before, start)))) AS busy_ns
FROM reached
GROUP BY gpuId, class
ORDER BY gpu, class;
