//! Tests of mode hip with copies between GPUs, of a thread's own default stream, and into memory that lives in a stream: the row
//! of the call has the program's parameters, and the ops that moved the bytes belong to it.

use e2e::calls::assert_is_whole;
use e2e::{Outcome, Process, Trace};
use support::{Stack, stacks};

/// A copy or fill of the program: function, bytes, hipMemcpyKind or 5 of a fill.
type Request = (String, i64, i64);

/// Requests in the report of `tests/programs/hip_memory.c`.
fn reported(outcome: &Outcome) -> Vec<Request> {
    let lines = outcome.report.lines().filter_map(|line| line.strip_prefix("asked\t"));
    let mut requests: Vec<Request> = lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|columns| (columns[0].to_owned(), columns[1].parse().unwrap(), columns[2].parse().unwrap()))
        .collect();
    requests.sort();
    requests
}

/// A call's request, and the ops that it caused.
struct CallEffect {
    request: Request,
    /// Copies by engines.
    copies: i64,
    /// Sum of the bytes of these copies.
    bytes: i64,
    /// Kernels with which HIP copies and fills.
    kernels: i64,
    /// Copies between GPUs without a known source.
    from_nowhere: i64,
}

/// Calls in a trace. HIP makes some of these calls within another one of them.
fn recorded(trace: &Trace) -> Vec<CallEffect> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT function.string, asked.size, CASE way.string WHEN 'FillBuffer' THEN 5 ELSE asked.kind END,
                count(CASE WHEN kind.string LIKE 'Copy%' THEN 1 END), coalesce(sum(op.bytes), 0),
                count(CASE WHEN kind.string = 'KernelExecution' THEN 1 END),
                count(CASE WHEN kind.string = 'CopyDeviceToDevice' AND op.peer IS NULL THEN 1 END)
             FROM rocpd_copyapi asked JOIN rocpd_api call ON call.id = asked.api_id
             JOIN rocpd_string function ON function.id = call.apiName_id
             LEFT JOIN rocpd_string way ON way.id = asked.kind AND asked.kind > 4
             LEFT JOIN rocpd_api inner_call
                ON coalesce(inner_call.parentId, inner_call.correlationId) = call.correlationId
             LEFT JOIN rocpd_op op ON op.correlationId = inner_call.correlationId AND op.gpuId >= 0
             LEFT JOIN rocpd_string kind ON kind.id = op.opType_id
             WHERE call.parentId IS NULL GROUP BY call.id ORDER BY 1, 2, 3",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        Ok(CallEffect {
            request: (row.get(0)?, row.get(1)?, row.get(2)?),
            copies: row.get(3)?,
            bytes: row.get(4)?,
            kernels: row.get(5)?,
            from_nowhere: row.get(6)?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Runs the program on each runtime, linked with HIP, and checks that all its requests are recorded, with ops that belong to
/// them.
fn each(how: &str, gpus: usize, can: impl Fn(&Stack) -> bool) {
    for stack in stacks().iter().filter(|stack| can(stack)) {
        let Some(process) = Process::for_hip(stack, "hip_memory", &[how]) else { return };
        let outcome = process.linked_to_hip("hip_memory").calls().judged().gpus(gpus).well();
        let trace = assert_is_whole(&outcome);
        let recorded = recorded(&trace);
        for CallEffect { request, copies, bytes, kernels, from_nowhere } in &recorded {
            let is_done = if *copies > 0 { *bytes == request.1 } else { *kernels > 0 };
            assert!(
                is_done && *from_nowhere == 0,
                "{request:?}: {copies} of {bytes} bytes, {kernels} {outcome:?}"
            );
        }
        let requests: Vec<Request> = recorded.into_iter().map(|recorded| recorded.request).collect();
        assert_eq!(requests, reported(&outcome), "{outcome:?}");
    }
}

#[test]
fn copies_from_gpu_to_gpu_by_every_function() {
    each("peers", 3, |_| true);
}

#[test]
fn copies_and_fills_on_the_default_streams_of_threads() {
    each("threads", 2, |_| true);
}

#[test]
fn copies_fills_and_kernels_in_memory_that_is_allocated_and_freed_in_a_stream() {
    // HIP 5.2.3 hangs in it, with and without the tracer.
    each("pools", 1, |stack| stack.hip != "5.2.3");
}
