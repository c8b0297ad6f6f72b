-- When was each GPU without work for longest?
WITH reached AS (
    SELECT gpu, start,
        max(stop) OVER (
            PARTITION BY gpu ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
)
SELECT gpu, before AS start_ns, start - before AS duration_ns
FROM reached WHERE start > before
ORDER BY duration_ns DESC, start_ns, gpu
LIMIT 10;
