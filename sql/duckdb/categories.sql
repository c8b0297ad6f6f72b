-- How is the time of kernels divided among categories, with exact percentiles (nearest rank)?
SELECT category AS name, count(*) AS calls,
    sum(duration) AS total_ns,
    avg(duration) AS mean_ns,
    min(duration) AS min_ns,
    quantile_disc(duration, 0.50) AS p50_ns,
    quantile_disc(duration, 0.95) AS p95_ns,
    quantile_disc(duration, 0.99) AS p99_ns,
    max(duration) AS max_ns,
    coalesce(sum(duration) / nullif(sum(sum(duration)) OVER (), 0), 0) AS share
FROM dispatches
WHERE duration IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
