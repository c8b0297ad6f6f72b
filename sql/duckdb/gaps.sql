-- When did each GPU have nothing to do? The time between the latest end so far and the next start. bucket_us is the lower bound
-- of a bucket; the last one has no upper bound.
WITH reached AS (
    SELECT gpu, start,
        max(stop) OVER (
            PARTITION BY gpu ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
gaps AS (SELECT gpu, start - before AS gap FROM reached WHERE start > before)
SELECT gpu,
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
GROUP BY ALL
ORDER BY gpu, bucket_us;
