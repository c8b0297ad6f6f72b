-- When did each GPU have nothing to do? The time between the latest end so far and the next start, by rpt's buckets:
-- a bound belongs to the bucket above it. bucket_us is the lower bound; the last bucket has no upper one.
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
    SELECT gpuId, start,
        max(end) OVER (
            PARTITION BY gpuId ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops WHERE class IN ('kernel', 'copy')
),
gaps AS (SELECT gpuId, start - before AS gap FROM reached WHERE start > before)
SELECT gpuId AS gpu,
    CASE
        WHEN gap < 10000 THEN 0
        WHEN gap < 20000 THEN 10
        WHEN gap < 50000 THEN 20
        WHEN gap < 100000 THEN 50
        WHEN gap < 1000000 THEN 100
        WHEN gap < 10000000 THEN 1000
        WHEN gap < 100000000 THEN 10000
        ELSE 100000
    END AS bucket_us,
    count(*) AS gaps, sum(gap) AS total_ns, max(gap) AS longest_ns
FROM gaps
GROUP BY gpu, bucket_us
ORDER BY gpu, bucket_us;
