//! The versioned shape of a report, `rtl-merge/1`: `docs/reference/rtl-merge.schema.json` describes it. Times are integer
//! nanoseconds.

use std::path::Path;

use cli::Failure;
use rtl_analysis::ranks::streaming::KernelIndex;
use serde::Serialize;

use crate::clocks::{Clocks, Method};
use crate::gpus::Devices;
use crate::imbalance::Imbalance;
use crate::machines::Machines;
use crate::members::Members;
use crate::rows::Rows;
use crate::survey::Survey;
use crate::waits::Waits;

/// The name and version of the shape.
pub const SCHEMA: &str = "rtl-merge/1";

/// What was merged, into what.
#[derive(Debug, Clone, Serialize)]
pub struct Document {
    schema: &'static str,
    tool_version: &'static str,
    /// The file that was written; nothing with `--check`.
    pub output: Option<String>,
    /// The traces in the order in which they were merged.
    pub inputs: Vec<Input>,
    /// Traces that could not be read, with `--keep-going`.
    pub failures: Vec<String>,
    /// The GPUs of the merged trace.
    pub gpus: Vec<Gpu>,
    /// Rows by table.
    pub rows: Vec<Table>,
    /// How the clocks became one.
    pub clock: Clock,
    /// Who waited for whom.
    pub waits: Waits,
    /// How evenly the ranks share their work, and which stands out.
    pub imbalance: Imbalance,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// The merged clock.
#[derive(Debug, Clone, Serialize, Default)]
pub struct Clock {
    /// Collectives of which two or more members were found.
    pub collectives: usize,
    /// Those among them in which a member ends before the last one starts, on the merged clock.
    pub violations: usize,
    /// Calls of collectives that no other rank's could be matched with.
    pub unmatched: usize,
    /// By trace, what was done to its clock.
    pub inputs: Vec<InputClock>,
}

/// What was done to the clock of one trace.
#[derive(Debug, Clone, Serialize)]
pub struct InputClock {
    /// `reference`, `collectives`, `anchors`, `given` or `stored`.
    pub method: &'static str,
    /// Why it is no better than that.
    pub reason: Option<String>,
    /// What was added at the first row of the trace, in ns.
    pub added_first_ns: i64,
    /// What was added at the last one.
    pub added_last_ns: i64,
    /// How far off it may be in ns, 19 times in 20.
    pub error_ns: Option<f64>,
    /// Collectives that say so.
    pub collectives: Option<usize>,
}

/// One trace.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// The file as it was named.
    pub path: String,
    /// Whose layout it has.
    pub dialect: &'static str,
    /// The tool that recorded it.
    pub tool: String,
    /// Its ranks.
    pub ranks: Vec<u32>,
    /// The machine of its first process.
    pub machine: Option<String>,
    /// How many processes it has.
    pub processes: usize,
    /// Ops, ranges and calls.
    pub rows: u64,
    /// Rows of which something is wrong.
    pub problems: u64,
}

/// One GPU.
#[derive(Debug, Clone, Serialize)]
pub struct Gpu {
    /// Its number in the merged trace.
    pub number: i64,
    /// `node3/gpu5`.
    pub place: String,
    /// The ranks that used it.
    pub ranks: Vec<u32>,
    /// What it is.
    pub product: Option<String>,
    /// Its own id.
    pub uuid: Option<String>,
    /// The traces that list it, by their index in `inputs`.
    pub inputs: Vec<usize>,
}

/// The rows of one table.
#[derive(Debug, Clone, Serialize)]
pub struct Table {
    /// Its name.
    pub table: &'static str,
    /// How many were read.
    pub rows_in: u64,
    /// How many are in the merged trace; none with `--check`.
    pub rows_out: Option<u64>,
}

impl Document {
    /// What is known before rows are merged.
    #[must_use]
    pub fn of(inputs: &[Survey], machines: &Machines, devices: &Devices, failures: &[Failure]) -> Self {
        let input = |(at, survey): (usize, &Survey)| Input {
            path: survey.path.display().to_string(),
            dialect: survey.dialect.label(),
            tool: survey.about.tool.clone(),
            ranks: survey.ranks(),
            machine: machine(machines, survey, at),
            processes: survey.processes.len(),
            rows: survey.rows.ops(),
            problems: survey.problems.iter().map(|problem| problem.count).sum(),
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
            imbalance: Imbalance::default(),
            notes: devices.notes.iter().cloned().chain(inputs.iter().filter_map(cut_off)).collect(),
        }
    }

    /// Adds how the clocks became one, who waited for whom and how evenly the work is shared.
    pub fn ranks(&mut self, inputs: &[Survey], clocks: &Clocks, members: &Members, kernels: &KernelIndex) {
        self.clocks(clocks, inputs);
        self.waits = Waits::of(clocks, members);
        self.imbalance = Imbalance::of(inputs, members, clocks, kernels);
    }

    fn clocks(&mut self, clocks: &Clocks, inputs: &[Survey]) {
        let input = |(at, method): (usize, &Method)| {
            let (first, last) = inputs[at].span.unwrap_or_default();
            let added = |moment: i64| clocks.shifts[at].apply(moment).saturating_sub(moment);
            let (name, reason, error) = match method {
                Method::Reference => ("reference", None, None),
                Method::Collectives(count, error) => ("collectives", None, Some((*count, *error))),
                Method::Anchors(why) => ("anchors", Some(why.clone()), None),
                Method::Given => ("given", None, None),
                Method::Stored(why) => ("stored", Some(why.clone()), None),
            };
            InputClock {
                method: name,
                reason,
                added_first_ns: added(first),
                added_last_ns: added(last),
                error_ns: error.map(|(_, error)| error),
                collectives: error.map(|(count, _)| count),
            }
        };
        self.clock = Clock {
            collectives: clocks.together.iter().map(|together| together.collectives).sum(),
            violations: clocks.together.iter().map(|together| together.violations).sum(),
            unmatched: clocks.unmatched,
            inputs: clocks.methods.iter().enumerate().map(input).collect(),
        };
    }

    /// Adds how many rows were read, and how many written to `output`.
    pub fn rows(&mut self, read: &Rows, written: Option<(&Rows, &Path)>) {
        self.output = written.map(|(_, output)| output.display().to_string());
        let other = written.map_or(read, |(rows, _)| rows);
        let row = |(table, rows_in, rows_out)| Table {
            table,
            rows_in,
            rows_out: written.is_some().then_some(rows_out),
        };
        self.rows = read.beside(other).map(row).collect();
    }
}

fn machine(machines: &Machines, survey: &Survey, at: usize) -> Option<String> {
    let first = (!survey.processes.is_empty()).then(|| machines.machine(at, rtl_schema::ProcessId(0)))?;
    let machine = &machines.all[first];
    machine.is_known().then(|| machine.label.clone())
}

/// That the end of an input is missing.
fn cut_off(input: &Survey) -> Option<String> {
    Some(format!("{}: {}; the last of its work is missing", input.path.display(), input.about.cut_off()?))
}
