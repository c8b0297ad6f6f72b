-- Where does the time of kernels go? Every kernel with exact percentiles (nearest rank: the ceil(p n)-th shortest
-- call). variance_ns2 is that of the sample (n - 1); its square root is the standard deviation.
-- A trailing .kd or [clone .kd] is not part of a kernel's name. Calls without end or with a negative duration are
-- left out, those of no length count.
WITH ops AS (
    SELECT op.id, gpuId, start, end, end - start AS duration, roctxId,
        CASE WHEN description_id IS NULL THEN '(no name)' ELSE coalesce(name.string, '(dangling name)') END AS stored,
        CASE
            WHEN type.string LIKE 'Copy%' OR type.string = 'FillBuffer' THEN 'copy'
            WHEN type.string IN ('Barrier', 'UserMarker') THEN type.string
            ELSE 'kernel'
        END AS class,
        type.string AS type
    FROM rocpd_op AS op
        LEFT JOIN rocpd_string AS name ON name.id = description_id
        LEFT JOIN rocpd_string AS type ON type.id = opType_id
    WHERE end >= start AND ifnull(gpuId, 0) >= 0
),
kernels AS (
    SELECT duration,
        CASE
            WHEN stored LIKE '%.kd' THEN substr(stored, 1, length(stored) - 3)
            WHEN stored LIKE '% [clone .kd]' THEN substr(stored, 1, length(stored) - 12)
            ELSE stored
        END AS name
    FROM ops WHERE class = 'kernel'
),
ranked AS (
    SELECT name, duration,
        row_number() OVER (PARTITION BY name ORDER BY duration) AS place,
        count(*) OVER (PARTITION BY name) AS calls,
        avg(duration) OVER (PARTITION BY name) AS mean
    FROM kernels
)
SELECT name, calls,
    sum(duration) AS total_ns,
    min(duration) AS min_ns,
    max(CASE WHEN place = (calls * 50 + 99) / 100 THEN duration END) AS p50_ns,
    max(CASE WHEN place = (calls * 95 + 99) / 100 THEN duration END) AS p95_ns,
    max(CASE WHEN place = (calls * 99 + 99) / 100 THEN duration END) AS p99_ns,
    max(duration) AS max_ns,
    mean AS mean_ns,
    sum((duration - mean) * (duration - mean)) / nullif(calls - 1, 0) AS variance_ns2
FROM ranked
GROUP BY name
ORDER BY total_ns DESC, name;
