-- What did kernels take by the innermost range around their launch?
SELECT coalesce(ranges.name, '(no range)') AS name, count(*) AS calls,
    sum(dispatches.duration) AS total_ns,
    min(dispatches.duration) AS min_ns,
    max(dispatches.duration) AS max_ns
FROM dispatches LEFT JOIN ranges ON ranges.id = range_id AND ranges.duration IS NOT NULL
WHERE dispatches.duration IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
