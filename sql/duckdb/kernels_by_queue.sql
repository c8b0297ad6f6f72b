-- What did kernels take on each queue of each GPU?
SELECT 'GPU ' || gpu || ' queue ' || queue AS name, count(*) AS calls,
    sum(duration) AS total_ns,
    min(duration) AS min_ns,
    max(duration) AS max_ns
FROM dispatches
WHERE duration IS NOT NULL AND gpu IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
