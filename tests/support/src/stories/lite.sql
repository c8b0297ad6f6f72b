-- What the words of a story mean in rocm-trace-lite's layout: no threads, no correlation; bytes in the name.
CREATE TEMP TRIGGER a_kernel INSTEAD OF INSERT ON kernels BEGIN
    INSERT OR IGNORE INTO rocpd_string(string) VALUES (NEW.name), ('KernelExecution');
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id, roctxId)
    VALUES (NEW.gpu, NEW.queue, 0,
        'hwq=' || printf('0x%x', 139888000000000 + NEW.queue) || ' wg=' || ifnull(NEW.workgroup, 64) || ',1,1 grid='
            || ifnull(NEW.items, 64) || ',1,1',
        NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = NEW.name),
        (SELECT id FROM rocpd_string WHERE string = 'KernelExecution'), ifnull(NEW.range, 0));
END;
CREATE TEMP TRIGGER a_copy INSTEAD OF INSERT ON copies BEGIN
    INSERT OR IGNORE INTO rocpd_string(string) VALUES (NEW.way || ifnull(':' || NEW.bytes, '')), (NEW.way);
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id, roctxId)
    VALUES (NEW.gpu, NEW.queue, 0, NEW.start, NEW.end,
        (SELECT id FROM rocpd_string WHERE string = NEW.way || ifnull(':' || NEW.bytes, '')),
        (SELECT id FROM rocpd_string WHERE string = NEW.way), ifnull(NEW.range, 0));
END;
CREATE TEMP TRIGGER a_barrier INSTEAD OF INSERT ON barriers BEGIN
    INSERT OR IGNORE INTO rocpd_string(string) VALUES (''), ('Barrier');
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id)
    VALUES (NEW.gpu, NEW.queue, 0, NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = ''),
        (SELECT id FROM rocpd_string WHERE string = 'Barrier'));
END;
CREATE TEMP TRIGGER a_range INSTEAD OF INSERT ON ranges BEGIN
    INSERT OR IGNORE INTO rocpd_string(string) VALUES (NEW.text), ('UserMarker');
    INSERT INTO rocpd_op(gpuId, queueId, sequenceId, start, end, description_id, opType_id, roctxId)
    VALUES (-1, 0, 0, NEW.start, NEW.end, (SELECT id FROM rocpd_string WHERE string = NEW.text),
        (SELECT id FROM rocpd_string WHERE string = 'UserMarker'), NEW.number);
END;
