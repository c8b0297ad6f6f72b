-- Where did the host's time in calls go? One row for each function of a library; calls made by other calls count in both.
-- errors counts calls that returned another status than 0. Only files with traced calls have rocpd_api.
WITH calls AS (
    SELECT domain.string AS domain, coalesce(name.string, '(no name)') AS name, end - start AS duration, result
    FROM rocpd_api
        LEFT JOIN rocpd_string AS name ON name.id = apiName_id
        LEFT JOIN rocpd_string AS domain ON domain.id = domain_id
    WHERE end >= start
),
ranked AS (
    SELECT *,
        row_number() OVER (PARTITION BY domain, name ORDER BY duration) AS place,
        count(*) OVER (PARTITION BY domain, name) AS calls,
        sum(duration) OVER () AS every
    FROM calls
)
SELECT domain, name, calls,
    sum(duration) AS total_ns,
    1.0 * sum(duration) / calls AS mean_ns,
    min(duration) AS min_ns,
    max(CASE WHEN place = (calls * 50 + 99) / 100 THEN duration END) AS p50_ns,
    max(CASE WHEN place = (calls * 95 + 99) / 100 THEN duration END) AS p95_ns,
    max(CASE WHEN place = (calls * 99 + 99) / 100 THEN duration END) AS p99_ns,
    max(duration) AS max_ns,
    1.0 * sum(duration) / every AS share,
    sum(ifnull(result, 0) <> 0) AS errors
FROM ranked
GROUP BY domain, name
ORDER BY total_ns DESC, name, domain;
