-- Where does the time of kernels go? Every kernel with exact percentiles (nearest rank). variance_ns2 is that of the sample.
SELECT coalesce(name, '(no name)') AS name, count(*) AS calls,
    sum(duration) AS total_ns,
    min(duration) AS min_ns,
    quantile_disc(duration, 0.50) AS p50_ns,
    quantile_disc(duration, 0.95) AS p95_ns,
    quantile_disc(duration, 0.99) AS p99_ns,
    max(duration) AS max_ns,
    avg(duration) AS mean_ns,
    var_samp(duration) AS variance_ns2,
    coalesce(sum(duration) / nullif(sum(sum(duration)) OVER (), 0), 0) AS share
FROM dispatches
WHERE duration IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
