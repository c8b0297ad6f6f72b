-- What the words of a story mean in the native layout.
CREATE TEMP TRIGGER a_kernel INSTEAD OF INSERT ON kernels BEGIN
    INSERT INTO rocpd_string(string) SELECT NEW.name WHERE NEW.name IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM rocpd_string WHERE string = NEW.name);
    INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, gridX, workgroupX, tid, correlationId, lds)
    VALUES (NEW.gpu, NEW.queue, NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = NEW.name),
        CASE WHEN NEW.graph THEN 3 ELSE 2 END, ifnull(NEW.range, 0), NEW.items, NEW.workgroup, NEW.tid, NEW.correlation, NEW.lds);
END;
CREATE TEMP TRIGGER a_copy INSTEAD OF INSERT ON copies BEGIN
    INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, tid, correlationId, bytes, peer)
    VALUES (NEW.gpu, NEW.queue, NEW.start, NEW.end, 1, (SELECT id FROM rocpd_string WHERE string = NEW.way),
        ifnull(NEW.range, 0), NEW.tid, NEW.correlation, NEW.bytes, NEW.peer);
END;
CREATE TEMP TRIGGER a_barrier INSTEAD OF INSERT ON barriers BEGIN
    INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id)
    VALUES (NEW.gpu, NEW.queue, NEW.start, NEW.end, 1, (SELECT id FROM rocpd_string WHERE string = 'Barrier'));
END;
CREATE TEMP TRIGGER a_range INSTEAD OF INSERT ON ranges BEGIN
    INSERT INTO rocpd_string(string) SELECT NEW.text
        WHERE NOT EXISTS (SELECT 1 FROM rocpd_string WHERE string = NEW.text);
    INSERT INTO rocpd_op(gpuId, queueId, start, end, description_id, opType_id, roctxId, tid, sequenceId)
    VALUES (-1, 0, NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = NEW.text),
        (SELECT id FROM rocpd_string WHERE string = 'UserMarker'), NEW.number, NEW.tid,
        CASE WHEN NEW.end > NEW.start THEN 0 END);
END;
