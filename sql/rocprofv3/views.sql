-- What rocprofv3's tools and users ask for by name: the columns, names and units of its shipped views, schema 3.0.0.
-- They stand on views without {uuid}, each all tables of one name together; ids are unique within a guid only.

CREATE VIEW code_objects AS
SELECT o.id, o.guid, o.nid, p.pid, a.absolute_index AS agent_abs_index, o.uri, o.load_base, o.load_size, o.load_delta,
    o.storage_type AS storage_type_str, json_extract(o.extdata, '$.size') AS code_object_size,
    json_extract(o.extdata, '$.storage_type') AS storage_type, json_extract(o.extdata, '$.memory_base') AS memory_base,
    json_extract(o.extdata, '$.memory_size') AS memory_size
FROM rocpd_info_code_object o
JOIN rocpd_info_agent a ON a.id = o.agent_id AND a.guid = o.guid
JOIN rocpd_info_process p ON p.id = o.pid AND p.guid = o.guid;

CREATE VIEW kernel_symbols AS
SELECT s.id, s.guid, s.nid, p.pid, s.code_object_id, s.kernel_name, s.display_name, s.kernel_object,
    s.kernarg_segment_size, s.kernarg_segment_alignment, s.group_segment_size, s.private_segment_size, s.sgpr_count,
    s.arch_vgpr_count, s.accum_vgpr_count, json_extract(s.extdata, '$.size') AS kernel_symbol_size,
    json_extract(s.extdata, '$.kernel_id') AS kernel_id,
    json_extract(s.extdata, '$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset,
    json_extract(s.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,
    json_extract(s.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,
    json_extract(s.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,
    json_extract(s.extdata, '$.kernel_address.handle') AS kernel_address
FROM rocpd_info_kernel_symbol s
JOIN rocpd_info_process p ON p.id = s.pid AND p.guid = s.guid;

CREATE VIEW processes AS
SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS system_version,
    p.guid, p.ppid, p.pid, p.init, p.start, p.end, p.fini, p.command
FROM rocpd_info_process p
JOIN rocpd_info_node n ON n.id = p.nid AND n.guid = p.guid;

CREATE VIEW threads AS
SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release, n.version AS system_version,
    p.guid, p.ppid, p.pid, t.tid, t.start, t.end, t.name
FROM rocpd_info_thread t
JOIN rocpd_info_process p ON p.id = t.pid AND p.guid = t.guid
JOIN rocpd_info_node n ON n.id = t.nid AND n.guid = t.guid;

CREATE VIEW regions AS
SELECT r.id, r.guid, c.string AS category, s.string AS name, r.nid, p.pid, t.tid, r.start, r.end,
    r.end - r.start AS duration, r.event_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, e.extdata,
    e.call_stack, e.line_info
FROM rocpd_region r
JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid
JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid
JOIN rocpd_info_process p ON p.id = r.pid AND p.guid = r.guid
JOIN rocpd_info_thread t ON t.id = r.tid AND t.guid = r.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW region_args AS
SELECT r.id, r.guid, r.nid, p.pid, a.type, a.name, a.value
FROM rocpd_region r
JOIN rocpd_event e ON e.id = r.event_id AND e.guid = r.guid
JOIN rocpd_arg a ON a.event_id = e.id AND a.guid = r.guid
JOIN rocpd_info_process p ON p.id = r.pid AND p.guid = r.guid;

CREATE VIEW samples AS
SELECT m.id, m.guid, c.string AS category, s.string AS name, k.nid, p.pid, t.tid, m.timestamp, m.event_id, e.stack_id,
    e.parent_stack_id, e.correlation_id AS corr_id, e.extdata, e.call_stack, e.line_info
FROM rocpd_sample m
JOIN rocpd_track k ON k.id = m.track_id AND k.guid = m.guid
JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid
JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid
LEFT JOIN rocpd_string s ON s.id = k.name_id AND s.guid = k.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW sample_regions AS
SELECT id, guid, category, name, nid, pid, tid, timestamp AS start, timestamp AS END, 0 AS duration, event_id,
    stack_id, parent_stack_id, corr_id, extdata, call_stack, line_info
FROM samples;

CREATE VIEW regions_and_samples AS
SELECT * FROM regions UNION ALL SELECT * FROM sample_regions;

CREATE VIEW kernels AS
SELECT k.id, k.guid, t.tid, c.string AS category, r.string AS region, s.display_name AS name, k.nid, p.pid,
    a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS agent_type_index,
    a.type AS agent_type, s.code_object_id, k.kernel_id, k.dispatch_id, k.stream_id, k.queue_id, q.name AS queue,
    m.name AS stream, k.start, k.end, k.end - k.start AS duration, k.grid_size_x AS grid_x, k.grid_size_y AS grid_y,
    k.grid_size_z AS grid_z, k.workgroup_size_x AS workgroup_x, k.workgroup_size_y AS workgroup_y,
    k.workgroup_size_z AS workgroup_z, k.group_segment_size AS lds_size, k.private_segment_size AS scratch_size,
    s.arch_vgpr_count AS vgpr_count, s.accum_vgpr_count, s.sgpr_count, s.group_segment_size AS static_lds_size,
    s.private_segment_size AS static_scratch_size, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
FROM rocpd_kernel_dispatch k
JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid
JOIN rocpd_event e ON e.id = k.event_id AND e.guid = k.guid
JOIN rocpd_string r ON r.id = k.region_name_id AND r.guid = k.guid
JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid
LEFT JOIN rocpd_info_stream m ON m.id = k.stream_id AND m.guid = k.guid
LEFT JOIN rocpd_info_queue q ON q.id = k.queue_id AND q.guid = k.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW pmc_info AS
SELECT i.id, i.guid, i.nid, p.pid, a.absolute_index AS agent_abs_index, i.is_constant, i.is_derived, i.name,
    i.description, i.block, i.expression
FROM rocpd_info_pmc i
JOIN rocpd_info_agent a ON a.id = i.agent_id AND a.guid = i.guid
JOIN rocpd_info_process p ON p.id = i.pid AND p.guid = i.guid;

CREATE VIEW pmc_events AS
SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, c.string AS category, s.display_name AS name, k.nid, p.pid,
    k.dispatch_id, k.start, k.end, k.end - k.start AS duration, i.name AS counter_name, v.value AS counter_value
FROM rocpd_pmc_event v
JOIN rocpd_info_pmc i ON i.id = v.pmc_id AND i.guid = v.guid
JOIN rocpd_event e ON e.id = v.event_id AND e.guid = v.guid
JOIN rocpd_kernel_dispatch k ON k.event_id = v.event_id AND k.guid = v.guid
JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
LEFT JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW events_args AS
SELECT e.id AS event_id, c.string AS category, e.stack_id, e.parent_stack_id, e.correlation_id,
    a.position AS arg_position, a.type AS arg_type, a.name AS arg_name, a.value AS arg_value, e.call_stack,
    e.line_info, a.extdata
FROM rocpd_event e
JOIN rocpd_arg a ON a.event_id = e.id AND a.guid = e.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW stream_args AS
SELECT a.id AS argument_id, a.event_id, a.position AS arg_position, a.type AS arg_type, a.value AS arg_value,
    m.id AS stream_id, m.nid, p.pid, m.name AS stream_name, m.extdata
FROM rocpd_arg a
JOIN rocpd_info_stream m ON m.id = json_extract(a.extdata, '$.stream_id') AND m.guid = a.guid
JOIN rocpd_info_process p ON p.id = m.pid AND p.guid = m.guid
WHERE a.name = 'stream';

CREATE VIEW memory_copies AS
SELECT y.id, y.guid, c.string AS category, y.nid, p.pid, t.tid, y.start, y.end, y.end - y.start AS duration,
    s.string AS name, r.string AS region_name, y.stream_id, y.queue_id, m.name AS stream_name, q.name AS queue_name,
    y.size, d.name AS dst_device, d.absolute_index AS dst_agent_abs_index, d.logical_index AS dst_agent_log_index,
    d.type_index AS dst_agent_type_index, d.type AS dst_agent_type, y.dst_address, o.name AS src_device,
    o.absolute_index AS src_agent_abs_index, o.logical_index AS src_agent_log_index,
    o.type_index AS src_agent_type_index, o.type AS src_agent_type, y.src_address, e.stack_id, e.parent_stack_id,
    e.correlation_id AS corr_id
FROM rocpd_memory_copy y
JOIN rocpd_string s ON s.id = y.name_id AND s.guid = y.guid
JOIN rocpd_info_agent d ON d.id = y.dst_agent_id AND d.guid = y.guid
JOIN rocpd_info_agent o ON o.id = y.src_agent_id AND o.guid = y.guid
JOIN rocpd_event e ON e.id = y.event_id AND e.guid = y.guid
JOIN rocpd_info_process p ON p.id = y.pid AND p.guid = y.guid
JOIN rocpd_info_thread t ON t.id = y.tid AND t.guid = y.guid
LEFT JOIN rocpd_string r ON r.id = y.region_name_id AND r.guid = y.guid
LEFT JOIN rocpd_info_queue q ON q.id = y.queue_id AND q.guid = y.guid
LEFT JOIN rocpd_info_stream m ON m.id = y.stream_id AND m.guid = y.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW memory_allocations AS
SELECT l.id, l.guid, c.string AS category, l.nid, p.pid, t.tid, l.start, l.end, l.end - l.start AS duration, l.type,
    l.level, a.name AS agent_name, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,
    a.type_index AS agent_type_index, a.type AS agent_type, l.address, l.size, l.queue_id, q.name AS queue_name,
    l.stream_id, m.name AS stream_name, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id
FROM rocpd_memory_allocate l
JOIN rocpd_event e ON e.id = l.event_id AND e.guid = l.guid
JOIN rocpd_info_process p ON p.id = l.pid AND p.guid = l.guid
JOIN rocpd_info_thread t ON t.id = l.tid AND t.guid = l.guid
LEFT JOIN rocpd_info_agent a ON a.id = l.agent_id AND a.guid = l.guid
LEFT JOIN rocpd_info_queue q ON q.id = l.queue_id AND q.guid = l.guid
LEFT JOIN rocpd_info_stream m ON m.id = l.stream_id AND m.guid = l.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;

CREATE VIEW scratch_memory AS
SELECT l.id, l.guid, l.nid, p.pid, l.type AS operation, a.name AS agent_name, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, l.queue_id, t.tid,
    json_extract(l.extdata, '$.flags') AS alloc_flags, l.start, l.end, l.end - l.start AS duration, l.size, l.address,
    e.correlation_id, e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id, c.string AS category,
    e.extdata AS event_extdata
FROM rocpd_memory_allocate l
JOIN rocpd_event e ON e.id = l.event_id AND e.guid = l.guid
JOIN rocpd_info_process p ON p.id = l.pid AND p.guid = l.guid
JOIN rocpd_info_thread t ON t.id = l.tid AND t.guid = l.guid
LEFT JOIN rocpd_info_agent a ON a.id = l.agent_id AND a.guid = l.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
WHERE l.level = 'SCRATCH'
ORDER BY l.start;

CREATE VIEW counters_collection AS
SELECT min(v.id) AS id, v.guid, k.dispatch_id, k.kernel_id, e.id AS event_id, e.correlation_id, e.stack_id,
    e.parent_stack_id, p.pid, t.tid, k.agent_id, a.absolute_index AS agent_abs_index,
    a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type, k.queue_id,
    k.grid_size_x, k.grid_size_y, k.grid_size_z, k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size,
    s.display_name AS kernel_name, r.string AS kernel_region, k.workgroup_size_x, k.workgroup_size_y,
    k.workgroup_size_z, k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z AS workgroup_size,
    k.group_segment_size AS lds_block_size, k.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count,
    s.accum_vgpr_count, s.sgpr_count, i.name AS counter_name, i.symbol AS counter_symbol, i.component, i.description,
    i.block, i.expression, i.value_type, i.id AS counter_id, sum(v.value) AS value, k.start, k.end, i.is_constant,
    i.is_derived, k.end - k.start AS duration, c.string AS category, k.nid, e.extdata, s.code_object_id
FROM rocpd_pmc_event v
JOIN rocpd_info_pmc i ON i.id = v.pmc_id AND i.guid = v.guid
JOIN rocpd_event e ON e.id = v.event_id AND e.guid = v.guid
JOIN rocpd_kernel_dispatch k ON k.event_id = v.event_id AND k.guid = v.guid
JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid
JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid
JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid
LEFT JOIN rocpd_string r ON r.id = k.region_name_id AND r.guid = k.guid
LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
GROUP BY v.guid, k.dispatch_id, i.name, k.agent_id;

-- Microseconds, of averages whole nanoseconds; what overlaps counts twice.
CREATE VIEW top_kernels AS
SELECT s.display_name AS name, count(*) AS total_calls, sum(k.end - k.start) / 1000.0 AS total_duration,
    (sum(k.end - k.start) / count(*)) / 1000.0 AS average,
    sum(k.end - k.start) * 100.0 / (SELECT sum(end - start) FROM rocpd_kernel_dispatch) AS percentage
FROM rocpd_kernel_dispatch k
JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
GROUP BY s.display_name
ORDER BY total_duration DESC;

-- Copies count for the agent that they wrote to, and the wall is that of all agents.
CREATE VIEW busy AS
SELECT w.agent_id, a.type, w.GpuTime, l.WallTime, w.GpuTime * 1.0 / l.WallTime AS Busy
FROM (
    SELECT agent_id, guid, sum(end - start) AS GpuTime
    FROM (
        SELECT agent_id, guid, start, end FROM rocpd_kernel_dispatch
        UNION ALL SELECT dst_agent_id, guid, start, end FROM rocpd_memory_copy
    )
    GROUP BY agent_id, guid
) w
JOIN (
    SELECT max(end) - min(start) AS WallTime
    FROM (
        SELECT start, end FROM rocpd_kernel_dispatch
        UNION ALL SELECT start, end FROM rocpd_memory_copy
    )
) l
JOIN rocpd_info_agent a ON a.id = w.agent_id AND a.guid = w.guid;

CREATE VIEW top AS
WITH operation AS (
    SELECT s.display_name AS name, k.end - k.start AS duration
    FROM rocpd_kernel_dispatch k
    JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id AND s.guid = k.guid
    UNION ALL
    SELECT s.string, y.end - y.start
    FROM rocpd_memory_copy y
    JOIN rocpd_string s ON s.id = y.name_id AND s.guid = y.guid
    UNION ALL
    SELECT s.string, r.end - r.start
    FROM rocpd_region r
    JOIN rocpd_string s ON s.id = r.name_id AND s.guid = r.guid
)
SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration,
    (sum(duration) / count(*)) / 1000.0 AS average,
    sum(duration) * 100.0 / (SELECT sum(duration) FROM operation) AS percentage
FROM operation
GROUP BY name
ORDER BY total_duration DESC;
