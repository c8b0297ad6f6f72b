-- How fast were copies? Copies of unknown size count in copies and total_ns, and not in the bandwidth. Bytes per ns are GB/s.
SELECT direction, count(*) AS copies, sum(duration) AS total_ns,
    count(bytes) AS sized, sum(bytes) AS bytes,
    sum(duration) FILTER (bytes IS NOT NULL) AS sized_ns,
    sum(bytes) / nullif(sum(duration) FILTER (bytes IS NOT NULL), 0) AS bytes_per_ns
FROM copies
WHERE duration IS NOT NULL
GROUP BY direction
ORDER BY total_ns DESC, direction;
