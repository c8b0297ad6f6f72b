-- How long did copies take, by direction?
SELECT direction, count(*) AS copies, sum(duration) AS total_ns, min(duration) AS min_ns, max(duration) AS max_ns
FROM copies
WHERE duration IS NOT NULL
GROUP BY direction
ORDER BY total_ns DESC, direction;
