//! Steps in which the host launched kernels of which some or all are missing.

use rtl_schema::ProcessId;

use super::evidence::{Evidence, PLACES};
use super::launched::Launched;
use super::reason::Reason;
use crate::first_use::distinct;
use crate::ranges::Repeated;

/// Fewer repetitions are no steps.
const LEAST: usize = 2;

/// Launches in one step.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    launches: u64,
    with_ops: u64,
}

/// Only in a trace that ties some launch to its ops.
pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let (tables, calls) = (launched.tables, &launched.tables.api_calls);
    let launches = || launched.kernels.iter().chain(&launched.graphs).map(|&row| row as usize);
    // Without a bare launch no step lacks anything.
    if launched.tied == 0 || launches().all(|row| launched.ops[row] > 0) {
        return None;
    }
    let (processes, _) = distinct(launches().map(|row| calls.process.get(row)));
    let processes: Vec<ProcessId> = processes.into_iter().collect();
    let repeated = Repeated::of(tables, &processes, LEAST)?;
    let mut steps: Vec<Vec<Step>> =
        processes.iter().map(|&process| vec![Step::default(); repeated.count(process)]).collect();
    for row in launches() {
        let process = calls.process.get(row);
        let of_process = processes.iter().position(|&known| known == process);
        let number = repeated.of_moment(process, calls.start[row]);
        if let (Some(at), Some(number)) = (of_process, number) {
            steps[at][number].launches += 1;
            steps[at][number].with_ops += u64::from(launched.ops[row] > 0);
        }
    }
    let all = || {
        let by_process = processes.iter().zip(&steps);
        by_process.flat_map(|(&process, steps)| steps.iter().enumerate().map(move |step| (process, step)))
    };
    let of = all().filter(|(_, (_, step))| step.launches > 0).count() as u64;
    let is_empty = |step: &Step| step.launches > 0 && step.with_ops == 0;
    let empty = all().filter(|(_, (_, step))| is_empty(step)).count() as u64;
    let in_part = |step: &Step| step.with_ops > 0 && step.with_ops < step.launches;
    let partial = all().filter(|(_, (_, step))| in_part(step)).count() as u64;
    let name = tables.strings.get(repeated.name);
    let sentence = match (empty, partial) {
        (0, 0) => return None,
        (0, partial) => format!("GPU events of {partial} of {of} steps ({name}) are incomplete"),
        (empty, 0) => format!("GPU events in {} of {of} steps ({name})", of - empty),
        (empty, partial) => {
            format!("GPU events in {} of {of} steps ({name}), in {partial} of them incomplete", of - empty)
        }
    };
    let place = |(process, (number, _)): (ProcessId, (usize, &Step))| {
        let (start_ns, end_ns) = repeated.span(process, number)?;
        let name = repeated.label(tables, number);
        Some(Evidence { name, start_ns, end_ns: Some(end_ns), correlation: 0 })
    };
    let lacking = all().filter(|(_, (_, step))| is_empty(step) || in_part(step));
    let evidence = lacking.filter_map(place).take(PLACES).collect();
    Some(Reason { evidence, ..Reason::missing("steps-incomplete", empty + partial, of, sentence) })
}
