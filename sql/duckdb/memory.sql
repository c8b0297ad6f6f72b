-- How much memory of each GPU did programs have from the runtime, and how much scratch? A release states an address alone, so it ends the
-- block that was allocated there last. Peaks are running sums in the order of the events.
WITH numbered AS (
    SELECT *, row_number() OVER () AS place, kind IN ('allocate', 'reallocate') AS takes FROM allocations
),
blocks AS (
    SELECT pid, gpu, bytes, takes, start, place,
        lag(takes) OVER by_address AS had, lag(gpu) OVER by_address AS old_gpu, lag(bytes) OVER by_address AS old_bytes
    FROM numbered WHERE level = 'real' AND address IS NOT NULL
    WINDOW by_address AS (PARTITION BY pid, address ORDER BY start, place)
),
changes AS (
    SELECT 'runtime' AS source, pid, old_gpu AS gpu, -old_bytes AS bytes, start, 2 * place AS place
    FROM blocks WHERE had AND old_gpu IS NOT NULL
    UNION ALL SELECT 'runtime', pid, gpu, bytes, start, 2 * place + 1 FROM blocks WHERE takes AND gpu IS NOT NULL
    UNION ALL SELECT 'scratch', pid, gpu, now - coalesce(lag(now) OVER (PARTITION BY pid, gpu, queue ORDER BY start, place), 0), start, 2 * place
    FROM (SELECT *, CASE WHEN takes THEN bytes ELSE 0 END AS now FROM numbered WHERE level = 'scratch' AND gpu IS NOT NULL)
),
used AS (
    SELECT *, sum(bytes) OVER (PARTITION BY source, pid, gpu ORDER BY start, place) AS used FROM changes
)
SELECT 'GPU ' || gpu AS device, source, pid,
    count(*) FILTER (bytes >= 0) AS allocations,
    coalesce(sum(bytes) FILTER (bytes >= 0), 0) AS allocated_bytes,
    count(*) FILTER (bytes < 0) AS releases,
    coalesce(-sum(bytes) FILTER (bytes < 0), 0) AS released_bytes,
    greatest(max(used), 0) AS peak_bytes,
    sum(bytes) AS last_bytes
FROM used
GROUP BY ALL
ORDER BY source, device, pid;
