-- What the words of a story mean in RPD's layout: calls and ops tied by links, ranges as calls, no range ids.
INSERT INTO rocpd_string(string) VALUES (''), ('hip'), ('UserMarker'), ('hipModuleLaunchKernel'), ('hipMemcpyAsync');
CREATE TEMP TRIGGER a_kernel INSTEAD OF INSERT ON kernels BEGIN
    INSERT INTO rocpd_string(string) SELECT text FROM (SELECT ifnull(NEW.name, '') AS text UNION SELECT 'KernelExecution' UNION SELECT 'Task')
        WHERE text NOT IN (SELECT string FROM rocpd_string);
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id)
    VALUES (NEW.gpu, NEW.queue, 0, NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = ifnull(NEW.name, '')),
        (SELECT id FROM rocpd_string WHERE string = CASE WHEN NEW.graph THEN 'Task' ELSE 'KernelExecution' END));
    INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id)
    SELECT id, 4242, ifnull(NEW.tid, 4242), NEW.start - 100, NEW.start - 50,
        (SELECT id FROM rocpd_string WHERE string = 'hipModuleLaunchKernel'), 1, 2, 1
    FROM (SELECT max(id) AS id FROM rocpd_op);
    INSERT INTO rocpd_kernelapi
    SELECT id, '0x0', ifnull(NEW.items, 64) / ifnull(NEW.workgroup, 64), 1, 1, ifnull(NEW.workgroup, 64), 1, 1,
        ifnull(NEW.lds, 0), 0, description_id
    FROM rocpd_op ORDER BY id DESC LIMIT 1;
    INSERT INTO rocpd_api_ops(api_id, op_id) SELECT max(id), max(id) FROM rocpd_op;
END;
CREATE TEMP TRIGGER a_copy INSTEAD OF INSERT ON copies BEGIN
    INSERT INTO rocpd_string(string) SELECT NEW.way WHERE NEW.way NOT IN (SELECT string FROM rocpd_string);
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id)
    VALUES (NEW.gpu, NEW.queue, 0, NEW.start, NEW.end, 1, (SELECT id FROM rocpd_string WHERE string = NEW.way));
    INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id)
    SELECT id, 4242, ifnull(NEW.tid, 4242), NEW.start - 100, NEW.start - 50,
        (SELECT id FROM rocpd_string WHERE string = 'hipMemcpyAsync'), 1, 2, 1
    FROM (SELECT max(id) AS id FROM rocpd_op);
    INSERT INTO rocpd_copyapi
    SELECT max(id), '0x0', NEW.bytes, 0, 0,
        CASE NEW.way WHEN 'CopyHostToDevice' THEN 1 WHEN 'CopyDeviceToHost' THEN 2 WHEN 'CopyDeviceToDevice' THEN 3 ELSE 4 END,
        '0x1000', '0x2000', 0, 0, 0, 0
    FROM rocpd_op WHERE NEW.bytes IS NOT NULL HAVING max(id) IS NOT NULL;
    INSERT INTO rocpd_api_ops(api_id, op_id) SELECT max(id), max(id) FROM rocpd_op;
END;
CREATE TEMP TRIGGER a_barrier INSTEAD OF INSERT ON barriers BEGIN
    SELECT raise(FAIL, 'RPD records no barriers');
END;
CREATE TEMP TRIGGER a_range INSTEAD OF INSERT ON ranges BEGIN
    INSERT INTO rocpd_ustring(string) VALUES (NEW.text);
    INSERT INTO rocpd_api(id, pid, tid, start, end, apiName_id, category_id, domain_id, args_id)
    VALUES (2147483648 + NEW.number, 4242, ifnull(NEW.tid, 4242), NEW.start, NEW.end, 3, 1, 3,
        (SELECT max(id) FROM rocpd_ustring));
END;
