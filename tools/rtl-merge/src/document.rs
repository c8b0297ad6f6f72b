//! The versioned report `rtl-merge/1`, which `docs/reference/rtl-merge.schema.json` describes. Times are integer nanoseconds.

use std::path::Path;

use cli::Failure;
use rtl_analysis::ranks::Bandwidth;
use rtl_analysis::ranks::streaming::KernelIndex;
use rtl_analysis::trust::{Reason, Trust};
use serde::Serialize;

use crate::bandwidth;
use crate::clocks::Clocks;
pub use crate::clocks::{InputClock, Method};
use crate::gpus::Devices;
use crate::health;
use crate::imbalance::Imbalance;
use crate::input::Input;
use crate::machines::Machines;
use crate::members::Members;
use crate::rows::Rows;
use crate::waits::Waits;

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-merge/1";

/// The whole report.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    schema: &'static str,
    tool_version: &'static str,
    /// The merged trace; `None` with `--check`.
    pub output: Option<String>,
    /// The traces, in the order of the merge.
    pub inputs: Vec<InputReport>,
    /// Traces that could not be read, with `--keep-going`.
    pub failures: Vec<String>,
    /// The GPUs of the merged trace.
    pub gpus: Vec<Gpu>,
    /// Counts of rows by table.
    pub rows: Vec<Table>,
    /// The alignment of the clocks.
    pub clock: Clock,
    /// Waits in collectives.
    pub waits: Waits,
    /// The bandwidth of collectives whose sizes the traces state, by operation, communicator and size.
    pub bandwidth: Vec<Bandwidth>,
    /// Calls of collectives without a size, where the traces state that of others.
    pub unsized_calls: u64,
    /// Whether the figures can be believed, as far as a merge examines it.
    pub trust: Trust,
    /// Why not.
    pub trust_reasons: Vec<Reason>,
    /// The rules of trust that some trace was not examined by: it is read in chunks, and they need all rows at once.
    pub trust_unexamined: &'static [&'static str],
    /// The balance of the ranks, and outliers.
    pub imbalance: Imbalance,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// The merged clock.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Clock {
    /// Matched collectives, of two or more members.
    pub collectives: u64,
    /// Collectives in which a member ends before the last one starts, on the merged clock.
    pub violations: u64,
    /// Calls of collectives that were not matched with another rank's.
    pub unmatched: usize,
    /// Those among them before or after everything that the other members of their group recorded.
    pub unmatched_at_edges: usize,
    /// The clock of each trace.
    pub inputs: Vec<InputClock>,
}

/// One trace.
#[derive(Debug, Clone, Serialize)]
pub struct InputReport {
    /// The path as given.
    pub path: String,
    /// The dialect.
    pub dialect: &'static str,
    /// The recording tool.
    pub tool: String,
    /// The ranks.
    pub ranks: Vec<u32>,
    /// The machine of its first process.
    pub machine: Option<String>,
    /// The number of processes.
    pub processes: usize,
    /// Ops, ranges and calls.
    pub rows: u64,
    /// The number of bad rows.
    pub problems: u64,
}

/// One GPU.
#[derive(Debug, Clone, Serialize)]
pub struct Gpu {
    /// The number in the merged trace.
    pub number: i64,
    /// `node3/gpu5`.
    pub place: String,
    /// The ranks that used it.
    pub ranks: Vec<u32>,
    /// The product name.
    pub product: Option<String>,
    /// The UUID.
    pub uuid: Option<String>,
    /// The traces that list it, as positions in `inputs`.
    pub inputs: Vec<usize>,
}

/// The number of rows of one table.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// The name.
    pub table: &'static str,
    /// Rows that were read.
    pub rows_in: u64,
    /// Rows in the merged trace; `None` with `--check`.
    pub rows_out: Option<u64>,
}

impl Document {
    /// The report before rows are merged.
    pub(crate) fn of(inputs: &[Input], machines: &Machines, devices: &Devices, failures: &[Failure]) -> Self {
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
        Self {
            schema: SCHEMA,
            tool_version: env!("CARGO_PKG_VERSION"),
            output: None,
            inputs: inputs.iter().enumerate().map(input).collect(),
            failures: failures.iter().map(|failure| format!("{:#}", failure.error())).collect(),
            gpus: gpus.collect(),
            rows: Vec::new(),
            clock: Clock::default(),
            waits: Waits::default(),
            bandwidth: Vec::new(),
            unsized_calls: 0,
            trust: Trust::Good,
            trust_reasons: Vec::new(),
            trust_unexamined: health::unexamined(inputs.iter().map(|input| input.unexamined)),
            imbalance: Imbalance::default(),
            notes: devices.notes.iter().cloned().chain(inputs.iter().filter_map(cut_off)).collect(),
        }
    }

    /// Adds clocks, waits, bandwidth, imbalance and trust; the calls of collectives are dropped then.
    pub(crate) fn add_ranks(
        &mut self,
        inputs: &[Input],
        clocks: Clocks,
        members: &Members,
        kernels: &KernelIndex,
    ) {
        self.waits = Waits::of(&clocks, members);
        self.imbalance = Imbalance::of(inputs, members, &self.waits, kernels);
        (self.bandwidth, self.unsized_calls) = bandwidth::bandwidths(inputs, &clocks, &self.waits);
        let health = health::of_job(inputs, &self.waits, &self.imbalance);
        (self.trust, self.trust_reasons) = (health.trust, health.reasons);
        let unmatched = clocks.groups.unmatched(&clocks.found.sequences);
        self.clock = Clock {
            collectives: self.waits.groups.iter().map(|group| group.collectives).sum(),
            violations: self.waits.groups.iter().map(|group| group.violations).sum(),
            unmatched: unmatched.calls as usize,
            unmatched_at_edges: unmatched.at_edges as usize,
            inputs: clocks.inputs,
        };
    }

    /// Adds the counts of the rows that were read, and written to `output` if there is one.
    pub(crate) fn add_rows(&mut self, rows: &Rows, output: Option<&Path>) {
        self.output = output.map(|output| output.display().to_string());
        let table = |(table, rows_in, _)| Table { table, rows_in, rows_out: output.map(|_| rows_in) };
        self.rows = rows.beside(rows).map(table).collect();
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
