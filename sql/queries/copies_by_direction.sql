-- How long did copies take, by direction? copy_bandwidth.sql adds bytes, which only the native layout has.
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
)
SELECT type, count(*) AS copies, sum(duration) AS total_ns, min(duration) AS min_ns, max(duration) AS max_ns
FROM ops
WHERE class = 'copy'
GROUP BY type
ORDER BY total_ns DESC, type;
