-- Which rows cannot be right? Rows without an end, that end before they start, or without length, and kernels that overlap another
-- one of their queue or repeat it.
WITH spans AS (
    SELECT 'dispatches' AS rows, start, stop FROM dispatches
    UNION ALL SELECT 'copies', start, stop FROM copies
    UNION ALL SELECT 'api_calls', start, stop FROM api_calls
    UNION ALL SELECT 'ranges', start, stop FROM ranges
),
reached AS (
    SELECT start,
        max(stop) OVER (
            PARTITION BY pid, gpu, queue ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM dispatches WHERE duration IS NOT NULL
)
SELECT rows || '.missing' AS finding, count(*) FILTER (stop IS NULL) AS count FROM spans GROUP BY rows
UNION ALL SELECT rows || '.negative', count(*) FILTER (stop < start) FROM spans GROUP BY rows
UNION ALL SELECT rows || '.zero', count(*) FILTER (stop = start) FROM spans GROUP BY rows
UNION ALL SELECT 'overlaps.count', count(*) FILTER (start < before) FROM reached
UNION ALL SELECT 'duplicates.count', coalesce(sum(copies - 1), 0) FROM (
    SELECT count(*) AS copies FROM dispatches WHERE duration IS NOT NULL GROUP BY pid, gpu, queue, name, start, stop
)
ORDER BY finding;
