-- How busy was each GPU? busy_ns is the union of the intervals of kernels and copies, so that ops that overlap count once;
-- busy_ns and idle_ns add up to wall_ns, from the first start to the last end on that GPU.
WITH reached AS (
    SELECT gpu, start, stop,
        max(stop) OVER (
            PARTITION BY gpu ORDER BY start, stop ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM ops WHERE kind IN ('kernel', 'copy') AND duration IS NOT NULL AND gpu IS NOT NULL
),
busy AS (
    SELECT gpu, count(*) AS ops,
        sum(greatest(0, stop - greatest(start, coalesce(before, start)))) AS busy_ns,
        max(stop) - min(start) AS wall_ns
    FROM reached GROUP BY gpu
)
SELECT gpu, ops, busy_ns, wall_ns, wall_ns - busy_ns AS idle_ns FROM busy ORDER BY gpu;
