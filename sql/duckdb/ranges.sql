-- What did the GPU do for each range? Ops carry the id of their innermost range, so the work of a range is counted there and not
-- in the ranges around it. Markers are ranges without length.
WITH work AS (
    SELECT range_id AS id, count(*) AS ops, sum(duration) AS gpu_ns
    FROM ops
    WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
    GROUP BY range_id
)
SELECT coalesce(name, '(no name)') AS text, duration = 0 AS marker, count(*) AS count, sum(duration) AS total_ns,
    coalesce(sum(ops), 0) AS ops, coalesce(sum(gpu_ns), 0) AS gpu_ns
FROM ranges LEFT JOIN work USING (id)
WHERE duration IS NOT NULL
GROUP BY ALL
ORDER BY gpu_ns DESC, total_ns DESC, text;
