-- The two views that rocm-trace-lite's tools and users ask for, by its column names. Barriers only wait: type 10 in
-- every native file, whose texts begin with the empty one and the ten types.

-- Kernels and copies by name, with their share of all GPU time. Rows are grouped by the name's id and
-- joined to the text afterwards: half the time of grouping by the text. An op without a name counts under
-- its type, so that the shares add up to 100.
CREATE VIEW top AS
WITH grouped AS (
    SELECT coalesce(nullif(description_id, 1), opType_id) AS name,
        count(*) AS calls,
        sum(end - start) AS total,
        min(end - start) AS shortest,
        max(end - start) AS longest
    FROM rocpd_op
    WHERE end > start AND gpuId >= 0 AND opType_id IS NOT 10
    GROUP BY 1
)
SELECT coalesce(string, '(no name)') AS Name,
    calls AS Calls,
    total AS TotalNs,
    round(1.0 * total / calls, 1) AS AvgNs,
    shortest AS MinNs,
    longest AS MaxNs,
    round(100.0 * total / sum(total) OVER (), 2) AS Pct
FROM grouped LEFT JOIN rocpd_string ON rocpd_string.id = name
ORDER BY TotalNs DESC, Name;

-- How long each GPU did anything: the union of its ops' intervals, so that ops that overlap or contain each
-- other count once. An op adds what lies after the latest end of all ops that started before it.
CREATE VIEW busy AS
WITH reached AS (
    SELECT gpuId, start, end,
        max(end) OVER (
            PARTITION BY gpuId ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before
    FROM rocpd_op
    WHERE end > start AND gpuId >= 0 AND opType_id IS NOT 10
)
SELECT gpuId,
    round(100.0 * sum(max(0, end - max(start, ifnull(before, start)))) / (max(end) - min(start)), 2) AS utilization_pct,
    count(*) AS ops,
    sum(max(0, end - max(start, ifnull(before, start)))) AS busy_ns,
    max(end) - min(start) AS wall_ns
FROM reached
GROUP BY gpuId
ORDER BY gpuId;
