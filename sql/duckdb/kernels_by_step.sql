-- What did the kernels of each step take? Steps are the ranges named $step, in the order of their starts, and a kernel is in a step if
-- the innermost range around its launch is: rtl-sql trace.db -p step=forward < sql/duckdb/kernels_by_step.sql
WITH known AS (SELECT * FROM ranges WHERE duration IS NOT NULL),
steps AS (
    SELECT $step || ' ' || row_number() OVER (ORDER BY start, id) AS step, start, stop FROM known WHERE name = $step AND NOT marker
),
within AS (
    SELECT known.id, min(step) AS step
    FROM known JOIN steps ON steps.start <= known.start AND known.stop <= steps.stop
    GROUP BY known.id
)
SELECT coalesce(step, '(no step)') AS name, count(*) AS calls,
    sum(duration) AS total_ns,
    min(duration) AS min_ns,
    max(duration) AS max_ns
FROM dispatches LEFT JOIN within ON within.id = range_id
WHERE duration IS NOT NULL
GROUP BY ALL
ORDER BY total_ns DESC, name;
