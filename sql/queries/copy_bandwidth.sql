-- How fast were copies? Native layout. Copies of unknown size (those of graph launches) count in copies and total_ns,
-- and not in the bandwidth: bytes and sized_ns are those of the others. Bytes per ns are GB/s.
SELECT string AS type, count(*) AS copies, sum(end - start) AS total_ns,
    count(bytes) AS sized, sum(bytes) AS bytes,
    sum(CASE WHEN bytes IS NOT NULL THEN end - start END) AS sized_ns,
    1.0 * sum(bytes) / nullif(sum(CASE WHEN bytes IS NOT NULL THEN end - start END), 0) AS bytes_per_ns
FROM rocpd_op JOIN rocpd_string ON rocpd_string.id = opType_id
WHERE end >= start AND (string LIKE 'Copy%' OR string = 'FillBuffer')
GROUP BY string
ORDER BY total_ns DESC, type;
