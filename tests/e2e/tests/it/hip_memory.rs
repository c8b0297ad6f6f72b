//! Mode hip: copies between GPUs, of a thread's own default stream, and into memory that lives in a stream: what was asked for
//! is in the row of the call, and what moved the bytes belongs to it.

use e2e::calls::assert_is_whole;
use e2e::{Outcome, Process, Trace};
use support::{Stack, stacks};

/// A copy or fill that the program asked for: function, bytes, hipMemcpyKind or 5 of a fill.
type Asked = (String, i64, i64);

/// As `tests/programs/hip_memory.c` tells them.
fn reported(outcome: &Outcome) -> Vec<Asked> {
    let lines = outcome.report.lines().filter_map(|line| line.strip_prefix("asked\t"));
    let mut asked: Vec<Asked> = lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|columns| (columns[0].to_owned(), columns[1].parse().unwrap(), columns[2].parse().unwrap()))
        .collect();
    asked.sort();
    asked
}

/// What a call asked for, and what was done for it.
struct Recorded {
    asked: Asked,
    /// Copies by engines.
    copies: i64,
    /// Bytes of these together.
    bytes: i64,
    /// Kernels with which HIP copies and fills.
    kernels: i64,
    /// Copies between GPUs of which it is not known from which.
    from_nowhere: i64,
}

/// The same in a trace. HIP makes some of these calls of another one of them.
fn recorded(trace: &Trace) -> Vec<Recorded> {
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
        Ok(Recorded {
            asked: (row.get(0)?, row.get(1)?, row.get(2)?),
            copies: row.get(3)?,
            bytes: row.get(4)?,
            kernels: row.get(5)?,
            from_nowhere: row.get(6)?,
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Runs the program on each runtime, linked with HIP: all that it asked for is recorded, and was done by what belongs to
/// it.
fn each(how: &str, gpus: usize, can: impl Fn(&Stack) -> bool) {
    for stack in stacks().iter().filter(|stack| can(stack)) {
        let Some(process) = Process::of_hip(stack, "hip_memory", &[how]) else { return };
        let outcome = process.linked_to_hip("hip_memory").calls().judged().gpus(gpus).well();
        let trace = assert_is_whole(&outcome);
        let recorded = recorded(&trace);
        for Recorded { asked, copies, bytes, kernels, from_nowhere } in &recorded {
            let is_done = if *copies > 0 { *bytes == asked.1 } else { *kernels > 0 };
            assert!(
                is_done && *from_nowhere == 0,
                "{asked:?}: {copies} of {bytes} bytes, {kernels} {outcome:?}"
            );
        }
        let asked: Vec<Asked> = recorded.into_iter().map(|recorded| recorded.asked).collect();
        assert_eq!(asked, reported(&outcome), "{outcome:?}");
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
