-- Which GPU waited for which? For ranks with a GPU each, all in one communicator: the nth call of a collective on each GPU is
-- taken for the same collective where all GPUs have as many calls. A GPU waits from its own arrival to the last one's, and the
-- rest is transfer. Without clocks, where those of several machines are not one: the shortest stay is transfer.
WITH calls AS (
    SELECT gpu, name, start, stop, duration,
        row_number() OVER (PARTITION BY name, gpu ORDER BY stop, start) AS nth,
        count(*) OVER (PARTITION BY name, gpu) AS calls
    FROM collectives
    WHERE duration IS NOT NULL
        AND regexp_matches(lower(replace(name, '_', '')), 'allreduce|allgather|reducescatter|alltoall')
),
matched AS (
    SELECT name FROM calls GROUP BY name HAVING min(calls) = max(calls) AND count(DISTINCT gpu) > 1 AND max(calls) > 3
),
met AS (
    SELECT gpu, start, stop, duration,
        max(start) OVER one AS last_start,
        min(duration) OVER one AS shortest,
        count(*) OVER one AS gpus,
        row_number() OVER (PARTITION BY name, nth ORDER BY start DESC, gpu DESC) AS from_last,
        lag(start) OVER (PARTITION BY name, nth ORDER BY start, gpu) AS before,
        row_number() OVER (PARTITION BY name, nth ORDER BY duration, gpu) AS from_shortest
    FROM calls WHERE name IN (FROM matched)
    WINDOW one AS (PARTITION BY name, nth)
)
SELECT gpu, count(*) AS collectives,
    sum(last_start - start) AS wait_ns,
    sum(greatest(0, stop - last_start)) AS transfer_ns,
    count(*) FILTER (from_last = 1) AS last,
    sum(CASE WHEN from_last = 1 THEN (start - before) * (gpus - 1) ELSE 0 END) AS delay_ns,
    sum(duration - shortest) AS clock_free_wait_ns,
    sum(shortest) AS clock_free_transfer_ns,
    count(*) FILTER (from_shortest = 1) AS clock_free_last
FROM met
GROUP BY gpu
ORDER BY gpu;
