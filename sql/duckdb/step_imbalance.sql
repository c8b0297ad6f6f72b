-- Whose steps take longest? For ranks with a GPU each, whose steps are ranges that hold kernels directly: the time of the kernels
-- in each that are no collectives. slowest_ns is the time of the slowest GPU in each step, mean_ns the mean of all, both summed
-- over the steps; slowest is how often a GPU alone took longest.
WITH steps AS (
    SELECT coalesce(ranges.name, '(no name)') AS text, gpu,
        coalesce(sum(dispatches.duration) FILTER (dispatches.category <> 'collective'), 0) AS time,
        row_number() OVER (PARTITION BY text, gpu ORDER BY min(ranges.start)) AS step,
        count(*) OVER (PARTITION BY text, gpu) AS steps
    FROM dispatches JOIN ranges ON ranges.id = range_id
    WHERE ranges.duration > 0 AND dispatches.duration IS NOT NULL
    GROUP BY text, gpu, range_id
),
even AS (
    SELECT text FROM steps GROUP BY text HAVING min(steps) = max(steps) AND max(steps) > 2 AND count(DISTINCT gpu) > 1
),
beside AS (
    SELECT *, max(time) OVER (PARTITION BY text, step) AS most FROM steps WHERE text IN (FROM even)
),
ties AS (
    SELECT text, step, count(*) AS ties FROM beside WHERE time = most GROUP BY text, step
)
SELECT text AS range, gpu, count(*) AS steps, sum(time) AS total_ns,
    count(*) FILTER (time = most AND ties = 1) AS slowest,
    sum(most) AS slowest_ns,
    sum(sum(time)) OVER (PARTITION BY text) / count(*) OVER (PARTITION BY text) AS mean_ns
FROM beside JOIN ties USING (text, step)
GROUP BY text, gpu
ORDER BY range, gpu;
