-- What is wrong with the rows? Ops without end, that end before they start, of no length, whose name is missing or
-- dangles; kernels of which one call holds more than half of the total of at least five.
SELECT 'no end' AS finding, count(*) AS rows FROM rocpd_op WHERE end IS NULL
UNION ALL SELECT 'ends before it starts', count(*) FROM rocpd_op WHERE end < start
UNION ALL SELECT 'no length', count(*) FROM rocpd_op WHERE end = start AND gpuId >= 0
UNION ALL SELECT 'no start', count(*) FROM rocpd_op WHERE start IS NULL
UNION ALL SELECT 'no name', count(*) FROM rocpd_op WHERE description_id IS NULL
UNION ALL SELECT 'dangling name', count(*) FROM rocpd_op
    WHERE description_id IS NOT NULL AND description_id NOT IN (SELECT id FROM rocpd_string)
UNION ALL SELECT 'duplicate', ifnull(sum(copies - 1), 0) FROM (
    SELECT count(*) AS copies FROM rocpd_op WHERE end IS NOT NULL AND start IS NOT NULL
    GROUP BY gpuId, queueId, start, end, description_id, opType_id
)
UNION ALL SELECT 'one call holds most of its kernel''s total', count(*) FROM (
    SELECT max(end - start) AS longest, sum(end - start) AS total, count(*) AS calls
    FROM rocpd_op WHERE end > start AND gpuId >= 0 GROUP BY description_id, opType_id
) WHERE calls >= 5 AND longest > total - longest;
