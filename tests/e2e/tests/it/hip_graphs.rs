//! Tests of mode hip: everything that a graph does belongs to the call that launched it.

use e2e::calls::assert_is_whole;
use e2e::{Process, Trace};
use support::stacks;

const LAUNCHES: usize = 5;

/// The effects of one hipGraphLaunch: work-items of the program's kernels in their order, number of fills, and bytes of copies in
/// their order (HIP copies and fills by kernels, too: those copies have 0 bytes).
#[derive(Debug, Default, PartialEq, Eq)]
struct GraphWork {
    kernels: Vec<i64>,
    fills: usize,
    copies: Vec<i64>,
}

fn launched(trace: &Trace) -> Vec<GraphWork> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT call.id, coalesce(op.gridX, 0), coalesce(kernel.string, ''), coalesce(op.bytes, 0)
             FROM rocpd_api call JOIN rocpd_string function ON function.id = call.apiName_id
             JOIN rocpd_op op ON op.correlationId = call.correlationId AND op.gpuId >= 0
             LEFT JOIN rocpd_string kernel ON kernel.id = op.description_id
             WHERE function.string = 'hipGraphLaunch' ORDER BY call.start, op.start",
        )
        .unwrap();
    let rows =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    let mut calls: Vec<(i64, GraphWork)> = Vec::new();
    for (call, items, kernel, bytes) in rows.map(Result::<(i64, i64, String, i64), _>::unwrap) {
        if calls.last().is_none_or(|&(last, _)| last != call) {
            calls.push((call, GraphWork::default()));
        }
        let launched = &mut calls.last_mut().unwrap().1;
        match kernel.as_str() {
            name if name.contains("fillBuffer") => launched.fills += 1,
            name if items == 0 || name.contains("copyBuffer") => launched.copies.push(bytes),
            _ => launched.kernels.push(items),
        }
    }
    calls.into_iter().map(|(_, launched)| launched).collect()
}

#[test]
fn copies_fills_and_kernels_of_a_graph_within_a_graph() {
    // HIP 5.2.3 crashes at its launch, with and without the tracer.
    for stack in stacks().iter().filter(|stack| stack.hip != "5.2.3") {
        let Some(process) = Process::for_hip(stack, "hip_nodes", &[&LAUNCHES.to_string()]) else { return };
        let outcome = process.linked_to_hip("hip_nodes").calls().judged().well();
        let trace = assert_is_whole(&outcome);
        let launched = launched(&trace);
        assert_eq!(launched.len(), LAUNCHES, "{stack:?}");
        for launch in launched {
            assert_eq!(launch.kernels, [64, 128, 192], "{stack:?}");
            assert!(launch.fills > 0, "{stack:?}");
            let by = if stack.hip == "5.7.1" { [6000, 7000] } else { [0, 0] };
            assert_eq!(launch.copies, by, "{stack:?}");
        }
    }
}
