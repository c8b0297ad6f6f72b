-- What is wrong with the rows? Ops and ranges without end, that end before they start, ops of no length and without a name;
-- kernels of which one call holds more than half of the total of at least five. Rows without a start are left out in reading.
WITH rows AS (
    SELECT start, stop, name, true AS op FROM ops
    UNION ALL SELECT start, stop, name, false FROM ranges
)
SELECT 'no end' AS finding, count(*) AS rows FROM rows WHERE stop IS NULL
UNION ALL SELECT 'ends before it starts', count(*) FROM rows WHERE stop < start
UNION ALL SELECT 'no length', count(*) FROM rows WHERE stop = start AND op
UNION ALL SELECT 'no name', count(*) FROM rows WHERE name IS NULL
UNION ALL SELECT 'dangling name', count(*) FROM rows WHERE name = '(dangling name)'
UNION ALL SELECT 'one call holds most of its kernel''s total', count(*) FROM (
    SELECT max(duration) AS longest, sum(duration) AS total, count(*) AS calls
    FROM ops WHERE duration > 0 AND gpu IS NOT NULL GROUP BY name, kind
) WHERE calls >= 5 AND longest > total - longest;
