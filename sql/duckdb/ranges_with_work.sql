-- What did the GPUs do within each range, the ranges inside it included? gpu_busy_ns is the union of the intervals of its ops on each
-- GPU, added over the GPUs. Markers are ranges without length.
WITH known AS (SELECT coalesce(name, '(no name)') AS name, id, start, stop, duration, marker FROM ranges WHERE duration IS NOT NULL),
around AS (
    SELECT DISTINCT inner_range.id, outer_range.name
    FROM known AS inner_range JOIN known AS outer_range
        ON outer_range.start <= inner_range.start AND inner_range.stop <= outer_range.stop AND NOT outer_range.marker
),
reached AS (
    SELECT around.name, gpu, start, stop, duration,
        max(stop) OVER (
            PARTITION BY around.name, gpu ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops JOIN around ON around.id = range_id
    WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
work AS (
    SELECT name, count(*) AS ops, sum(duration) AS gpu_ns,
        sum(greatest(0, stop - greatest(start, coalesce(before, start)))) AS gpu_busy_ns
    FROM reached GROUP BY name
)
SELECT name, marker, count(*) AS calls,
    sum(duration) AS total_ns,
    min(duration) AS min_ns,
    quantile_disc(duration, 0.50) AS p50_ns,
    max(duration) AS max_ns,
    CASE WHEN marker THEN 0 ELSE coalesce(any_value(ops), 0) END AS ops,
    CASE WHEN marker THEN 0 ELSE coalesce(any_value(gpu_ns), 0) END AS gpu_ns,
    CASE WHEN marker THEN 0 ELSE coalesce(any_value(gpu_busy_ns), 0) END AS gpu_busy_ns
FROM known LEFT JOIN work USING (name)
GROUP BY name, marker
ORDER BY gpu_ns DESC, total_ns DESC, name;
