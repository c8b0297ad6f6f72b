-- How many rows has each table, and from when to when do rows reach?
WITH spans AS (
    SELECT start, stop FROM ops UNION ALL SELECT start, stop FROM api_calls UNION ALL SELECT start, stop FROM ranges
)
SELECT (SELECT count(*) FROM dispatches) AS dispatches,
    (SELECT count(*) FROM copies) AS copies,
    (SELECT count(*) FROM barriers) AS barriers,
    (SELECT count(*) FROM api_calls) AS api_calls,
    (SELECT count(*) FROM ranges WHERE NOT marker) AS ranges,
    (SELECT count(*) FROM ranges WHERE marker) AS markers,
    (SELECT count(*) FROM allocations) AS allocations,
    (SELECT min(start) FROM spans) AS start_ns,
    (SELECT max(greatest(start, coalesce(stop, start))) FROM spans) AS end_ns;
