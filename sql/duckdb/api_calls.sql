-- Where did the host's time in calls go? One row for each function of a library; calls made by other calls count in both.
-- errors counts calls that returned another status than 0.
SELECT domain, coalesce(name, '(no name)') AS name, count(*) AS calls,
    sum(duration) AS total_ns,
    avg(duration) AS mean_ns,
    min(duration) AS min_ns,
    quantile_disc(duration, 0.50) AS p50_ns,
    quantile_disc(duration, 0.95) AS p95_ns,
    quantile_disc(duration, 0.99) AS p99_ns,
    max(duration) AS max_ns,
    sum(duration) / sum(sum(duration)) OVER () AS share,
    count(*) FILTER (result <> 0) AS errors
FROM api_calls
WHERE duration IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name, domain;
