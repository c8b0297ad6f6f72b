-- How long after its launch did each kernel start? The row of copies has no name.
SELECT CASE WHEN kind = 'kernel' THEN name END AS name, count(*) AS launches,
    sum(launch_latency) AS total_ns,
    min(launch_latency) AS min_ns,
    quantile_disc(launch_latency, 0.50) AS p50_ns,
    quantile_disc(launch_latency, 0.95) AS p95_ns,
    quantile_disc(launch_latency, 0.99) AS p99_ns,
    max(launch_latency) AS max_ns
FROM ops
WHERE launch_latency IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
