-- What kept each GPU busy? The union of intervals for each class: kernel, collective, copy. Classes run at the same time, so
-- their unions add up to more than the whole.
WITH classed AS (
    SELECT gpu, start, stop, CASE WHEN category = 'collective' THEN 'collective' ELSE kind END AS class
    FROM ops WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
reached AS (
    SELECT *,
        max(stop) OVER (
            PARTITION BY gpu, class ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM classed
)
SELECT gpu, class, count(*) AS ops,
    sum(greatest(0, stop - greatest(start, coalesce(before, start)))) AS busy_ns
FROM reached
GROUP BY gpu, class
ORDER BY gpu, class;
