-- How unevenly do GPUs share each kernel? For ranks with a GPU each: the most time of a GPU beside the mean of those that ran the
-- kernel, what evenness would save most first. Collectives are left out: their time is waiting.
WITH totals AS (
    SELECT name, gpu, count(*) AS calls, sum(duration) AS total, avg(duration) AS call
    FROM dispatches
    WHERE category <> 'collective' AND duration IS NOT NULL
    GROUP BY name, gpu
)
SELECT name, count(*) AS ranks, min(calls) AS least_calls, max(calls) AS most_calls,
    max(total) AS most_ns, avg(total) AS mean_ns,
    greatest(0, coalesce(max(total) / nullif(avg(total), 0) - 1, 0)) AS imbalance,
    greatest(0, coalesce(max(call) / nullif(avg(call), 0) - 1, 0)) AS call_imbalance
FROM totals
GROUP BY name
HAVING count(*) > 1
ORDER BY max(total) - avg(total) DESC, name;
