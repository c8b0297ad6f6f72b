-- How long did kernels, collectives and copies run at the same time on each GPU, two of them or more? Every start and end changes the
-- number of running ops of a class. exposed_collective_ns is the time of collectives beside which no other kernel ran.
WITH classed AS (
    SELECT gpu, start, stop, CASE WHEN category = 'collective' THEN 'collective' ELSE kind END AS class
    FROM ops WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
edges AS (
    SELECT gpu, start AS time, class, 1 AS change FROM classed
    UNION ALL SELECT gpu, stop, class, -1 FROM classed
),
moments AS (
    SELECT gpu, time,
        coalesce(sum(change) FILTER (class = 'kernel'), 0) AS kernels,
        coalesce(sum(change) FILTER (class = 'collective'), 0) AS collectives,
        coalesce(sum(change) FILTER (class = 'copy'), 0) AS copies
    FROM edges GROUP BY gpu, time
),
spans AS (
    SELECT gpu, coalesce(lead(time) OVER by_time - time, 0) AS length,
        sum(kernels) OVER by_time > 0 AS kernel, sum(collectives) OVER by_time > 0 AS collective, sum(copies) OVER by_time > 0 AS copy
    FROM moments WINDOW by_time AS (PARTITION BY gpu ORDER BY time)
)
SELECT gpu,
    coalesce(sum(length) FILTER (kernel), 0) AS kernel_ns,
    coalesce(sum(length) FILTER (collective), 0) AS collective_ns,
    coalesce(sum(length) FILTER (copy), 0) AS copy_ns,
    coalesce(sum(length) FILTER (kernel::int + collective::int + copy::int > 1), 0) AS overlap_ns,
    coalesce(sum(length) FILTER (kernel AND collective), 0) AS kernel_collective_ns,
    coalesce(sum(length) FILTER (kernel AND copy), 0) AS kernel_copy_ns,
    coalesce(sum(length) FILTER (collective AND copy), 0) AS collective_copy_ns,
    coalesce(sum(length) FILTER (collective AND NOT kernel), 0) AS exposed_collective_ns
FROM spans
GROUP BY gpu
ORDER BY gpu;
