-- Who waited for whom? For a trace of ranks with a GPU each, all in one communicator: the nth call of a collective on each
-- GPU is taken for the same collective where all GPUs have as many calls. A GPU waits from its own arrival to the last one's
-- and what is left is transfer. Without clocks, where those of several machines are not one: the shortest stay is transfer.
-- rtl-summary tells communicators apart by their rhythm and launch shapes by their size; this does not.
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
    SELECT gpuId, start, end, duration, roctxId,
        CASE
            WHEN stored LIKE '%.kd' THEN substr(stored, 1, length(stored) - 3)
            WHEN stored LIKE '% [clone .kd]' THEN substr(stored, 1, length(stored) - 12)
            ELSE stored
        END AS name,
        stored LIKE '%nccl%' OR stored LIKE '%rccl%' OR stored LIKE '%cross\_device\_reduce%' ESCAPE '\' AS collective
    FROM ops WHERE class = 'kernel'
),
calls AS (
    SELECT gpuId, name, start, end, duration,
        row_number() OVER (PARTITION BY name, gpuId ORDER BY end, start) AS nth,
        count(*) OVER (PARTITION BY name, gpuId) AS calls
    FROM kernels
    WHERE collective AND (
        lower(replace(name, '_', '')) LIKE '%allreduce%' OR lower(replace(name, '_', '')) LIKE '%allgather%'
        OR lower(replace(name, '_', '')) LIKE '%reducescatter%' OR lower(replace(name, '_', '')) LIKE '%alltoall%'
    )
),
matched AS (
    SELECT name FROM calls GROUP BY name HAVING min(calls) = max(calls) AND count(DISTINCT gpuId) > 1 AND max(calls) > 3
),
met AS (
    SELECT gpuId, start, end, duration,
        max(start) OVER one AS last_start,
        min(duration) OVER one AS shortest,
        count(*) OVER one AS gpus,
        row_number() OVER (PARTITION BY name, nth ORDER BY start DESC, gpuId DESC) AS from_last,
        lag(start) OVER (PARTITION BY name, nth ORDER BY start, gpuId) AS before,
        row_number() OVER (PARTITION BY name, nth ORDER BY duration, gpuId) AS from_shortest
    FROM calls WHERE name IN matched
    WINDOW one AS (PARTITION BY name, nth)
)
SELECT gpuId AS gpu, count(*) AS collectives,
    sum(last_start - start) AS wait_ns,
    sum(max(0, end - last_start)) AS transfer_ns,
    sum(from_last = 1) AS last,
    sum(CASE WHEN from_last = 1 THEN (start - before) * (gpus - 1) ELSE 0 END) AS delay_ns,
    sum(duration - shortest) AS clock_free_wait_ns,
    sum(shortest) AS clock_free_transfer_ns,
    sum(from_shortest = 1) AS clock_free_last
FROM met
GROUP BY gpuId
ORDER BY gpu;
