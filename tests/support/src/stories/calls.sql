-- Calls and what they caused, which only our layout tells whole: a kernel launch, a graph launch of two kernels, a launch
-- that failed and of which only the call knows the kernel, and a copy. The first kernel's moment of enqueueing is known.
INSERT INTO rocpd_string(id, string) VALUES (20, 'HIP'), (21, 'hipLaunchKernel'), (22, 'hipGraphLaunch'),
    (23, 'hipMemcpyAsync'), (24, '_Z3addIfEvPT_');
INSERT INTO rocpd_api(id, tid, start, duration, apiName_id, domain_id, correlationId, result) VALUES
    (1, 7, 0, 10, 21, 20, 1, NULL), (2, 7, 20, 10, 22, 20, 2, NULL), (3, 7, 40, 10, 21, 20, 3, 719),
    (4, 7, 60, 10, 23, 20, 4, NULL);
INSERT INTO rocpd_kernelapi VALUES (3, '0x0', 2, 1, 1, 64, 1, 1, 0, 0, 24);
INSERT INTO rocpd_copyapi(api_id, stream, size, dst, src, kind) VALUES (4, '0x0', 4096, '0x10', '0x20', 1);
INSERT INTO kernels(gpu, queue, start, end, name, correlation) VALUES (0, 0, 100, 110, 'void gemm(float*)', 1),
    (0, 0, 120, 130, 'node', 2), (0, 0, 140, 150, 'node', 2);
INSERT INTO copies(gpu, queue, start, end, way, bytes, correlation) VALUES (0, 1, 160, 170, 'CopyHostToDevice', 4096, 4);
UPDATE rocpd_op SET enqueued = 8 WHERE start = 100;
