//! Steps in which the host launched kernels of which some or all are missing.

use rtl_schema::ProcessId;

use super::evidence::{Evidence, PLACES};
use super::launched::Launched;
use super::reason::Reason;
use crate::base::first_use::distinct;
use crate::gpu_time::ranges::{Methods, Repeated};

/// Fewer repetitions are no steps.
const LEAST: usize = 2;

#[derive(Debug, Clone, Copy, Default)]
struct Step {
    launches: u64,
    with_ops: u64,
    /// Launches whose ops were queued when the recording ended.
    in_flight: u64,
}

impl Step {
    fn is_empty(&self) -> bool {
        self.launches > 0 && self.with_ops == 0
    }

    fn is_partial(&self) -> bool {
        self.with_ops > 0 && self.with_ops < self.launches
    }

    /// The step as if it had ended before the recording.
    fn before_the_end(self) -> Self {
        Self { launches: self.launches - self.in_flight, ..self }
    }
}

/// The launches in each step of each process that launched something.
#[derive(Debug)]
pub(crate) struct StepLaunches {
    repeated: Repeated,
    processes: Vec<ProcessId>,
    steps: Vec<Vec<Step>>,
}

impl StepLaunches {
    /// Only of a trace that ties some launch to its ops, and in which some launch lacks them.
    pub(crate) fn new(launched: &Launched<'_>, methods: &Methods<'_>) -> Option<Self> {
        let calls = &launched.tables.api_calls;
        let launches = || launched.kernels.iter().chain(&launched.graphs).map(|&row| row as usize);
        // Without a bare launch no step lacks anything.
        if launched.tied == 0 || launches().all(|row| launched.ops[row] > 0) {
            return None;
        }
        let (processes, of_launches) = distinct(launches().map(|row| calls.process.get(row)));
        let processes: Vec<ProcessId> = processes.into_iter().collect();
        let repeated = Repeated::new(methods, &processes, LEAST)?;
        let mut steps: Vec<Vec<Step>> =
            processes.iter().map(|&process| vec![Step::default(); repeated.count(process)]).collect();
        for (row, at) in launches().zip(of_launches) {
            if let Some(number) = repeated.of_moment(processes[at], calls.start[row]) {
                steps[at][number].launches += 1;
                steps[at][number].with_ops += u64::from(launched.ops[row] > 0);
                steps[at][number].in_flight += u64::from(launched.is_in_flight(row as u32));
            }
        }
        Some(Self { repeated, processes, steps })
    }

    /// Returns whether a launch lacks its ops in the step with this number.
    pub(crate) fn is_lacking(&self, number: usize) -> bool {
        let mut steps = self.steps.iter().filter_map(|steps| steps.get(number));
        steps.any(|step| step.is_empty() || step.is_partial())
    }

    /// Each process with the number and the launches of each step, without those that were queued when the recording ended.
    fn all(&self) -> impl Iterator<Item = (ProcessId, usize, Step)> {
        let by_process = self.processes.iter().zip(&self.steps);
        by_process.flat_map(|(&process, steps)| {
            let steps = steps.iter().map(|step| step.before_the_end());
            steps.enumerate().map(move |(number, step)| (process, number, step))
        })
    }
}

/// Only in a trace that ties some launch to its ops.
pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    let tables = launched.tables;
    let launches = StepLaunches::new(launched, &Methods::of(tables))?;
    let repeated = &launches.repeated;
    let of = launches.all().filter(|(.., step)| step.launches > 0).count() as u64;
    let empty = launches.all().filter(|(.., step)| step.is_empty()).count() as u64;
    let partial = launches.all().filter(|(.., step)| step.is_partial()).count() as u64;
    let name = tables.strings.get(repeated.name);
    let sentence = match (empty, partial) {
        (0, 0) => return None,
        (0, partial) => format!("GPU events of {partial} of {of} steps ({name}) are incomplete"),
        (empty, 0) => format!("GPU events in {} of {of} steps ({name})", of - empty),
        (empty, partial) => {
            format!("GPU events in {} of {of} steps ({name}), in {partial} of them incomplete", of - empty)
        }
    };
    let place = |(process, number, _): (ProcessId, usize, Step)| {
        let (start_ns, end_ns) = repeated.span(process, number)?;
        let name = repeated.label(tables, number);
        Some(Evidence { name, start_ns, end_ns: Some(end_ns), correlation: 0 })
    };
    let lacking = launches.all().filter(|(.., step)| step.is_empty() || step.is_partial());
    let evidence = lacking.filter_map(place).take(PLACES).collect();
    Some(Reason { evidence, ..Reason::missing("steps-incomplete", empty + partial, of, sentence) })
}
