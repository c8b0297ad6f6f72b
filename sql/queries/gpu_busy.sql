-- How busy was each GPU? busy_ns is the union of the intervals of kernels and copies, so that ops that overlap count
-- once; busy_ns and idle_ns add up to wall_ns, from the first start to the last end on that GPU. Barriers wait and
-- are no work.
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
reached AS (
    SELECT gpuId, start, end,
        max(end) OVER (
            PARTITION BY gpuId ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops WHERE class IN ('kernel', 'copy')
),
busy AS (
    SELECT gpuId, count(*) AS ops,
        sum(max(0, end - max(start, ifnull(before, start)))) AS busy_ns,
        max(end) - min(start) AS wall_ns
    FROM reached GROUP BY gpuId
)
SELECT gpuId AS gpu, ops, busy_ns, wall_ns, wall_ns - busy_ns AS idle_ns FROM busy ORDER BY gpu;
