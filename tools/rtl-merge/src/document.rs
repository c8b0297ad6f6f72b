//! The versioned report `rtl-merge/1`, which `docs/reference/rtl-merge.schema.json` describes. Times are integer nanoseconds.

use std::path::Path;

use cli::Failure;
use rtl_analysis::ranks::Bandwidth;
use rtl_analysis::trust::{Reason, Trust};
use serde::Serialize;

pub use crate::clocks::{InputClock, Method};
use crate::comparison::{self, Comparison};
pub use crate::comparison::{Group, Imbalance, MOST, RankWaits, RankWork, Waits};
use crate::identity::{Machines, Places};
use crate::read::{Input, Rows};

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-merge/1";

#[derive(Debug, Clone, Serialize)]
pub struct Document {
    schema: &'static str,
    tool_version: &'static str,
    /// The merged trace; `None` with `--check`.
    pub output: Option<String>,
    /// The traces, in the order of the merge.
    pub inputs: Vec<InputReport>,
    /// Traces that could not be read, with `--allow unreadable`.
    pub failures: Vec<String>,
    /// The GPUs of the merged trace.
    pub gpus: Vec<Gpu>,
    /// Counts of rows by table.
    pub rows: Vec<Table>,
    pub clock: Clock,
    pub waits: Waits,
    /// The bandwidth of collectives whose sizes the traces state, by operation, communicator and size.
    pub bandwidth: Vec<Bandwidth>,
    /// Calls of collectives without a size, where the traces state that of others.
    pub unsized_calls: u64,
    /// The verdict on the figures, as far as a merge examines them.
    pub trust: Trust,
    /// Why the figures cannot be believed.
    pub trust_reasons: Vec<Reason>,
    /// The rules of trust that some trace was not examined by: it is read in chunks, and they need all rows at once.
    pub trust_unexamined: &'static [&'static str],
    /// The balance of the ranks, and outliers.
    pub imbalance: Imbalance,
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Default)]
pub struct Clock {
    /// Matched collectives, of two or more members.
    pub collectives: u64,
    /// Collectives in which a member ends before the last one starts, on the merged clock.
    pub violations: u64,
    /// Calls of collectives that were not matched with another rank's.
    pub unmatched: u64,
    /// The unmatched calls before or after everything that the other members of their group recorded.
    pub unmatched_at_edges: u64,
    /// In the order of the inputs.
    pub inputs: Vec<InputClock>,
}

#[derive(Debug, Clone, Serialize)]
pub struct InputReport {
    /// The path as given.
    pub path: String,
    pub dialect: &'static str,
    /// The tool that recorded it.
    pub tool: String,
    pub ranks: Vec<u32>,
    /// The machine of its first process.
    pub machine: Option<String>,
    pub processes: usize,
    /// Ops, ranges and calls.
    pub rows: u64,
    /// The number of bad rows.
    pub problems: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Gpu {
    /// The number in the merged trace.
    pub number: i64,
    /// The machine and the GPU in it, as `node3/gpu5`.
    pub place: String,
    /// The ranks that used it.
    pub ranks: Vec<u32>,
    pub product: Option<String>,
    pub uuid: Option<String>,
    /// The traces that list it, as positions in `inputs`.
    pub inputs: Vec<usize>,
}

/// The number of rows of a table.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    pub table: &'static str,
    pub rows_in: u64,
    /// Rows in the merged trace; `None` with `--check`.
    pub rows_out: Option<u64>,
}

impl Document {
    /// The report on a job, with the rows that were written and their file; without it the inputs' own rows.
    pub(crate) fn new(
        inputs: &[Input],
        places: &Places,
        failures: &[Failure],
        comparison: Comparison,
        written: Option<(Rows, &Path)>,
    ) -> Self {
        let Places { machines, devices } = places;
        let Comparison {
            clocks,
            waits,
            imbalance,
            bandwidths,
            unsized_calls,
            health,
            unmatched,
            unmatched_at_edges,
        } = comparison;
        let output = written.as_ref().map(|(_, output)| output.display().to_string());
        let rows = written.map_or_else(|| Rows::sum(inputs.iter().map(|input| input.rows)), |(rows, _)| rows);
        let is_written = output.is_some();
        let input = |(at, input): (usize, &Input)| InputReport {
            path: input.path.display().to_string(),
            dialect: input.dialect.label(),
            tool: input.info.tool.clone(),
            ranks: input.ranks(),
            machine: machine(machines, input, at),
            processes: input.processes.len(),
            rows: input.rows.ops(),
            problems: input.problems.iter().map(|problem| problem.count).sum(),
        };
        let gpus = devices.gpus().map(|device| Gpu {
            number: device.agent.number,
            place: device.label.clone(),
            ranks: device.ranks.iter().copied().collect(),
            product: device.agent.product.clone(),
            uuid: device.agent.uuid.clone(),
            inputs: device.inputs.iter().copied().collect(),
        });
        let table = |(table, rows_in, _)| Table { table, rows_in, rows_out: is_written.then_some(rows_in) };
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            output,
            inputs: inputs.iter().enumerate().map(input).collect(),
            failures: failures.iter().map(|failure| format!("{:#}", failure.error())).collect(),
            gpus: gpus.collect(),
            rows: rows.beside(&rows).map(table).collect(),
            clock: Clock {
                collectives: waits.groups.iter().map(|group| group.collectives).sum(),
                violations: waits.groups.iter().map(|group| group.violations).sum(),
                unmatched,
                unmatched_at_edges,
                inputs: clocks,
            },
            waits,
            bandwidth: bandwidths,
            unsized_calls,
            trust: health.trust,
            trust_reasons: health.reasons,
            trust_unexamined: comparison::unexamined(inputs.iter().map(|input| input.unexamined)),
            imbalance,
            notes: devices.notes.iter().cloned().chain(inputs.iter().filter_map(cut_off)).collect(),
        }
    }
}

fn machine(machines: &Machines, input: &Input, at: usize) -> Option<String> {
    let first = (!input.processes.is_empty()).then(|| machines.machine(at, rtl_schema::ProcessId(0)))?;
    let machine = &machines.all[first];
    machine.is_known().then(|| machine.label.clone())
}

/// A note if the end of an input is missing.
fn cut_off(input: &Input) -> Option<String> {
    Some(format!("{}: {}; the last of its work is missing", input.path.display(), input.info.cut_off()?))
}
